// Cards: their names, their order, and how one looks. A card is written rank then suit, "TH"; the drawing is CSS.

const RANKS = "23456789TJQKA";
const SUITS = "CDHS";
const RANK_NAMES = [
  "Two",
  "Three",
  "Four",
  "Five",
  "Six",
  "Seven",
  "Eight",
  "Nine",
  "Ten",
  "Jack",
  "Queen",
  "King",
  "Ace",
];
const SUIT_NAMES = ["Clubs", "Diamonds", "Hearts", "Spades"];
const AS_TEXT = "\uFE0E"; // without it some systems draw the suits as coloured pictures
const GLYPHS = ["\u2663", "\u2666", "\u2665", "\u2660"].map((glyph) => glyph + AS_TEXT);

/** The word for a suit: "H" -> "Hearts". */
export function suitName(suit) {
  return SUIT_NAMES[SUITS.indexOf(suit)];
}

/** The sign of a suit: "H" -> "♥". */
export function suitGlyph(suit) {
  return GLYPHS[SUITS.indexOf(suit)];
}

/** A card as it is read aloud: "TH" -> "Ten of Hearts". */
export function nameOf(card) {
  return `${RANK_NAMES[RANKS.indexOf(card[0])]} of ${suitName(card[1])}`;
}

/** A card as it is read: "TH" -> "10♥". */
export function shortName(card) {
  return rankText(card) + suitGlyph(card[1]);
}

/** The cards in the order of the rules: suits C D H S, ranks 2 to A. */
export function sorted(cards) {
  return [...cards].sort((one, other) => place(one) - place(other));
}

/**
 * Draw a card, face down if it is null.
 * @param {string|null} card
 * @param {{tag?: string}} [options] the element to make; what isn't a button is an image to screen readers
 */
export function cardElement(card, { tag = "span" } = {}) {
  const element = document.createElement(tag);
  element.className = card === null ? "card card-down" : `card card-${card[1].toLowerCase()}`;
  if (tag === "button") element.type = "button";
  else element.setAttribute("role", "img");
  element.setAttribute("aria-label", card === null ? "face-down card" : nameOf(card));
  if (card === null) return element;
  element.dataset.card = card;
  element.append(part("card-rank", rankText(card)), part("card-suit", suitGlyph(card[1])));
  return element;
}

function part(className, text) {
  const element = document.createElement("span");
  element.className = className;
  element.setAttribute("aria-hidden", "true");
  element.textContent = text;
  return element;
}

function rankText(card) {
  return card[0] === "T" ? "10" : card[0];
}

function place(card) {
  return SUITS.indexOf(card[1]) * RANKS.length + RANKS.indexOf(card[0]);
}
