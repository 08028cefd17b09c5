// Who organises: an account that this browser remembers, one that is made here, or one whose token is brought.

import { ApiError, api } from "../api.js";
import { name, replace } from "../dom.js";
import { keep } from "../keep.js";
import { Sender } from "../sender.js";
import { bodyOf, controlsOf } from "./body.js";
import { complain, forgive } from "./faults.js";

/** The panel that says who organises. `token` is null until somebody does; `changed` hears of it. */
export class AccountPanel {
  constructor(section, changed = () => {}) {
    this.section = section;
    this.changed = changed;
    this.notice = section.querySelector("[data-refused]");
    this.sender = new Sender();
    this.on("#join", (form) => this.join(form));
    this.on("#prove", (form) => this.prove(form));
    this.part("other").addEventListener("click", () => this.forget());
    this.part("copy").addEventListener("click", () => this.copy());
    this.show();
  }

  get token() {
    return keep.account?.token ?? null;
  }

  /** Say that an account is needed, and go there. */
  ask(why) {
    this.notice.textContent = why;
    this.notice.hidden = false;
    this.section.scrollIntoView({ block: "start" });
    this.section.querySelector("form input")?.focus();
  }

  /** Forget the account, and ask for another. */
  forget() {
    keep.account = null;
    this.show();
    this.section.querySelector("form input").focus();
  }

  async join(form) {
    const made = await this.sender.post("/v1/accounts", bodyOf(controlsOf(form)));
    this.remember(made.name, made.token);
    this.part("token").textContent = made.token;
    this.part("made").hidden = false;
    this.part("token").focus();
  }

  async prove(form) {
    const { token } = bodyOf(controlsOf(form));
    const needed = { code: "validation_failed", detail: "a token is needed", errors: { token: ["a token is needed"] } };
    if (!token) throw new ApiError(422, needed);
    const me = await api.get("/v1/accounts/me", { token }).catch((error) => {
      if (error.status === 401 || error.status === 403) error.errors = { token: [error.message] };
      throw error;
    });
    this.remember(me.name, token);
    this.part("other").focus();
  }

  remember(called, token) {
    keep.account = { name: called, token };
    for (const form of this.section.querySelectorAll("form")) form.reset();
    this.show();
  }

  show() {
    const account = keep.account;
    this.notice.hidden = true;
    this.part("known").hidden = !account;
    this.part("unknown").hidden = Boolean(account);
    this.part("made").hidden = true;
    replace(this.part("name"), account && name(account.name));
    this.changed(this.token);
  }

  async copy() {
    const code = this.part("token");
    const button = this.part("copy");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code); // no clipboard over plain http: the person copies
    }
  }

  part(called) {
    return this.section.querySelector(`[data-${called}]`);
  }

  on(selector, send) {
    const form = this.section.querySelector(selector);
    form?.addEventListener("submit", async (event) => {
      event.preventDefault();
      forgive(form, this.notice);
      try {
        await this.sender.once(() => send(form));
      } catch (error) {
        complain(form, this.notice, error);
      }
    });
  }
}
