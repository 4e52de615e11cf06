// One filter for all searches of a fusion is evaluated one time. The results are those of each search with
// its own filter, also if the fusion runs again for every item with another filter.
import { afterAll, expect, test } from 'vitest';
import { printPlan } from '../../engine/plan/print-plan.js';
import { compileShop, Shop } from './shop.js';

const words = ['sun', 'rose', 'fern', 'soil'];
const size = 300;

const shop = new Shop((view, text) => {
  const [label, owner] = [
    view.catalog.find('vector', 'Label')!,
    view.catalog.find('node', 'Owner')!,
  ];
  for (let i = 0; i < size; i++) {
    const said = `${words[i % 4]} ${words[(i * 7) % 3]} ${i}`;
    const values = new Map([
      ['lang', `l${i % 5}`],
      ['text', said],
    ]);
    const vector = Float64Array.of(Math.cos(i), Math.sin(i));
    text.add(view, label.id, view.createVector(label, vector, values), [`l${i % 5}`, said]);
  }
  for (let i = 0; i < 4; i++) view.createNode(owner, new Map([['name', `l${i}`]]));
  return [];
});
afterAll(() => shop.close());

const vector = 'SearchV<Label>([1.0, 0.5], 20)';
const keyword = 'SearchBM25<Label>("sun fern", 20)';

const cases: [body: string, isShared: boolean][] = [
  [`RerankRRF(${vector}, ${keyword})::PREFILTER(_::{lang}::EQ("l1"))`, true],
  [`RerankRRF(${keyword}, ${vector}, ${keyword})::PREFILTER(_::{text}::CONTAINS("rose"))`, true],
  [`RerankRRF(${vector}, ${vector})::PREFILTER(_::{lang}::EQ(s))`, true],
  [
    `RerankRRF(${vector}::PREFILTER(_::{lang}::EQ(s)), ${keyword}::PREFILTER(_::{lang}::EQ(s)))`,
    true,
  ],
  [`RerankRRF(${vector}, ${keyword})::PREFILTER(_::{lang}::EQ("none"))`, true],
  [
    `N<Owner>::{ o <- _::{name}, n: RerankRRF(${keyword}, ${vector})::PREFILTER(_::{lang}::EQ(o))::ID }`,
    true,
  ],
  [`RerankRRF(${keyword}, ${keyword})::PREFILTER(_::{lang}::EQ(s))`, false],
  [
    `RerankRRF(${vector}::PREFILTER(_::{lang}::EQ(s)), ${keyword}::PREFILTER(_::{lang}::EQ("l2")))`,
    false,
  ],
  [`RerankRRF(${vector}, ${keyword})::PREFILTER(DIV(6, _::{text}::COUNT)::GT(2))`, false],
];

test.each(cases)('%s [P6]', (body, isShared) => {
  const [planned, literal] = [false, true].map(
    (as) => compileShop(`QUERY q(s: String) => x <- ${body} RETURN x`, as).queries[0]!,
  );
  expect(printPlan(planned!.plan).includes('shared as filter')).toBe(isShared);
  for (const s of ['l1', 'l3', 'x'])
    expect(shop.run(planned!, { s })).toBe(shop.run(literal!, { s }));
});

test('a filter without an index is evaluated one time for every element [P6]', () => {
  const searches = Array.from({ length: 6 }, () => vector).join(', ');
  const body = `QUERY q() => RETURN RerankRRF(${searches})::PREFILTER(_::{text}::CONTAINS("rose"))`;
  const [planned, literal] = [false, true].map((as) => compileShop(body, as).queries[0]!);
  const most = 6 * size;
  expect(shop.run(planned!, {}, most)).toBe(shop.run(literal!, {}));
  expect(shop.run(literal!, {}, most)).toBe('QUERY_WORK');
});
