// Builds elements. Text is always text: nothing here, or anywhere else in the pages, turns a string into markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an element: `h("li", { class: "card", onclick: choose, hidden: false }, "text", child, [more])`.
 * Attributes that are null, undefined or false are left out; true is an empty one; `on…` listens; `dataset` and
 * `style` take objects (custom properties too).
 */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Make an SVG element, as `h` makes one of HTML. */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Put somebody's text into a <bdi>, so that its direction and length stay its own. */
export function name(text) {
  return h("bdi", { class: "name", title: text }, text);
}

/** Replace what is in an element. */
export function replace(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) set(element, key, value);
  element.append(...nodes(children));
  return element;
}

function set(element, key, value) {
  if (value === null || value === undefined || value === false) return;
  if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
  else if (key === "dataset") Object.assign(element.dataset, value);
  else if (key === "style") for (const [each, to] of Object.entries(value)) element.style.setProperty(each, to);
  else element.setAttribute(key, value === true ? "" : value);
}

function nodes(children) {
  return children
    .flat(Number.POSITIVE_INFINITY)
    .filter((child) => child !== null && child !== undefined && child !== false);
}
