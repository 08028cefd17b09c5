// Asks before something that can't be taken back.

import { h } from "../dom.js";

let asked = 0;

/** Ask, in text or nodes; gives whether the answer was `yes`, the words of that button. Escape, and `no`, say no. */
export function confirm(question, yes, no) {
  const id = `question-${++asked}`;
  const answer = (value) => () => dialog.close(value);
  const dialog = h(
    "dialog",
    { class: "ask", "aria-labelledby": id },
    h("p", { id }, question),
    h(
      "p",
      { class: "row" },
      h("button", { type: "button", onclick: answer("no") }, no),
      h("button", { type: "button", class: "grave", onclick: answer("yes") }, yes),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
