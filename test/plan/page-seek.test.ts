// Pages that seek to their position. Each equals the page of the plan as written, position included, from any
// position of any page, also of deleted elements. Its cost is that of its rows.
import { afterAll, expect, test } from 'vitest';
import { printPlan } from '../../engine/plan/print-plan.js';
import type { Query } from '../../engine/plan/plan.js';
import { compileShop, Shop } from './shop.js';

const shop = new Shop();
const others = new Shop((view) => {
  const item = view.catalog.find('node', 'Item')!;
  const values = (i: number) =>
    new Map<string, number>([
      ['year', (i * 37) % 50],
      ['price', i],
    ]);
  const owner = view.catalog.find('node', 'Owner')!;
  const made = Array.from({ length: 6_000 }, (_, i) => {
    if (i % 500 === 250) view.createNode(owner, new Map([['key', `k${i}`]]));
    return view.createNode(item, values(i));
  });
  for (const [i, id] of made.entries()) if (i % 7 === 0) view.remove(id);
  return [];
});
afterAll(() => {
  shop.close();
  others.close();
});

interface Page {
  items: unknown[];
  next: string | null;
}

const compiled = (body: string) =>
  [false, true].map(
    (as) =>
      compileShop(`QUERY q(n: U32, after?: String, y: I32) => RETURN ${body}`, as).queries[0]!,
  ) as [Query, Query];

function pageOf(from: Shop, query: Query, args: object, most = 0): Page {
  const answer = JSON.parse(from.run(query, args, most)) as { data: Page };
  return answer.data;
}

const cases: [body: string, seeks: string | undefined][] = [
  ['N<Item>', 'by id'],
  ['E<Likes>', 'by id'],
  ['N<Item>::WHERE(_::{flag})', 'by id'],
  ['N<Item>::WHERE(_::{note}::EQ("none"))', 'by id'],
  ['N<Item>::ORDER<Asc>(_::{year})', 'in index year'],
  ['N<Item>::ORDER<Desc>(_::{year})::WHERE(_::{flag})', 'in index year'],
  ['N<Item>::ORDER<Asc, Desc>(_::{year}, _::{price})', 'in index year'],
  ['N<Item>::ORDER<Desc, Asc NULLS FIRST>(_::{big}, _::{name})', 'in index big'],
  ['N<Item>::ORDER<Asc>(_::{price})', 'in index price'],
  ['N<Item>::ORDER<Desc>(_::{weight})', 'in index weight'],
  ['N<Item>::ORDER<Desc>(_::{made})', 'in index made'],
  ['N<Item>::ORDER<Asc>(_::{flag})', 'in index flag'],
  ['N<Item>::ORDER<Asc>(_::{key})', 'in index key'],
  ['N<Item>::ORDER<Desc>(_::{twin})', 'in index twin'],
  ['N<Item>::WHERE(_::{year}::GTE(y))::ORDER<Desc>(_::{year})', 'in index year'],
  [
    'N<Item>::WHERE(_::{price}::GTE(y))::ORDER<Desc>(_::{year})',
    'in index year, unless few by index price >= @y',
  ],
  ['N<Item>::WHERE(_::{year}::EQ(y))', 'by id, unless few by index year = @y'],
  ['N<Item>::ORDER<Asc NULLS FIRST>(_::{year})', undefined],
  ['N<Item>::ORDER<Asc>(_::{name})', undefined],
  ['N<Item>::ORDER<Asc>(_::{tags})', undefined],
  ['N<Item>::WHERE(DIV(6, _::{year})::GT(-100))', undefined],
  ['N<Item, Owner>', undefined],
];

test.each(cases)('%s, page by page [P8]', (body, seeks) => {
  const [planned, literal] = compiled(`${body}::{id}::PAGE(n, after)`);
  const text = printPlan(planned.plan);
  if (seeks === undefined) expect(text).not.toContain('seeking');
  else expect(text).toContain(`seeking ${seeks}`);
  for (const n of [1, 7, 100]) {
    let after: string | null = null;
    let pages = 0;
    do {
      const args = { n, y: 1, ...(after !== null && { after }) };
      const answer = shop.run(literal, args);
      expect(shop.run(planned, args), `${n} ${pages}`).toBe(answer);
      if (answer === 'ARITHMETIC') break;
      after = (JSON.parse(answer) as { data: Page }).data.next;
    } while (after !== null && ++pages < 200);
  }
});

test.each([
  ['N<Item>::ORDER<Desc>(_::{price})', 400],
  ['N<Item>::ORDER<Asc>(_::{year})', 900],
  ['N<Item>', 400],
])('%s: a page deep inside costs as the first [P8]', (body, most) => {
  const [planned, literal] = compiled(`${body}::{price}::PAGE(n, after)`);
  const far = pageOf(others, literal, { n: 4_000, y: 0 });
  const args = { n: 10, y: 0, after: far.next };
  const page = pageOf(others, planned, args, 2 * most + 2_048);
  expect(page).toEqual(pageOf(others, literal, args));
  expect(page.items).toHaveLength(10);
});

test.each([
  'N<Owner>',
  'N<Owner>::WHERE(_::{key}::NEQ("k1250"))',
  'N<Item>::WHERE(_::{price}::LT(3))',
])('%s: few among many others are still the whole [P8]', (body) => {
  const [planned, literal] = compiled(`${body}::{id}::PAGE(n, after)`);
  for (const n of [1, 5, 100]) {
    const found: unknown[] = [];
    let after: string | null = null;
    do {
      const args = { n, y: 0, ...(after !== null && { after }) };
      const page = pageOf(others, planned, args);
      expect(page).toEqual(pageOf(others, literal, args));
      found.push(...page.items);
      after = page.next;
    } while (after !== null);
    expect(found).toHaveLength(body.includes('Item') ? 2 : body.includes('WHERE') ? 11 : 12);
  }
});
