// The play of a record: what decisions and retirements mean for the seats beyond the cards (docs/record.md, "Events").

import { checkFields, expect, expectSame } from "./expecting.js";
import { RULESETS } from "./rules.js";

export const FAULTS = ["late", "unreachable", "bad_status", "bad_reply", "illegal"];

const oneOf =
  (...values) =>
  (value) =>
    values.includes(value);
const mapped = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, each]) => [name, change(each)]));

/** A game and its players: decisions, faults, and who is asked no more. Gives `tell` the events of docs/contract.md. */
export class Play {
  /** Deal; `packOf` gives the pack of a deal by its number. Refuses a table that the ruleset doesn't know. */
  constructor(record, packOf, tell = () => {}) {
    const ruleset = RULESETS[record.ruleset];
    const seats = record.seats.length;
    expect(ruleset.seats.includes(seats), `seats: ${ruleset.seats}`, seats);
    checkFields(
      "record.options",
      record.options,
      mapped(ruleset.options(seats), (values) => oneOf(...values)),
    );
    this.tell = tell;
    this.game = new ruleset.Game(record.options, seats, packOf, tell);
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

  /** Take an event of the deal of that number; refuses one that can't come now. */
  take(number, at, event) {
    const path = `record.deals[${number}].events[${at}]`;
    const isOn = this.game.ended.length === number || this.due !== null;
    expect(isOn, `no ${path} after the end of its deal`, event);
    if (this.due !== null) expectSame(path, { seat: this.due, event: "retired", reason: "faults" }, { ...event });
    expect(!this.isOver, `no ${path} after the end`, event);
    if ("event" in event) this.retire(path, event);
    else this.decide(path, event);
  }

  decide(path, { seat, action, outcome, ms, note }) {
    const owing = this.game.actors();
    expect(owing.includes(seat), `${path} to be of a seat among ${owing}`, seat);
    expect((outcome === "retired") === this.isOut(seat), `${path} to tell whether the seat was asked`, outcome);
    const legal = this.game.legal(seat);
    if (outcome === "ok") expect(legal.includes(action), `${path}.action to be one of ${legal.join(", ")}`, action);
    else expectSame(`${path}.action, the fallback,`, legal[0], action);
    expect(ms === Number(Math.max(ms, 0).toPrecision(2)), `${path}.ms to have two significant digits`, ms);
    this.tell({ event: "action", seat, action, outcome, ms, note });
    this.game.apply(seat, action);
    if (outcome === "ok") this.hasAnswered[seat] = true;
    if (FAULTS.includes(outcome)) this.faults[seat] += 1;
    if (this.faults[seat] >= this.maxFaults && !this.isOut(seat) && !this.isOver) this.due = seat;
  }

  retire(path, { seat, reason }) {
    expect(this.retired[seat] === false && !this.forfeited[seat], `${path} to be of a seat that still plays`, seat);
    expect(reason !== "faults" || this.due === seat, `${path} to come at ${this.maxFaults} faults`, this.faults[seat]);
    this.due = null;
    this.retired[seat] = true;
    this.tell({ event: "retired", seat, reason });
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
    if (this.forfeited.some(Boolean)) return "forfeit";
    return this.isBrokenOff ? "retirement" : "play";
  }

  get places() {
    const { totals } = this.game;
    const isBefore = (one, other) =>
      this.isOut(one) === this.isOut(other) ? totals[one] > totals[other] : this.isOut(other);
    return totals.map((_, own) => 1 + totals.filter((__, other) => isBefore(other, own)).length);
  }
}
