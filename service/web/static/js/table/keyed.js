// Keeps a row of elements in step with a list: one that stays is the same element, so that it keeps the focus and
// doesn't flicker.

/**
 * Make the children of an element those of a list.
 * @param {Element} parent
 * @param {T[]} items
 * @param {(item: T) => string} keyOf no two of a list have one key
 * @param {(item: T) => Element} make
 * @param {(element: Element, item: T) => void} [update] is called for each, new or not
 * @template T
 */
export function keyed(parent, items, keyOf, make, update = () => {}) {
  const before = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const wanted = items.map((item) => {
    const key = keyOf(item);
    const element = before.get(key) ?? make(item);
    before.delete(key);
    element.dataset.key = key;
    update(element, item);
    return element;
  });
  for (const gone of before.values()) gone.remove();
  wanted.forEach((element, at) => {
    if (parent.children[at] !== element) parent.insertBefore(element, parent.children[at] ?? null);
  });
}

/** Say something in an element, unless it says so already. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
