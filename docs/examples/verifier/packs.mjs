// Cards and packs, after docs/deals.md. A card is its name, such as 'QH'.

import { createHash, createHmac } from 'node:crypto';

export const RANKS = '23456789TJQKA';
export const SUITS = 'CDHS';
export const CARDS = [...SUITS].flatMap((suit) => [...RANKS].map((rank) => rank + suit));

export const suitOf = (card) => card[1];
export const rankOf = (card) => RANKS.indexOf(card[0]);

/** Sort cards as docs/rules.md, "Actions", has it: by suit, and by rank within a suit. */
export const sorted = (cards) => CARDS.filter((card) => cards.includes(card));

const hmac = (key, ...parts) =>
  parts.reduce((mac, part) => mac.update(part), createHmac('sha256', key)).digest();

/** What the arena publishes before it hears of any entropy, in hex. */
export function commitment(secret, label) {
  return createHash('sha256').update(`slagveld/commit/v1\0${label}\0`).update(secret).digest('hex');
}

/** Give the function that makes the pack of a deal, by its number. */
export function packsOf(secret, label, entropy) {
  const mixed = entropy.flatMap((text) => [uint16be(Buffer.byteLength(text)), text]);
  const key = hmac(secret, `slagveld/mix/v1\0${label}`, ...mixed);
  return (number) => shuffled(hmac(key, 'deal', uint32be(number)));
}

function shuffled(dealKey) {
  const words = wordsOf(dealKey);
  const deck = [...CARDS];
  for (let i = 51; i > 0; i--) {
    const usable = Math.floor(2 ** 32 / (i + 1)) * (i + 1);
    let word = words.next().value;
    while (word >= usable) word = words.next().value;
    const other = word % (i + 1);
    [deck[i], deck[other]] = [deck[other], deck[i]];
  }
  return deck;
}

function* wordsOf(dealKey) {
  for (let block = 0n; ; block++) {
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(block);
    const digest = hmac(dealKey, counter);
    for (let at = 0; at < digest.length; at += 4) yield digest.readUInt32BE(at);
  }
}

function uint16be(number) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(number);
  return bytes;
}

function uint32be(number) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}
