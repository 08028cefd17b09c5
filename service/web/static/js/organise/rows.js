// Lists that change while somebody uses them.

/** Show a row for each item. A row whose key stays is kept where it is, and with it the focus in it. */
export function rows(list, items, key, make) {
  const wanted = new Set(items.map(key));
  const known = new Map();
  for (const row of [...list.children]) {
    if (wanted.has(row.dataset.key)) known.set(row.dataset.key, row);
    else row.remove();
  }
  items.forEach((item, at) => {
    const row = known.get(key(item)) ?? make(item);
    row.dataset.key = key(item);
    if (list.children[at] !== row) list.insertBefore(row, list.children[at] ?? null);
  });
}
