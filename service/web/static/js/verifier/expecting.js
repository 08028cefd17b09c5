// What a record is held against, and how it is told where it differs.

/** A record that can't be read, or that doesn't hold. */
export class Refused extends Error {}

const quoted = (value) => String(JSON.stringify(value)).slice(0, 120);

/** Refuse the record unless something is so, in words: what was expected, and what stands there. */
export function expect(isSo, what, got) {
  if (!isSo) throw new Refused(`expected ${what}, got ${quoted(got)}`);
}

/** Refuse the record unless two values of JSON are the same. */
export function expectSame(path, expected, got) {
  expect(isSame(expected, got), `${path} to be ${quoted(expected)}`, got);
}

function isSame(one, other) {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  const isShared = (name) => Object.hasOwn(other, name) && isSame(one[name], other[name]);
  return names.length === Object.keys(other).length && names.every(isShared);
}

/** Refuse an object that lacks one of the fields, has others, or holds in one what its check doesn't pass. */
export function checkFields(path, value, fields, optional = {}) {
  const known = { ...fields, ...optional };
  for (const name of Object.keys(fields)) expect(Object.hasOwn(value, name), `a field ${path}.${name}`, value);
  for (const [name, given] of Object.entries(value)) {
    expect(Object.hasOwn(known, name), `no other fields in ${path}`, name);
    expect(known[name](given), `${path}.${name} as docs/record.md has it`, given);
  }
}
