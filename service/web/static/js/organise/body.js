// What a form sends: the JSON that its controls say, as the arena takes it. What is wrong with it is for the arena to tell.

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)$/;

/**
 * Build a body from controls in order, each `{path, kind, value}` with a dotted path. What is left blank is left out.
 * Kinds: `text`, `number` (text that is none goes as it is, to be refused), `json`, `lines` (a list), `object` (there
 * even if nothing is in it).
 */
export function bodyOf(controls) {
  const body = {};
  for (const { path, kind, value } of controls) {
    const said = meant(kind, value.trim());
    if (said !== undefined) put(body, path.split("."), said);
  }
  return body;
}

function meant(kind, text) {
  if (kind === "object") return {};
  if (text === "") return undefined;
  if (kind === "number") return NUMBER.test(text) ? Number(text) : text;
  if (kind === "json") return JSON.parse(text);
  if (kind === "lines") return text.split(/\s+/u);
  return text;
}

function put(body, path, value) {
  const last = path.pop();
  let at = body;
  for (const step of path) at = at[step] ??= {};
  at[last] = value;
}

/** Give a form's controls, as `bodyOf` takes them: those that are enabled, and chosen where there is a choice. */
export function controlsOf(form) {
  return [...form.elements]
    .filter((each) => each.dataset.kind && each.matches(":enabled"))
    .filter((each) => !["radio", "checkbox"].includes(each.type) || each.checked)
    .map((each) => ({ path: each.name, kind: each.dataset.kind, value: each.value }));
}
