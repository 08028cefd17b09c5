// The faults and retirements of a game, each a link to its frame.

import { h } from "../dom.js";
import { shown } from "../table/log.js";
import { addressOf } from "../table/story.js";
import { parts } from "../table/words.js";
import { placeOf } from "./timeline.js";

/**
 * List them.
 * @param {import("../table/story.js").Story} story
 * @param {{name: string}[]} seats
 */
export function troublesOf(story, seats) {
  const items = story.troubles.map((number) => {
    const frame = story.frames[number];
    const said = parts(frame.events[0], seats).map(shown);
    return h("li", {}, h("a", { href: addressOf(frame), class: "mono" }, placeOf(frame)), " ", said);
  });
  const title = h("h2", { id: "faults" }, "Faults", items.length > 0 ? ` (${items.length})` : "");
  return h(
    "section",
    { class: "troubles", "aria-labelledby": "faults" },
    title,
    items.length > 0
      ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "List of faults" }, h("ul", {}, items))
      : h("p", { class: "soft" }, "None: everybody answered in time, and legally."),
  );
}
