// Whether the packs were fair: what they were made from, and a button that verifies the record in the reader's browser.

import { ApiError, api } from "../api.js";
import { h, replace } from "../dom.js";
import { addressOf } from "../table/story.js";
import { canHash } from "../verifier/packs.js";
import { faultIn } from "./verdict.js";

const NO_HASHES =
  "Browsers compute SHA-256 only for pages that came over HTTPS, and this one didn't. Download the record and run " +
  "slagbot verify on it.";

export class Fairness {
  /**
   * @param {string} gameId
   * @param {{bytes: Uint8Array, digest: string|null}} loaded
   * @param {object|null} record null for one that can't be read
   */
  constructor(gameId, loaded, record) {
    this.gameId = gameId;
    this.loaded = loaded;
    this.record = record;
    this.verdict = h("div", { class: "verdict" });
    this.button = h("button", { type: "button", class: "first", onclick: () => this.verify() }, "Verify");
    this.root = h(
      "section",
      { class: "fairness", "aria-labelledby": "verification" },
      h("h2", { id: "verification" }, "Verification"),
      h(
        "p",
        {},
        "Your browser can deal all packs again from the secret that the record reveals, and play every decision ",
        "by the rules. It asks the arena for nothing but what it had committed itself to.",
      ),
      h("p", { class: "row" }, this.button),
      this.verdict,
      record && h("details", {}, h("summary", {}, "What the packs were made from"), factsOf(record.fairness)),
    );
  }

  async verify() {
    this.button.setAttribute("aria-disabled", "true");
    this.say("", "Dealing again …");
    this.say(...(await this.outcome()));
    this.button.removeAttribute("aria-disabled");
  }

  async outcome() {
    if (!canHash()) return ["warn", NO_HASHES];
    try {
      const game = await api.get(`/v1/games/${this.gameId}`);
      const fault = await faultIn(this.loaded.bytes, this.loaded.digest, game);
      return fault === null
        ? ["good", holds(this.record)]
        : ["bad", `The record doesn't hold: ${fault}.`, linkTo(fault)];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return ["warn", `What was published of the game can't be read: ${error.message}.`];
    }
  }

  say(kind, text, more = null) {
    const sign = { good: "✓", bad: "✗" }[kind] ?? "";
    const mark = h("span", { class: `verdict-sign ${kind}`, "aria-hidden": "true" }, sign);
    replace(
      this.verdict,
      h("p", { class: `notice ${kind}`, dataset: { verdict: kind } }, mark, text, more && [" ", more]),
    );
    document.getElementById("announcer").textContent = text;
  }
}

function holds({ deals }) {
  const decisions = deals.flatMap((deal) => deal.events).filter((event) => !("event" in event)).length;
  const packs = deals.length === 1 ? "The pack is" : `All ${deals.length} packs are`;
  return (
    `The record holds. ${packs} what the secret makes, and the secret is what the arena had committed itself to. ` +
    `All ${decisions} decisions obey the rules, and points and places follow from them.`
  );
}

function linkTo(fault) {
  const [, deal, at] = fault.match(/record\.deals\[(\d+)\](?:\.events\[(\d+)\])?/) ?? [];
  if (deal === undefined) return null;
  return h("a", { href: addressOf({ deal, at: at ?? null }) }, "Show where");
}

function factsOf({ commitment, label, secret, entropy }) {
  const facts = { Commitment: commitment, Label: label, Secret: secret };
  const shown = Object.entries(facts).map(([name, value]) => [h("dt", {}, name), h("dd", { class: "mono" }, value)]);
  const added = entropy.filter((text) => text !== "");
  const texts = added.length > 0 ? added.map((text) => h("div", {}, h("bdi", {}, text))) : "none";
  return h("dl", { class: "facts" }, shown, h("dt", {}, "Added by players"), h("dd", {}, texts));
}
