// Buttons and keys of a replay: back and on by an event or a deal, play and pause, how fast.

import { h, s } from "../dom.js";

const SPEEDS = [0.5, 1, 2, 4, 10];
const DRAWN = {
  dealBack: "M4 5v14M20 5 10 12l10 7z",
  back: "M16 5 6 12l10 7z",
  play: "M7 4.5 20 12 7 19.5z",
  pause: "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z",
  on: "M8 5l10 7-10 7z",
  dealOn: "M20 5v14M4 5l10 7-10 7z",
};
const TAKES_ARROWS = "input, select, textarea";
const SCROLLS = "[data-scrolls], .scroll";
const TAKES_SPACE = "button, select, textarea, summary, input:not([type='range'])";

export class Controls {
  /** @param {Record<"dealBack"|"back"|"toggle"|"on"|"dealOn", () => void>} orders what each button does */
  constructor(orders) {
    this.orders = orders;
    this.toggle = button("play", "Play", "Space", orders.toggle);
    this.toggle.classList.add("first");
    this.place = h("output", { class: "replay-place" });
    const speeds = SPEEDS.map((speed) => h("option", { value: speed, selected: speed === 1 }, `${speed}×`));
    this.speeds = h("select", { "aria-label": "Speed" }, speeds);
    this.buttons = {
      dealBack: button("dealBack", "Deal before", "Shift + ←", orders.dealBack),
      back: button("back", "Step back", "←", orders.back),
      on: button("on", "Step forward", "→", orders.on),
      dealOn: button("dealOn", "Next deal", "Shift + →", orders.dealOn),
    };
    const { dealBack, back, on, dealOn } = this.buttons;
    this.root = h(
      "div",
      { class: "replay-buttons", role: "group", "aria-label": "Replay" },
      h("div", { class: "replay-steps" }, dealBack, back, this.toggle, on, dealOn),
      this.speeds,
      this.place,
    );
  }

  get speed() {
    return Number(this.speeds.value);
  }

  /** Show where it stands, in words, and what can be done there. */
  show(place, { isFirst, isLast, isRunning }) {
    this.place.textContent = place;
    this.toggle.replaceChildren(icon(isRunning ? "pause" : "play"));
    name(this.toggle, isRunning ? "Pause" : "Play", "Space");
    for (const [order, each] of Object.entries(this.buttons)) {
      each.setAttribute("aria-disabled", `${order.toLowerCase().includes("back") ? isFirst : isLast}`);
    }
  }

  /** Obey the keys that the page has no other use for. */
  listen(target) {
    target.addEventListener("keydown", (event) => {
      const order = orderOf(event);
      if (order === null || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.orders[order]();
    });
  }
}

function orderOf({ key, shiftKey, target }) {
  if (key === " ") return target.closest(TAKES_SPACE) ? null : "toggle";
  if (target.closest(TAKES_ARROWS) || isWide(target.closest(SCROLLS))) return null;
  if (key === "ArrowLeft") return shiftKey ? "dealBack" : "back";
  if (key === "ArrowRight") return shiftKey ? "dealOn" : "on";
  return null;
}

/** Whether there is something to be scrolled sideways to. */
function isWide(scroller) {
  return scroller !== null && scroller.scrollWidth > scroller.clientWidth;
}

function button(drawn, label, keys, act) {
  const made = h("button", { type: "button", onclick: act }, icon(drawn));
  name(made, label, keys);
  return made;
}

function name(element, label, keys) {
  element.setAttribute("aria-label", label);
  element.title = `${label} (${keys})`;
}

function icon(drawn) {
  return s(
    "svg",
    { viewBox: "0 0 24 24", width: 20, height: 20, "aria-hidden": "true", class: "icon" },
    s("path", { d: DRAWN[drawn] }),
  );
}
