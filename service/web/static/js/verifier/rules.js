// The rules of both games, after docs/rules.md; the numbers in comments are its sections.
//
// A game deals as soon as it can: when a deal has ended, the next one is on the table. `ended` lists the deals that
// have, `actors` the seats that owe an action, `legal` the actions of such a seat, and `apply` takes one of these.
// What follows from the rules is given to `tell` as it happens, as the events of docs/contract.md: all but `action`,
// `retired` and `ended`, which are the business of who asks. A `deal` and a `run` have besides `hands`, by seat.

import { Game } from "./game.js";
import { rankOf, sorted, suitOf } from "./packs.js";

const JACK = "J";
const from = (low, high) => Array.from({ length: high - low + 1 }, (_, at) => low + at);

class SevenUp extends Game {
  deal() {
    const played = this.ended.filter((deal) => !deal.void).length;
    this.shuffle((this.options.first_dealer + played) % 2); // 1
    this.phase = "beg";
    this.trump = null;
    this.captured = [[], []];
    this.serve(6); // 2
    this.firstSuit = suitOf(this.pack[0]);
    this.turn("deal");
  }

  turn(event) {
    this.upcard = this.pack.shift();
    if (this.options.turned_jack === "every") this.scoreTurnedJack();
    this.tellTurned(event, { totals: [...this.totals] });
    this.endIfWon();
  }

  scoreTurnedJack() {
    if (this.upcard[0] === JACK) this.totals[this.dealer] += 1;
  }

  endIfWon() {
    // 7
    const [one, other] = this.totals;
    this.isOver = Math.max(one, other) >= this.options.target && one !== other;
    if (this.isOver) this.endDeal();
  }

  actors() {
    if (this.isOver) return [];
    if (this.phase === "beg") return [this.eldest];
    if (this.phase === "gift") return [this.dealer];
    if (this.phase === "discard") return [0, 1].filter((seat) => this.hands[seat].length > 6);
    return [this.onTurn];
  }

  legal(seat) {
    if (this.phase === "beg") return ["stand", "beg"];
    if (this.phase === "gift") return this.mayGive() ? ["run", "give"] : ["run"];
    if (this.phase === "discard") return sorted(this.hands[seat]).map((card) => `discard:${card}`);
    return sorted(this.playable(this.hands[seat])).map((card) => `play:${card}`);
  }

  mayGive() {
    const withGift = this.totals[this.eldest] + 1;
    return withGift < this.options.target || withGift <= this.totals[this.dealer];
  }

  playable(hand) {
    // 5
    if (this.trick.length === 0) return hand;
    const following = hand.filter((card) => suitOf(card) === suitOf(this.trick[0]));
    if (following.length === 0 && this.options.void_play === "free") return hand;
    const allowed = hand.filter((card) => following.includes(card) || suitOf(card) === this.trump);
    return allowed.length > 0 ? allowed : hand;
  }

  apply(seat, action) {
    const [kind, card] = action.split(":");
    if (kind === "stand") this.fixTrump("play");
    else if (kind === "give") this.give();
    else if (kind === "beg" && this.options.gift) this.phase = "gift";
    else if (kind === "beg" || kind === "run") this.run();
    else if (kind === "discard") this.discard(seat, card);
    else this.play(seat, card);
  }

  fixTrump(phase) {
    this.phase = phase;
    this.trump = suitOf(this.upcard);
    if (this.options.turned_jack === "final") this.scoreTurnedJack();
    this.tell({ event: "trump", trump: this.trump, totals: [...this.totals] });
    this.endIfWon();
  }

  give() {
    this.fixTrump("play");
    if (!this.isOver) this.totals[this.eldest] += 1;
  }

  run() {
    // 3
    while (suitOf(this.upcard) === this.firstSuit) {
      if (this.pack.length < 7) {
        this.endDeal(true);
        this.deal();
        return;
      }
      this.serve(3);
      this.turn("run");
      if (this.isOver) return;
    }
    this.fixTrump("discard");
  }

  discard(seat, card) {
    // 4
    this.hands[seat].splice(this.hands[seat].indexOf(card), 1);
    if (this.hands.some((other) => other.length > 6)) return;
    this.phase = "play";
    this.tell({ event: "discarded" });
  }

  won(winner, cards) {
    this.captured[winner].push(...cards);
    if (this.tricksPlayed < 6) return;
    for (const seat of this.scorers()) this.totals[seat] += 1;
    this.endIfWon();
    if (this.isOver) return;
    this.endDeal();
    this.deal();
  }

  scorers() {
    // 6
    const captor = (card) => (this.captured[0].includes(card) ? 0 : 1);
    const trumps = sorted(this.captured.flat().filter((card) => suitOf(card) === this.trump));
    const prizes = trumps.length > 0 ? [trumps.at(-1), trumps[0]] : [];
    prizes.push(...trumps.filter((card) => card[0] === JACK));
    const [one, other] = this.captured.map((cards) => cards.reduce((sum, card) => sum + this.pips(card), 0));
    const scorers = prizes.map(captor);
    if (one !== other) scorers.push(one > other ? 0 : 1);
    else if (this.options.game_tie === "non_dealer") scorers.push(this.eldest);
    return scorers;
  }

  pips(card) {
    const honour = "JQKA".indexOf(card[0]) + 1;
    if (honour > 0) return honour;
    const number = rankOf(card) + 2;
    return this.options.pips === "face" || number === 10 ? number : 0;
  }
}

class River extends Game {
  get schedule() {
    // 1
    const up = from(1, this.options.start_cards);
    const down = [...up].reverse();
    if (this.options.schedule === "down") return down;
    return this.options.schedule === "down_up" ? [...down, ...up.slice(1)] : [...up, ...down.slice(1)];
  }

  deal() {
    this.shuffle((this.options.first_dealer + this.number + 1) % this.seats); // 2
    this.cards = this.schedule[this.number];
    this.serve(this.cards); // 3
    this.upcard = this.pack[0];
    this.trump = suitOf(this.upcard);
    this.bids = Array(this.seats).fill(null);
    this.tricks = Array(this.seats).fill(0);
    this.tellTurned("deal", { cards: this.cards, trump: this.trump });
  }

  get isBidding() {
    return this.bids.includes(null);
  }

  actors() {
    if (this.isOver) return [];
    if (!this.isBidding) return [this.onTurn];
    const waiting = from(1, this.seats).map((after) => (this.dealer + after) % this.seats);
    const owing = waiting.filter((seat) => this.bids[seat] === null);
    return this.options.bidding === "simultaneous" ? owing : [owing[0]];
  }

  legal(seat) {
    if (this.isBidding) {
      // 4
      const hooked = this.isHooked(seat) ? this.cards - this.bids.reduce((sum, bid) => sum + bid, 0) : null;
      return from(0, this.cards)
        .filter((bid) => bid !== hooked)
        .map((bid) => `bid:${bid}`);
    }
    const hand = this.hands[seat]; // 5
    const following = hand.filter((card) => this.trick.length > 0 && suitOf(card) === suitOf(this.trick[0]));
    return sorted(following.length > 0 ? following : hand).map((card) => `play:${card}`);
  }

  isHooked(seat) {
    if (seat !== this.dealer || this.options.bidding === "simultaneous" || this.options.hook === "off") return false;
    return this.options.hook === "always" || this.cards > 1;
  }

  apply(seat, action) {
    const [kind, value] = action.split(":");
    if (kind === "bid") this.bids[seat] = Number(value);
    else this.play(seat, value);
  }

  won(winner) {
    this.tricks[winner] += 1;
    if (this.tricksPlayed < this.cards) return;
    this.tricks.forEach((tricks, seat) => {
      // 6
      const isExact = tricks === this.bids[seat];
      this.totals[seat] += isExact ? tricks + 10 : this.options.miss === "tricks" ? tricks : 0;
    });
    this.endDeal();
    this.isOver = this.number + 1 === this.schedule.length;
    if (!this.isOver) this.deal();
  }
}

/** By ruleset: the table sizes, the values that each option may have at a table, and the game. */
export const RULESETS = {
  seven_up: {
    seats: [2],
    Game: SevenUp,
    options: () => ({
      target: from(1, 50),
      first_dealer: [0, 1],
      turned_jack: ["every", "final"],
      gift: [false, true],
      void_play: ["must_trump", "free"],
      pips: ["face", "classic"],
      game_tie: ["none", "non_dealer"],
    }),
  },
  river: {
    seats: [4, 5, 6, 7, 8],
    Game: River,
    options: (seats) => ({
      start_cards: from(1, Math.floor(51 / seats)),
      first_dealer: from(0, seats - 1),
      bidding: ["sequential", "simultaneous"],
      hook: ["always", "off", "not_one"],
      miss: ["tricks", "zero"],
      schedule: ["down_up", "up_down", "down"],
    }),
  },
};
