// A text in a condition against all texts that are stored, by their bytes or not: unset, empty, with
// characters that JSON escapes, and prefixes of each other.
import { afterAll, expect, test } from 'vitest';
import type { WriteView } from '../../engine/storage/table/view-types.js';
import { compileShop, Shop } from '../plan/shop.js';

const texts = [
  '',
  'a',
  'ab',
  'abc',
  'é',
  'e\u0301',
  '😀',
  'x\u0000',
  'x\\',
  'x"',
  'x/',
  '\n',
  'x\\u0000',
];

function fill(view: WriteView): [] {
  for (let i = 0; i < 80; i++) {
    const name = texts[i % (texts.length + 1)];
    const values = { key: `k${i}`, ...(name !== undefined && { name }) };
    view.createNode(view.catalog.find('node', 'Item')!, new Map(Object.entries(values)));
  }
  return [];
}

const shop = new Shop(fill);
afterAll(() => shop.close());

const queries = `
QUERY all() => x <- N<Item>::{name} RETURN x
QUERY equal(s: String) => x <- N<Item>::WHERE(_::{name}::EQ(s))::{name} RETURN x
QUERY sorted(s: String) =>
  x <- N<Item>::ORDER<Asc>(_::{big})::WHERE(_::{name}::EQ(s))::{name}
  RETURN x
QUERY number() => x <- N<Item>::WHERE(_::{big}::EQ(9007199254740993))::{name} RETURN x
QUERY unset(s?: String) => x <- N<Item>::WHERE(_::{name}::EQ(s))::{name} RETURN x`;

test('rows are those whose text is the same', () => {
  const { queries: compiled } = compileShop(queries, true);
  const ask = (name: string, args: object): { name: string | null }[] => {
    const query = compiled.find((each) => each.name === name)!;
    return (JSON.parse(shop.run(query, args)) as { x: { name: string | null }[] }).x;
  };
  const all = ask('all', {});
  expect(new Set(all.map((row) => row.name)).size).toBe(texts.length + 1);
  for (const s of [...texts, 'abcd', 'x', 'b']) {
    const wanted = all.filter((row) => row.name === s);
    for (const query of ['equal', 'sorted', 'unset']) expect(ask(query, { s }), s).toEqual(wanted);
  }
  expect(ask('number', {})).toEqual([]);
  expect(ask('unset', {})).toEqual(all.filter((row) => row.name === null));
});
