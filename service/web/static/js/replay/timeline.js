// Where a replay stands: a slider over all its frames, on which deals and troubles are marked.

import { h } from "../dom.js";
import { tell } from "../table/words.js";

export class Timeline {
  /**
   * @param {import("../table/story.js").Story} story
   * @param {object[]} seats
   * @param {(number: number) => void} go
   */
  constructor(story, seats, go) {
    this.story = story;
    this.seats = seats;
    this.last = story.frames.length - 1;
    this.slider = h("input", { type: "range", min: 0, max: this.last, "aria-label": "Place in the game" });
    this.slider.addEventListener("input", () => go(Number(this.slider.value)));
    const dealt = story.dealings.map((number) => this.mark("dealt", number));
    const troubles = story.troubles.map((number) => this.mark("trouble", number));
    this.root = h(
      "div",
      { class: "timeline" },
      h("div", { class: "timeline-marks", "aria-hidden": "true" }, dealt, troubles),
      this.slider,
    );
  }

  mark(kind, number) {
    return h("span", { class: `mark mark-${kind}`, style: { "--at": this.last > 0 ? number / this.last : 0 } });
  }

  show(number) {
    const frame = this.story.frames[number];
    this.slider.value = number;
    this.slider.setAttribute("aria-valuetext", `${placeOf(frame)}: ${tell(frame.events[0], this.seats)}`);
  }
}

/** Write the place of a frame as `slagbot replay --at` takes it: "3.12", or "3" where deal 3 is dealt. */
export function placeOf({ deal, at }) {
  return at === null ? `${deal}` : `${deal}.${at}`;
}
