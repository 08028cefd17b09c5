// A record of a game, after docs/record.md: read strictly, replayed from its secret, and compared with what it claims.

import { checkFields, expect, expectSame, Refused } from "./expecting.js";
import { byteLength, commitment, fromHex, packsOf } from "./packs.js";
import { FAULTS, Play } from "./play.js";
import { RULESETS } from "./rules.js";

export { Refused } from "./expecting.js";

// --- reading ---------------------------------------------------------------------------------------------------------

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string";
const isFlag = (value) => typeof value === "boolean";
const isPositive = (value) => Number.isInteger(value) && value > 0;
const isNumber = Number.isFinite;
const oneOf =
  (...values) =>
  (value) =>
    values.includes(value);
const listOf = (isItem) => (value) => Array.isArray(value) && value.every(isItem);
const orNull = (isValue) => (value) => value === null || isValue(value);

const RECORD = {
  record: oneOf(1),
  game_id: isText,
  ruleset: oneOf(...Object.keys(RULESETS)),
  options: isObject,
  status: oneOf("finished", "void", "aborted", "cancelled"),
  ended_by: oneOf("play", "retirement", "forfeit", null),
  limits: isObject,
  seats: listOf(isObject),
  fairness: isObject,
  deals: listOf(isObject),
  totals: listOf(Number.isInteger),
  places: orNull(listOf(Number.isInteger)),
};
const RECORD_OPTIONAL = { rules: oneOf(1) };
const LIMITS = { budget_ms: isPositive, first_budget_ms: isPositive, max_faults: isPositive };
const SEAT = { name: isText, kind: oneOf("bot", "house", "human") };
const SEAT_OPTIONAL = { bot_id: orNull(isText), version: orNull(isText), retired: isFlag, forfeited: isFlag };
const FAIRNESS = { label: isText, commitment: isText, secret: isText, entropy: listOf(isText) };
const DEAL = {
  number: Number.isInteger,
  dealer: Number.isInteger,
  deck: listOf(isText),
  void: isFlag,
  events: listOf(isObject),
  points: listOf(Number.isInteger),
  totals: listOf(Number.isInteger),
};
const DECISION = {
  seat: Number.isInteger,
  action: isText,
  outcome: oneOf("ok", ...FAULTS, "retired"),
  ms: isNumber,
  note: orNull(isText),
};
const RETIREMENT = { seat: Number.isInteger, event: oneOf("retired"), reason: oneOf("faults", "left", "disabled") };

/** Read one record from the bytes of its JSON; throws Refused for anything else. */
export function read(bytes) {
  const record = parsed(bytes);
  expect(isObject(record), "a record", record);
  checkFields("record", record, RECORD, RECORD_OPTIONAL);
  checkFields("record.limits", record.limits, LIMITS);
  checkFields("record.fairness", record.fairness, FAIRNESS);
  for (const [at, seat] of record.seats.entries()) checkFields(`record.seats[${at}]`, seat, SEAT, SEAT_OPTIONAL);
  record.deals.forEach((deal, at) => {
    checkFields(`record.deals[${at}]`, deal, DEAL);
    deal.events.forEach((event, place) => {
      checkFields(`record.deals[${at}].events[${place}]`, event, "event" in event ? RETIREMENT : DECISION);
    });
  });
  return record;
}

function parsed(bytes) {
  let text, value;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text, wellFormed);
  } catch (error) {
    throw error instanceof Refused ? error : new Refused(`expected a record, got no JSON: ${error.message}`);
  }
  const withoutTexts = text.replace(/"(?:[^"\\]|\\.)*"/g, (each) => (each === '"ms"' ? each : '""'));
  const [broken] = withoutTexts.match(/(?<!"ms"\s*:\s*[-0-9.]*)[.eE][0-9+-]+/) ?? [];
  expect(broken === undefined, "whole numbers without a fraction or an exponent", broken);
  return value;
}

function wellFormed(_name, value) {
  const texts = isText(value) ? [value] : isObject(value) ? Object.keys(value) : [];
  expect(!texts.some((text) => /\p{Surrogate}/u.test(text)), "no half of a surrogate pair", value);
  return typeof value === "number" ? value + 0 : value; // no -0
}

// --- verifying -------------------------------------------------------------------------------------------------------

/** Replay a record that was read; throws Refused where it says what doesn't follow from its secret and the rules. */
export async function verify(record) {
  const { label, secret, entropy } = record.fairness;
  expect(/^[0-9a-f]{64}$/.test(secret), "32 bytes of secret in hex", secret);
  expect(!label.includes("\0"), "a label without a zero byte", label);
  expect(
    entropy.every((text) => byteLength(text) <= 256),
    "at most 256 bytes of entropy",
    entropy,
  );
  const key = fromHex(secret);
  expectSame("record.fairness.commitment", await commitment(key, label), record.fairness.commitment);
  verifyEnd(record, await replayed(record, await packsOf(key, label, entropy)));
}

async function replayed(record, packOf) {
  const packs = [await packOf(0)];
  const play = new Play(record, (number) => packs[number]);
  for (const [number, deal] of record.deals.entries()) {
    packs.push(await packOf(number + 1)); // with its last decision a deal begins the next
    verifyDeal(`record.deals[${number}]`, deal, number, play, packs[number]);
  }
  const { game } = play;
  expectSame("the number of deals", game.ended.length + (game.isOver ? 0 : 1), record.deals.length);
  expect(play.due === null, `a retirement of seat ${play.due} at the end`, "nothing");
  return play;
}

function verifyDeal(path, shown, number, play, pack) {
  const { game } = play;
  for (const [at, event] of shown.events.entries()) play.take(number, at, event);
  const isCut = game.ended.length === number && !game.isOver;
  const deal = isCut ? game.standing() : game.ended[number];
  expect(deal !== undefined, `no ${path}`, shown);
  expectSame(`${path}.deck`, pack, shown.deck);
  for (const [name, value] of Object.entries(deal)) expectSame(`${path}.${name}`, value, shown[name]);
}

function verifyEnd(record, play) {
  const { game } = play;
  const statuses = !play.isOver ? ["aborted", "cancelled"] : play.isVoid ? ["void"] : ["finished"];
  expect(statuses.includes(record.status), `record.status to be ${statuses.join(" or ")}`, record.status);
  const isFinished = record.status === "finished";
  expectSame("record.ended_by", isFinished ? play.endedBy : null, record.ended_by);
  expectSame("record.places", isFinished ? play.places : null, record.places);
  expectSame("record.totals", game.totals, record.totals);
  record.seats.forEach(({ retired = false }, seat) => {
    expectSame(`record.seats[${seat}].retired`, play.retired[seat], retired);
  });
}
