// A record of a game, after docs/record.md: read strictly, replayed from its secret, and compared with what it claims.

import { isDeepStrictEqual } from 'node:util';

import { commitment, packsOf } from './packs.mjs';
import { RULESETS } from './rules.mjs';

const FAULTS = ['late', 'unreachable', 'bad_status', 'bad_reply', 'illegal'];

/** A record that can't be read, or that doesn't hold. */
export class Refused extends Error {}

const quoted = (value) => String(JSON.stringify(value)).slice(0, 120);

function expect(isSo, what, got) {
  if (!isSo) throw new Refused(`expected ${what}, got ${quoted(got)}`);
}

function expectSame(path, expected, got) {
  expect(isDeepStrictEqual(expected, got), `${path} to be ${quoted(expected)}`, got);
}

// --- reading ---------------------------------------------------------------------------------------------------------

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === 'string';
const isFlag = (value) => typeof value === 'boolean';
const isPositive = (value) => Number.isInteger(value) && value > 0;
const isNumber = Number.isFinite;
const oneOf = (...values) => (value) => values.includes(value);
const listOf = (isItem) => (value) => Array.isArray(value) && value.every(isItem);
const orNull = (isValue) => (value) => value === null || isValue(value);

const RECORD = {
  record: oneOf(1),
  game_id: isText,
  ruleset: oneOf(...Object.keys(RULESETS)),
  options: isObject,
  status: oneOf('finished', 'void', 'aborted', 'cancelled'),
  ended_by: oneOf('play', 'retirement', 'forfeit', null),
  limits: isObject,
  seats: listOf(isObject),
  fairness: isObject,
  deals: listOf(isObject),
  totals: listOf(Number.isInteger),
  places: orNull(listOf(Number.isInteger)),
};
const LIMITS = { budget_ms: isPositive, first_budget_ms: isPositive, max_faults: isPositive };
const SEAT = { name: isText, kind: oneOf('bot', 'house', 'human') };
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
  outcome: oneOf('ok', ...FAULTS, 'retired'),
  ms: isNumber,
  note: orNull(isText),
};
const RETIREMENT = { seat: Number.isInteger, event: oneOf('retired'), reason: oneOf('faults', 'left', 'disabled') };

function checkFields(path, value, fields, optional = {}) {
  const known = { ...fields, ...optional };
  for (const name of Object.keys(fields)) expect(Object.hasOwn(value, name), `a field ${path}.${name}`, value);
  for (const [name, given] of Object.entries(value)) {
    expect(Object.hasOwn(known, name), `no other fields in ${path}`, name);
    expect(known[name](given), `${path}.${name} as docs/record.md has it`, given);
  }
}

/** Read one record from the bytes of its JSON; throws Refused for anything else. */
export function read(bytes) {
  const record = parsed(bytes);
  expect(isObject(record), 'a record', record);
  checkFields('record', record, RECORD);
  checkFields('record.limits', record.limits, LIMITS);
  checkFields('record.fairness', record.fairness, FAIRNESS);
  record.seats.forEach((seat, at) => checkFields(`record.seats[${at}]`, seat, SEAT, SEAT_OPTIONAL));
  record.deals.forEach((deal, at) => {
    checkFields(`record.deals[${at}]`, deal, DEAL);
    deal.events.forEach((event, place) => {
      checkFields(`record.deals[${at}].events[${place}]`, event, 'event' in event ? RETIREMENT : DECISION);
    });
  });
  return record;
}

function parsed(bytes) {
  let text, value;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text, wellFormed);
  } catch (error) {
    throw error instanceof Refused ? error : new Refused(`expected a record, got no JSON: ${error.message}`);
  }
  const withoutTexts = text.replace(/"(?:[^"\\]|\\.)*"/g, (each) => (each === '"ms"' ? each : '""'));
  const [broken] = withoutTexts.match(/(?<!"ms"\s*:\s*[-0-9.]*)[.eE][0-9+-]+/) ?? [];
  expect(broken === undefined, 'whole numbers without a fraction or an exponent', broken);
  return value;
}

function wellFormed(name, value) {
  const texts = isText(value) ? [value] : isObject(value) ? Object.keys(value) : [];
  expect(!texts.some((text) => /\p{Surrogate}/u.test(text)), 'no half of a surrogate pair', value);
  return typeof value === 'number' ? value + 0 : value; // no -0
}

// --- replaying -------------------------------------------------------------------------------------------------------

/** A game and its players: decisions, faults, and who is asked no more. */
class Play {
  constructor(record, game) {
    this.game = game;
    this.maxFaults = record.limits.max_faults;
    this.forfeited = record.seats.map((seat) => seat.forfeited === true);
    this.retired = record.seats.map(() => false);
    this.faults = record.seats.map(() => 0);
    this.hasAnswered = record.seats.map(() => false);
    this.due = null; // the seat whose retirement must be the next event
    this.isBrokenOff = false; // by retirements or forfeits: Seven Up is over, River when nobody is left
    this.isVoid = this.forfeited.every(Boolean);
    if (this.forfeited.some(Boolean)) this.isBrokenOff = this.isVoid || this.forfeited.length === 2;
  }

  get isOver() {
    return this.isBrokenOff || this.game.isOver;
  }

  isOut(seat) {
    return this.retired[seat] || this.forfeited[seat];
  }

  take(path, event) {
    if (this.due !== null) expectSame(path, { seat: this.due, event: 'retired', reason: 'faults' }, { ...event });
    expect(!this.isOver, `no ${path} after the end`, event);
    if ('event' in event) this.retire(path, event);
    else this.decide(path, event);
  }

  decide(path, { seat, action, outcome, ms }) {
    const owing = this.game.actors();
    expect(owing.includes(seat), `${path} to be of a seat among ${owing}`, seat);
    expect((outcome === 'retired') === this.isOut(seat), `${path} to tell whether the seat was asked`, outcome);
    const legal = this.game.legal(seat);
    if (outcome === 'ok') expect(legal.includes(action), `${path}.action to be one of ${legal.join(', ')}`, action);
    else expectSame(`${path}.action, the fallback,`, legal[0], action);
    expect(ms === Number(Math.max(ms, 0).toPrecision(2)), `${path}.ms to have two significant digits`, ms);
    this.game.apply(seat, action);
    if (outcome === 'ok') this.hasAnswered[seat] = true;
    if (FAULTS.includes(outcome)) this.faults[seat] += 1;
    if (this.faults[seat] >= this.maxFaults && !this.isOut(seat) && !this.isOver) this.due = seat;
  }

  retire(path, { seat, reason }) {
    expect(this.retired[seat] === false && !this.forfeited[seat], `${path} to be of a seat that still plays`, seat);
    expect(reason !== 'faults' || this.due === seat, `${path} to come at ${this.maxFaults} faults`, this.faults[seat]);
    this.due = null;
    this.retired[seat] = true;
    const playing = this.retired.map((_, each) => each).filter((each) => !this.isOut(each));
    if (this.retired.length === 2) {
      this.isBrokenOff = true;
      this.isVoid = !this.hasAnswered[playing[0]];
    } else if (playing.length === 0) {
      this.isBrokenOff = true;
      this.isVoid = true;
    }
  }

  get endedBy() {
    if (this.forfeited.some(Boolean)) return 'forfeit';
    return this.isBrokenOff ? 'retirement' : 'play';
  }

  get places() {
    const { totals } = this.game;
    const isBefore = (one, other) =>
      this.isOut(one) === this.isOut(other) ? totals[one] > totals[other] : this.isOut(other);
    return totals.map((_, own) => 1 + totals.filter((__, other) => isBefore(other, own)).length);
  }
}

// --- verifying -------------------------------------------------------------------------------------------------------

/** Replay a record that was read; throws Refused where it says what doesn't follow from its secret and the rules. */
export function verify(record) {
  const { label, secret, entropy } = record.fairness;
  expect(/^[0-9a-f]{64}$/.test(secret), '32 bytes of secret in hex', secret);
  expect(!label.includes('\0'), 'a label without a zero byte', label);
  expect(entropy.every((text) => Buffer.byteLength(text) <= 256), 'at most 256 bytes of entropy', entropy);
  const key = Buffer.from(secret, 'hex');
  expectSame('record.fairness.commitment', commitment(key, label), record.fairness.commitment);
  const packOf = packsOf(key, label, entropy);
  const play = replayed(record, packOf);
  verifyEnd(record, play);
}

function replayed(record, packOf) {
  const ruleset = RULESETS[record.ruleset];
  const seats = record.seats.length;
  expect(ruleset.seats.includes(seats), `seats: ${ruleset.seats}`, seats);
  const known = ruleset.options(seats);
  checkFields('record.options', record.options, mapped(known, (values) => (value) => values.includes(value)));
  const game = new ruleset.Game(record.options, seats, packOf);
  const play = new Play(record, game);
  record.deals.forEach((deal, number) => verifyDeal(`record.deals[${number}]`, deal, number, play, packOf));
  expectSame('the number of deals', game.ended.length + (game.isOver ? 0 : 1), record.deals.length);
  expect(play.due === null, `a retirement of seat ${play.due} at the end`, 'nothing');
  return play;
}

const mapped = (object, change) => Object.fromEntries(Object.entries(object).map(([name, each]) => [name, change(each)]));

function verifyDeal(path, shown, number, play, packOf) {
  const { game } = play;
  shown.events.forEach((event, at) => {
    const isOn = game.ended.length === number || play.due !== null;
    expect(isOn, `no ${path}.events[${at}] after the end of its deal`, event);
    play.take(`${path}.events[${at}]`, event);
  });
  const isCut = game.ended.length === number && !game.isOver;
  const deal = isCut ? game.standing() : game.ended[number];
  expect(deal !== undefined, `no ${path}`, shown);
  expectSame(`${path}.deck`, packOf(number), shown.deck);
  for (const [name, value] of Object.entries(deal)) expectSame(`${path}.${name}`, value, shown[name]);
}

function verifyEnd(record, play) {
  const { game } = play;
  const statuses = !play.isOver ? ['aborted', 'cancelled'] : play.isVoid ? ['void'] : ['finished'];
  expect(statuses.includes(record.status), `record.status to be ${statuses.join(' or ')}`, record.status);
  const isFinished = record.status === 'finished';
  expectSame('record.ended_by', isFinished ? play.endedBy : null, record.ended_by);
  expectSame('record.places', isFinished ? play.places : null, record.places);
  expectSame('record.totals', game.totals, record.totals);
  record.seats.forEach(({ retired = false }, seat) => {
    expectSame(`record.seats[${seat}].retired`, play.retired[seat], retired);
  });
}
