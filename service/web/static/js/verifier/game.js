// What both games share: dealing, tricks, and telling what follows from the rules.

import { rankOf, sorted, suitOf } from "./packs.js";

/** A game without its rules: `deal` and `won`, which is called with each trick that is full, are the games' own. */
export class Game {
  constructor(options, seats, packOf, tell = () => {}) {
    Object.assign(this, { options, seats, packOf, tell, number: -1, isOver: false, ended: [] });
    this.totals = Array(seats).fill(0);
    this.deal();
  }

  /** Take up the next pack; each game then serves it. */
  shuffle(dealer) {
    this.number += 1;
    this.before = [...this.totals];
    this.dealer = dealer;
    this.eldest = (dealer + 1) % this.seats;
    this.pack = [...this.packOf(this.number)];
    this.hands = Array.from({ length: this.seats }, () => []);
    this.tricksPlayed = 0;
    this.lead(this.eldest);
  }

  serve(cardsEach) {
    for (let at = 0; at < cardsEach * this.seats; at++) {
      this.hands[(this.eldest + at) % this.seats].push(this.pack.shift());
    }
  }

  /** Show the deal that is on as it stands. */
  standing(isVoid = false) {
    const points = this.totals.map((total, seat) => total - this.before[seat]);
    return { number: this.number, dealer: this.dealer, void: isVoid, points, totals: [...this.totals] };
  }

  /** Tell of an upcard, with what else there is to know of it. */
  tellTurned(event, known) {
    const { number: deal, dealer, upcard } = this;
    this.tell({ event, deal, dealer, upcard, ...known, hands: this.hands.map(sorted) });
  }

  /** Close the deal that is on. */
  endDeal(isVoid = false) {
    const ended = this.standing(isVoid);
    this.ended.push(ended);
    this.tell({ event: "deal_ended", deal: ended.number, void: isVoid, points: ended.points, totals: ended.totals });
  }

  lead(seat) {
    this.leader = seat;
    this.trick = [];
  }

  get onTurn() {
    return (this.leader + this.trick.length) % this.seats;
  }

  /** Lay a card, and settle a trick that is full. */
  play(seat, card) {
    this.hands[seat].splice(this.hands[seat].indexOf(card), 1);
    this.trick.push(card);
    if (this.trick.length < this.seats) return;
    const led = suitOf(this.trick[0]);
    const strength = (each) => (suitOf(each) === this.trump ? 13 : suitOf(each) === led ? 0 : -13) + rankOf(each);
    const best = this.trick.reduce((one, other) => (strength(other) > strength(one) ? other : one));
    const winner = (this.leader + this.trick.indexOf(best)) % this.seats;
    const cards = this.trick;
    this.tricksPlayed += 1;
    this.lead(winner);
    this.tell({ event: "trick", winner });
    this.won(winner, cards);
  }
}
