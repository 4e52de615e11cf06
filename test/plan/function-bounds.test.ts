// Conditions on a part of an indexed property: its beginning, its year, its unit of time. The index
// leads to the very elements that reading the type finds, at every edge of every unit, and looks at
// few others.
import { afterAll, expect, test } from 'vitest';
import { addUnits, truncate } from '../../engine/base/calendar.js';
import { parseDate, printDate } from '../../engine/base/date.js';
import { Instant } from '../../engine/base/value.js';
import type { WriteView } from '../../engine/storage/table/view-types.js';
import { compileShop, Shop } from './shop.js';

const units = ['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'];

/** On both sides of 1970, at both ends of the calendar. */
const some = ['0001-01-01', '1969-12-31T23:59:59.5Z', '2024-02-29T12:30:15Z', '2026-01-05'];
const last = parseDate('9999-12-31T23:59:59.999999Z')!;

/** Around the beginnings of a unit. */
function around(unit: string): Instant[] {
  const near = some.flatMap((text) => {
    const date = parseDate(text)!;
    const begin = truncate(date, unit);
    const next = addUnits(begin, 1, unit)!;
    const early = new Instant(next.seconds - 1, 999_999);
    return [date, begin, new Instant(begin.seconds, 1), early, next];
  });
  return [...near, last];
}

const dates = [...new Set(units.flatMap(around).map((each) => printDate(each)))];
const high = String.fromCodePoint(0x10ffff);
const names = [
  '',
  'a',
  'ab',
  'abc',
  'b',
  'é',
  '\ud7ff',
  '\ud7ffx',
  '\ue000',
  '😀',
  '😀a',
  '\uffff',
];
const texts = [...names, high, `${high}a`, `a${high}`, `a${high}b`, 'a\u0000', 'x'.repeat(300)];

function fill(view: WriteView): [] {
  const [item, owner] = ['Item', 'Owner'].map((name) => view.catalog.find('node', name)!);
  for (const made of dates) view.createNode(item!, new Map([['made', parseDate(made)!]]));
  for (const name of texts) view.createNode(owner!, new Map([['name', name]]));
  view.createNode(item!, new Map());
  view.createNode(owner!, new Map());
  return [];
}

const shop = new Shop(fill);
afterAll(() => shop.close());

function eachAnswer(body: string, parameter: string, given: readonly unknown[]): void {
  const source = `QUERY q(v?: ${parameter}) => RETURN ${body}`;
  const [planned, literal] = [false, true].map((as) => compileShop(source, as).queries[0]!);
  for (const v of given) {
    expect(shop.run(planned!, { v }), `${body} ${String(v)}`).toBe(shop.run(literal!, { v }));
  }
}

test.each(['EQ', 'NEQ', 'GT', 'GTE', 'LT', 'LTE'])(
  'the year and the unit of a date, %s [P7]',
  (is) => {
    for (const unit of units) {
      const given = [...around(unit).map((each) => printDate(each)), null];
      eachAnswer(`N<Item>::WHERE(TRUNC(_::{made}, "${unit}")::${is}(v))::ID`, 'Date', given);
    }
    const years = [-1, 0, 0.5, 1, 1.5, 1969, 1969.5, 2024, 9998, 9999, 9999.5, 1e300, null];
    eachAnswer(`N<Item>::WHERE(YEAR(_::{made})::${is}(v))::ID`, 'F64', years);
    eachAnswer(`N<Item>::WHERE(YEAR(_::{made})::${is}(v))::ID`, 'F32', [1969.5, 2024, 2026, null]);
  },
);

test('the beginning of a text [P7]', () => {
  eachAnswer('N<Owner>::WHERE(_::{name}::STARTS_WITH(v))::ID', 'String', [...texts, 'abcd', null]);
  eachAnswer('N<Owner>::WHERE(!_::{name}::STARTS_WITH(v))::ID', 'String', [...texts, null]);
});

test.each([
  ['N<Item>::WHERE(YEAR(_::{made})::EQ(9999))::COUNT', '{"data":1}'],
  ['N<Item>::WHERE(TRUNC(_::{made}, "day")::LT("0001-01-02"))::COUNT::GT(1)', '{"data":true}'],
  ['N<Owner>::WHERE(_::{name}::STARTS_WITH("abc"))::{name}', '{"data":[{"name":"abc"}]}'],
])('%s reads what it finds [P7]', (body, answer) => {
  const [query] = compileShop(`QUERY q() => RETURN ${body}`, false).queries;
  expect(shop.run(query!, {}, 20)).toBe(answer);
});
