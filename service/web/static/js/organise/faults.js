// Shows what the arena refused where it is to be mended.

import { ApiError } from "../api.js";

/** Take back all that was said about a form. */
export function forgive(form, notice) {
  notice.hidden = true;
  for (const each of form.querySelectorAll(".wrong")) {
    each.hidden = true;
    each.textContent = "";
  }
  for (const each of form.querySelectorAll("[aria-invalid]")) each.removeAttribute("aria-invalid");
}

/** Say at each field what is wrong with it and go to the first; what is about no field goes into `notice`. */
export function complain(form, notice, error) {
  if (!(error instanceof ApiError)) throw error;
  const found = Object.entries(error.errors).map(([path, reasons]) => [fieldOf(form, path), path, reasons]);
  const [first] = found
    .filter(([field]) => field)
    .map(([field, path, reasons]) => mark(field, path, reasons))
    .sort((one, other) => (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
  if (found.length === 0 || found.some(([field]) => !field)) {
    notice.hidden = false;
    notice.textContent = error.message;
  }
  (first ?? notice).scrollIntoView({ block: "center" });
  first?.focus();
}

/** Find the field of a dotted path such as `sprt.elo0`, or of what it is a part of; hidden ones are others'. */
function fieldOf(form, path) {
  const steps = path.split(".");
  for (let length = steps.length; length > 0; length--) {
    const named = `[data-field="${CSS.escape(steps.slice(0, length).join("."))}"]`;
    const field = [...form.querySelectorAll(named)].find((each) => !each.closest("[hidden]"));
    if (field) return field;
  }
  return null;
}

/** Write into a field what is wrong, and give the control that it is to be mended with. */
function mark(field, path, reasons) {
  const rest = path.slice(field.dataset.field.length + 1);
  const line = /^\d+$/u.test(rest) ? `entry ${Number(rest) + 1}: ` : rest && `${rest}: `;
  const wrong = field.querySelector(":scope > .wrong");
  wrong.textContent += `${wrong.textContent && "; "}${line}${reasons.join("; ")}`;
  wrong.hidden = false;
  for (let around = field.closest("details"); around; around = around.parentElement.closest("details"))
    around.open = true;
  const control = field.querySelector("input:checked, input:not([type='radio']), select, textarea");
  (field.getAttribute("role") === "radiogroup" ? field : control).setAttribute("aria-invalid", "true");
  return control;
}
