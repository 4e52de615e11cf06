// Warnings of `check --slow` for short queries on the shop: which whole types are read without need, where,
// and what to write instead. It does not name queries that cannot be improved.
import { expect, test } from 'vitest';
import { compile } from '../../engine/lang/compile.js';
import { parameterText, shopText } from './shop.js';

const index = (name: string, type = 'Item'): string =>
  `Declare \`INDEX ${name}\` in \`N::${type}\`.`;
const back = (walk: string): string => `Begin at the other end and walk back: \`x${walk}::DEDUP\`.`;

/** The body, with what is named between bars, and what to do about each. */
const cases: [body: string, hints: string[]][] = [
  ['RETURN |N<Item>|::WHERE(_::{note}::EQ(s))', [index('note')]],
  ['RETURN |N<Item>|::WHERE(AND(_::{flag}::NEQ(true), _::{note}::GT(s)))', [index('note')]],
  [
    'RETURN |N<Item>|::WHERE(OR(_::{note}::EQ(s), _::{name}::IS_IN([s])))',
    [`${index('note')} ${index('name')}`],
  ],
  ['a <- |N<Item>|::WHERE(_::{note}::EQ(s))::COUNT RETURN a', [index('note')]],
  ['RETURN |N<Item>|::WHERE(_::Out<Likes>::{note}::EQ(s))', [back('::In<Likes>')]],
  [
    'RETURN |N<Item>|::WHERE(_::In<Likes>::Out<Likes>::{note}::EQ(s))',
    [back('::In<Likes>::Out<Likes>')],
  ],
  ['RETURN |N<Item>|::WHERE(_::In<Owns>::{note}::EQ(s))', [index('note', 'Owner')]],
  ['RETURN N<Item>::WHERE(EXISTS(_::In<Owns>))', []],
  ['RETURN |N<Item>|::ORDER<Desc>(_::{note})::RANGE(0, 3)', [index('note')]],
  ['RETURN |N<Item>|::ORDER<Asc, Desc>(_::{note}, _::{year})::FIRST', [index('note')]],
  ['RETURN |N<Item>|::ORDER<Asc, Desc>(_::{note}, _::{year})::PAGE(5, os)', [index('note')]],
  ['RETURN N<Item>::ORDER<Asc, Desc>(_::{year}, _::{note})::PAGE(5, os)', []],
  ['RETURN N<Item>::PAGE(5, os)', []],
  ['RETURN |N<Item>|::ORDER<Asc NULLS FIRST>(_::{note})::RANGE(0, 3)', [index('note')]],
  ['RETURN N<Item>::ORDER<Asc NULLS FIRST>(_::{year})::RANGE(0, 3)', []],
  ['RETURN N<Item>::ORDER<Asc NULLS FIRST>(_::{note})::PAGE(5, os)', []],
  ['RETURN N<Item>::WHERE(_::{year}::EQ(y))::ORDER<Desc>(_::{price})::RANGE(0, 3)', []],
  ['RETURN N<Item>::WHERE(_::{price}::GT(p))::PAGE(5, os)', []],
  ['RETURN N<Item>(|{note: s}|)', [index('note')]],
  ['RETURN N<Owner>::{ key, rest: |N<Item>|::WHERE(_::{note}::EQ(s))::COUNT }', [index('note')]],
  [
    'a <- |N<Item>|::WHERE(_::{note}::EQ(s)) b <- |N<Item>|::WHERE(_::{name}::EQ(s)) RETURN a, b',
    [index('note'), index('name')],
  ],
  ['RETURN |N<Item>|::WHERE(_::{note}::STARTS_WITH(s))', [index('note')]],
  ['RETURN N<Item>::WHERE(_::{key}::STARTS_WITH(s))', []],
  ['RETURN N<Item>::WHERE(YEAR(_::{made})::EQ(y))', []],
  // From the other end, by an id or an index there.
  ['RETURN N<Item>::WHERE(_::In<Owns>::{name}::EQ(s))', []],
  ['RETURN N<Item>::WHERE(_::Out<Likes>::Out<Likes>::CONTAINS(id))', []],
  // An index, an id, an edge, nothing to choose from, or all is asked for.
  ['RETURN N<Item>::WHERE(_::{year}::EQ(y))', []],
  ['RETURN N<Item>::WHERE(_::ID::IS_IN(ids))', []],
  ['RETURN N<Item>::WHERE(_::In<Owns>::ID::EQ(id))', []],
  ['RETURN N<Item>({key: s})', []],
  ['RETURN N<Item>::ORDER<Desc>(_::{year})::RANGE(0, 3)', []],
  ['RETURN N<Item>::ORDER<Desc>(_::{note})', []],
  ['RETURN N<Item>::WHERE(_::{note}::NEQ(s))', []],
  ['RETURN N<Item>::WHERE(_::{note}::CONTAINS(s))', []],
  ['RETURN N<Item>::WHERE(OR(_::{note}::EQ(s), _::{name}::NEQ(s)))', []],
  ['RETURN N<Item>', []],
  ['RETURN N<Item>(id)::Out<Likes>::WHERE(_::{note}::EQ(s))', []],
];

test.each(cases)('%s', (marked, hints) => {
  const query = `QUERY q(${parameterText}) => ${marked}`;
  const parts = query.split('|');
  const text = `${shopText}${parts.join('')}`;
  const places = parts.flatMap((_, i) =>
    i % 2 === 1 ? [1 + parts.slice(0, i).join('').length] : [],
  );
  const said = (slow: boolean) =>
    compile([{ path: 'a.hx', text }], { compat: false, slow }).diagnostics.filter(
      ({ code }) => code === 'W120',
    );
  expect(said(false)).toEqual([]);
  expect(said(true).map(({ column, hint }) => [column, hint])).toEqual(
    hints.map((hint, i) => [places[i], hint]),
  );
});
