// What a tournament would come to, for its host to look at before the start.

import { h, replace } from "../dom.js";
import { plan } from "./words.js";

/** Shows a plan as `GET …/plan` answers it, or nothing once there is none. */
export class Plan {
  constructor() {
    this.sentence = h("p");
    this.warnings = h("ul", { class: "notice warn" });
    this.assumes = h("ul");
    this.why = h("details", {}, h("summary", {}, "What this assumes"), this.assumes);
    this.element = h("div", { class: "plan" }, this.sentence, this.warnings, this.why);
  }

  show(ahead) {
    this.element.hidden = ahead === null;
    if (ahead === null) return;
    this.sentence.textContent = `${plan(ahead)}.`;
    list(this.warnings, ahead.warnings);
    list(this.assumes, ahead.assumes);
    this.why.hidden = ahead.assumes.length === 0;
  }
}

function list(element, sentences) {
  element.hidden = sentences.length === 0;
  replace(element, ...sentences.map((each) => h("li", {}, each)));
}
