// Cards and packs, after docs/deals.md. A card is its name, such as 'QH'. Runs wherever there is Web Crypto.

export const RANKS = "23456789TJQKA";
export const SUITS = "CDHS";
export const CARDS = [...SUITS].flatMap((suit) => [...RANKS].map((rank) => rank + suit));

export const suitOf = (card) => card[1];
export const rankOf = (card) => RANKS.indexOf(card[0]);

/** Sort cards as docs/rules.md, "Actions", has it: by suit, and by rank within a suit. */
export const sorted = (cards) => CARDS.filter((card) => cards.includes(card));

const bytesOf = (text) => new TextEncoder().encode(text);

/** How long a text is as UTF-8. */
export const byteLength = (text) => bytesOf(text).length;

/** Read an even number of hex digits; anything else isn't checked. */
export const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

const toHex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Whether packs can be computed here: browsers hash only for pages over HTTPS, or from this machine. */
export const canHash = () => globalThis.crypto?.subtle !== undefined;

function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Make the function that gives the HMAC-SHA256 of a message under a key. */
async function macBy(key) {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return async (...parts) => new Uint8Array(await crypto.subtle.sign("HMAC", imported, joined(...parts)));
}

/** What the arena publishes before it hears of any entropy, in hex. */
export async function commitment(secret, label) {
  const committed = joined(bytesOf(`slagveld/commit/v1\0${label}\0`), secret);
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", committed)));
}

/** Give the function that makes the pack of a deal, by its number. */
export async function packsOf(secret, label, entropy) {
  const mixed = entropy.map(bytesOf).flatMap((text) => [bigEndian(text.length, 2), text]);
  const mix = await macBy(secret);
  const deal = await macBy(await mix(bytesOf(`slagveld/mix/v1\0${label}`), ...mixed));
  return async (number) => shuffled(new Words(await macBy(await deal(bytesOf("deal"), bigEndian(number, 4)))));
}

async function shuffled(words) {
  const deck = [...CARDS];
  for (let i = 51; i > 0; i--) {
    const usable = Math.floor(2 ** 32 / (i + 1)) * (i + 1);
    let word = await words.next();
    while (word >= usable) word = await words.next();
    const other = word % (i + 1);
    [deck[i], deck[other]] = [deck[other], deck[i]];
  }
  return deck;
}

/** The words of a deal, made eight at a time. */
class Words {
  constructor(mac) {
    this.mac = mac;
    this.blocks = 0;
    this.left = [];
  }

  async next() {
    if (this.left.length === 0) {
      const block = new DataView((await this.mac(bigEndian(this.blocks++, 8))).buffer);
      this.left = Array.from({ length: 8 }, (_, at) => block.getUint32(4 * at));
    }
    return this.left.shift();
  }
}

function bigEndian(number, length) {
  const bytes = new Uint8Array(length);
  for (let at = length - 1, rest = number; rest > 0; at--, rest = Math.floor(rest / 256)) bytes[at] = rest % 256;
  return bytes;
}
