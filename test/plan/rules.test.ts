// Every rule of the planner, and where it must not apply: printed plans of short queries on the
// shop.
import { expect, test } from 'vitest';
import { printPlan } from '../../engine/plan/print-plan.js';
import { compileShop, parameterText } from './shop.js';

const cases: [name: string, body: string, plan: string[]][] = [
  [
    'equality',
    'RETURN N<Item>::WHERE(_::{year}::EQ(y))',
    ['data: (find N<Item> by index year = @y -> many)'],
  ],
  [
    'a unique index before any other, the rest stays',
    'RETURN N<Item>::WHERE(AND(_::{year}::EQ(y), _::{note}::EQ(s), _::{key}::EQ(s)))',
    [
      'data: (find N<Item> by unique index key = @s | where $0: and(($0.year EQ @y), ($0.note EQ @s)) -> many)',
    ],
  ],
  [
    'both bounds of a range, from conditions in a row',
    'RETURN N<Item>::WHERE(_::{year}::GT(1))::WHERE(_::{year}::LTE(y))::COUNT',
    ['data: (find N<Item> by index year > 1 <= @y | count -> one)'],
  ],
  [
    'members of a list',
    'RETURN N<Item>::WHERE(_::{year}::IS_IN(ys))',
    ['data: (find N<Item> by index year in @ys -> many)'],
  ],
  ['an id', 'RETURN N<Item>::WHERE(_::ID::EQ(id))', ['data: (find N<Item> by id = @id -> many)']],
  [
    'edges of a known element',
    'RETURN E<Owns>::WHERE(_::FromN::ID::EQ(id))',
    ['data: (find E<Owns> among out edges Owns of @id -> many)'],
  ],
  [
    'elements beside a known one',
    'RETURN N<Item>::WHERE(_::In<Owns>::ID::EQ(id))::{key, note}',
    [
      'data: project (find N<Item> at out edges Owns of @id -> many) as $2 {key: $2.key, note: $2.note}',
    ],
  ],
  [
    'ids of known elements',
    'z <- N<Item>({year: y}) RETURN N<Item>::WHERE(_::ID::IS_IN(z::ID)), z',
    [
      '$0 = (lookup N<Item>.year = @y -> many)',
      'data: (find N<Item> by id in ($0 | map $2: $2.id -> many) -> many)',
      'z: $0',
    ],
  ],
  [
    'values that are the same for all items, asked once',
    'z <- N<Item>({year: y}) RETURN N<Item>::WHERE(_::{note}::IS_IN(z::{note})), z',
    [
      '$0 = (lookup N<Item>.year = @y -> many)',
      'data: (scan N<Item> | where $1: ($1.note IS_IN once(($0 | map $3: $3.note -> many))) -> many)',
      'z: $0',
    ],
  ],
  [
    'elements beside some of a list, in either direction',
    'RETURN N<Item>::WHERE(OR(_::Out<Likes>::ID::IS_IN(ids), _::In<Likes>::ID::IS_IN(ids)))',
    [
      'data: find N<Item> at in edges Likes of each of @ids or at out edges Likes of each of @ids -> many',
    ],
  ],
  [
    'a walk of several steps to a known element, back',
    'RETURN N<Item>::WHERE(_::Out<Likes>::In<Owns>::ID::EQ(id))',
    ['data: (find N<Item> back along out Owns, in Likes from @id -> many)'],
  ],
  [
    'a walk to elements that an index finds, back',
    'RETURN N<Item>::WHERE(_::Out<Likes>::{year}::GT(y))::COUNT',
    [
      'data: (find N<Item> back along in Likes from each of (find N<Item> by index year > @y -> many) | count -> one)',
    ],
  ],
  [
    'a walk to elements that no index finds',
    'RETURN N<Item>::WHERE(_::Out<Likes>::{note}::EQ(s))',
    [
      'data: (scan N<Item> | where $0: (($0 | out Likes | map $1: $1.note -> many) EQ any @s) or, asked of many, back along in Likes from each of (scan N<Item> | where $3: ($3.note EQ @s) -> many) -> many)',
    ],
  ],
  [
    'several types, each by its own index',
    'RETURN N<Item, Owner>::WHERE(_::{key}::EQ(s))',
    [
      'data: find N<Item>, N<Owner> Item by unique index key = @s, Owner by unique index key = @s -> many',
    ],
  ],
  [
    'several types, one without an index',
    'RETURN N<Item, Owner>::WHERE(_::{name}::EQ(s))',
    ['data: (scan N<Item>, N<Owner> | where $0: ($0.name EQ @s) -> many)'],
  ],
  [
    'alternatives with an index each',
    'RETURN N<Item>::WHERE(OR(_::{year}::EQ(y), _::{key}::EQ(s)))',
    ['data: (find N<Item> by index year = @y or by unique index key = @s -> many)'],
  ],
  [
    'alternatives that an index decides in part',
    'RETURN N<Item>::WHERE(OR(_::{year}::EQ(y), AND(_::{key}::EQ(s), _::{note}::EQ(s))))',
    [
      'data: (find N<Item> by index year = @y or by unique index key = @s | where $0: or(($0.year EQ @y), and(($0.key EQ @s), ($0.note EQ @s))) -> many)',
    ],
  ],
  [
    'an alternative without an index',
    'RETURN N<Item>::WHERE(OR(_::{year}::EQ(y), _::{note}::EQ(s)))',
    ['data: (scan N<Item> | where $0: or(($0.year EQ @y), ($0.note EQ @s)) -> many)'],
  ],
  [
    'no index: the type is read',
    'RETURN N<Item>::WHERE(_::{note}::EQ(s))',
    ['data: (scan N<Item> | where $0: ($0.note EQ @s) -> many)'],
  ],
  [
    'an inequality excludes too little',
    'RETURN N<Item>::WHERE(_::{year}::NEQ(y))',
    ['data: (scan N<Item> | where $0: ($0.year NEQ @y) -> many)'],
  ],
  [
    'a condition that may fail before it',
    'RETURN N<Item>::WHERE(AND(DIV(6, _::{year})::GT(2), _::{year}::EQ(y)))',
    ['data: (scan N<Item> | where $0: and((DIV(6, $0.year) GT 2), ($0.year EQ @y)) -> many)'],
  ],
  [
    'a condition that may fail behind it',
    'RETURN N<Item>::WHERE(AND(_::{year}::EQ(y), DIV(6, _::{year})::GT(2)))',
    ['data: (find N<Item> by index year = @y | where $0: (DIV(6, $0.year) GT 2) -> many)'],
  ],
  [
    'a value that depends on the item',
    'RETURN N<Item>::WHERE(_::{name}::EQ(_::{note}))',
    ['data: (scan N<Item> | where $0: ($0.name EQ $0.note) -> many)'],
  ],
  [
    'a repetition from many whose elements are counted once [P12]',
    'RETURN N<Owner>::Out<Owns>::Out<Likes>{1, 3}::DEDUP::WHERE(_::{year}::GT(y))::COUNT',
    [
      'data: (scan N<Owner> | out Owns | walk out Likes 1..3 from all at once | dedup | where $0: ($0.year GT @y) | count -> one)',
    ],
  ],
  [
    'a repetition whose order or hops are read, or that begins further on',
    'a <- N<Owner>::Out<Owns> b <- a::Out<Likes>{1, 3}::DEDUP c <- a::Out<Likes>{1, 3}::DEDUP::WHERE(_::{hops}::GT(1))::COUNT f <- a::Out<Likes>{2, 3}::DEDUP::COUNT RETURN b, c, f',
    [
      '$0 = (scan N<Owner> | out Owns -> many)',
      '$1 = ($0 | walk out Likes 1..3 | dedup -> many)',
      '$4 = ($0 | walk out Likes 1..3 | dedup | where $2: ($2.hops GT 1) | count -> one)',
      '$5 = ($0 | walk out Likes 2..3 | dedup | count -> one)',
      'b: $1',
      'c: $4',
      'f: $5',
    ],
  ],
  [
    'texts with a beginning [P7]',
    'RETURN N<Owner>::WHERE(_::{name}::STARTS_WITH(s))',
    ['data: (find N<Owner> by index name beginning with @s -> many)'],
  ],
  [
    'a year [P7]',
    'RETURN N<Item>::WHERE(YEAR(_::{made})::EQ(y))',
    ['data: (find N<Item> by index made by year = @y -> many)'],
  ],
  [
    'months up to one, from a year on [P7]',
    'RETURN N<Item>::WHERE(AND(TRUNC(_::{made}, "month")::LT(d), YEAR(_::{made})::GTE(y)))',
    ['data: (find N<Item> by index made by year >= @y by month < @d -> many)'],
  ],
  [
    'the order of an index within a beginning [P7]',
    'RETURN N<Owner>::WHERE(_::{name}::STARTS_WITH(s))::ORDER<Desc>(_::{name})::FIRST',
    ['data: (find N<Owner> in order of index name desc beginning with @s | first -> opt)'],
  ],
  [
    'a unit that may be none, a value that names the item, the end of a text',
    'RETURN N<Item>::WHERE(AND(TRUNC(_::{made}, s)::LT(d), _::{key}::STARTS_WITH(_::{name}), _::{key}::ENDS_WITH(s)))',
    [
      'data: (scan N<Item> | where $0: and((TRUNC($0.made, @s) LT @d), ($0.key STARTS_WITH $0.name), ($0.key ENDS_WITH @s)) -> many)',
    ],
  ],
  [
    'the order of an index, cut off',
    'RETURN N<Item>::ORDER<Desc>(_::{year})::RANGE(0, 3)',
    ['data: (find N<Item> in order of index year desc | range 0 to 3 -> many)'],
  ],
  [
    'the order of an index within bounds',
    'RETURN N<Item>::WHERE(_::{year}::GTE(y))::ORDER<Asc>(_::{year})::FIRST',
    ['data: (find N<Item> in order of index year asc >= @y | first -> opt)'],
  ],
  [
    'the order of an index under other conditions, if it is cut off',
    'RETURN N<Item>::WHERE(_::{note}::EQ(s))::ORDER<Asc>(_::{year})::RANGE(0, 3)',
    [
      'data: (find N<Item> in order of index year asc | where $0: ($0.note EQ @s) | range 0 to 3 -> many)',
    ],
  ],
  [
    'the index of the first of several keys, cut off',
    'RETURN N<Item>::ORDER<Desc, Asc>(_::{year}, _::{note})::RANGE(0, 3)',
    [
      'data: (find N<Item> in order of index year desc | top $0: $0.year desc, $0.note asc sorted by the first | range 0 to 3 -> many)',
    ],
  ],
  [
    'the same under a condition that no path decides',
    'RETURN N<Item>::WHERE(_::{note}::NEQ(s))::ORDER<Asc>(_::{year}, _::{price})::FIRST',
    [
      'data: (find N<Item> in order of index year asc | where $0: ($0.note NEQ @s) | top asc $2: $2.year, $2.price sorted by the first | first -> opt)',
    ],
  ],
  [
    'keys of which one may fail',
    'RETURN N<Item>::ORDER<Asc>(_::{year}, DIV(1, _::{price}))::FIRST',
    ['data: (scan N<Item> | top asc $0: $0.year, DIV(1, $0.price) | first -> opt)'],
  ],
  [
    'nulls before all others',
    'RETURN N<Item>::ORDER<Asc NULLS FIRST>(_::{year}, _::{note})::FIRST',
    [
      'data: (scan N<Item> | top asc nulls first $0: $0.year, $0.note seeking in index year | first -> opt)',
    ],
  ],
  [
    'all rows by several keys',
    'RETURN N<Item>::ORDER<Asc>(_::{year}, _::{note})',
    ['data: (scan N<Item> | order asc $0: $0.year, $0.note -> many)'],
  ],
  [
    'an order without an index keeps the best rows',
    'RETURN N<Item>::ORDER<Asc>(_::{note})::RANGE(0, 3)',
    ['data: (scan N<Item> | top asc $0: $0.note | range 0 to 3 -> many)'],
  ],
  [
    'a condition goes below an order',
    'RETURN N<Item>::ORDER<Asc>(_::{note})::WHERE(_::{year}::EQ(y))',
    ['data: (find N<Item> by index year = @y | order asc $0: $0.note -> many)'],
  ],
  [
    'a condition stays above a slice',
    'RETURN N<Item>::RANGE(0, 3)::WHERE(_::{year}::EQ(y))',
    ['data: (scan N<Item> | range 0 to 3 | where $0: ($0.year EQ @y) -> many)'],
  ],
  [
    'a count needs no order',
    'RETURN N<Item>::ORDER<Asc>(_::{note})::COUNT',
    ['data: (scan N<Item> | count -> one)'],
  ],
  [
    'a count above zero asks for any',
    'RETURN N<Item>::WHERE(AND(_::Out<Likes>::COUNT::GT(0), _::In<Likes>::COUNT::EQ(0)))',
    [
      'data: (find N<Item> at each of (scan E<Likes> | from end -> many) | where $0: not(exists(($0 | in Likes -> many)) or, asked of many, at each of (scan E<Likes> | to end -> many)) -> many)',
    ],
  ],
  [
    'a count that is compared goes no further than the number',
    'RETURN N<Owner>::WHERE(_::Out<Owns>::WHERE(_::{note}::EQ("x"))::COUNT::EQ(2))::WHERE(_::Out<Owns>::COUNT::GTE(2))',
    [
      'data: (find N<Owner> the fewest of back along in Owns from each of (scan N<Item> | where $1: ($1.note EQ "x") -> many) and of at each of (scan E<Owns> | from end -> many) | where $0: and((($0 | out Owns | where $1: ($1.note EQ "x") | range 0 to 3 | count -> one) EQ 2), (($0 | out Owns | count -> one) GTE 2)) -> many)',
    ],
  ],
  [
    'likewise of a list that is counted, but not of one whose items may be null',
    'RETURN N<Owner>::WHERE(COUNT(_::Out<Owns>::In<Owns>)::LT(3))::WHERE(COUNT(_::Out<Owns>::In<Owns>::{name})::LT(3))',
    [
      'data: (scan N<Owner> | where $0: and((COUNT of ($0 | out Owns | in Owns | range 0 to 3 -> many) integer LT 3), (COUNT of ($0 | out Owns | in Owns | map $2: $2.name -> many) integer LT 3)) -> many)',
    ],
  ],
  [
    'edges and their far ends are neighbours',
    'RETURN N<Item>(id)::OutE<Likes>::ToN',
    ['data: (byId N<Item> @id | out Likes -> many)'],
  ],
  [
    'variables that are read once join',
    'all <- N<Item> old <- all::WHERE(_::{year}::LT(y)) RETURN old::RANGE(0, 3)',
    ['data: (find N<Item> by index year < @y | range 0 to 3 -> many)'.replace('data', 'old')],
  ],
  [
    'a variable that may fail goes past what cannot',
    'o <- N<Owner>(id) i <- o::Out<Owns> c <- N<Item>::COUNT RETURN c, i',
    ['$2 = (scan N<Item> | count -> one)', 'c: $2', 'i: (byId N<Owner> @id | out Owns -> many)'],
  ],
  [
    'a variable that may fail stays before what may fail too',
    'o <- N<Owner>(id) c <- DIV(1, y) RETURN c, o',
    ['$0 = (byId N<Owner> @id -> one)', '$1 = DIV(1, @y)', 'c: $1', 'o: $0'],
  ],
  [
    'a walk in either direction, back',
    'RETURN N<Item>::WHERE(_::Both<Likes>::CONTAINS(id))',
    ['data: (find N<Item> back along both Likes from @id -> many)'],
  ],
  [
    'conditions on the way, back',
    'RETURN N<Item>::WHERE(EXISTS(_::Out<Likes>::WHERE(_::{note}::NEQ(s))::In<Owns>::WHERE(_::{key}::EQ(s))))',
    [
      'data: find N<Item> back along in Likes from each of (find N<Owner> by unique index key = @s | out Owns | dedup | where $1: ($1.note NEQ @s) -> many) -> many',
    ],
  ],
  [
    'edges by what is at an end of them',
    'RETURN E<Owns>::WHERE(_::FromN::{key}::EQ(s))',
    [
      'data: find E<Owns> back along out Owns from each of (find N<Owner> by unique index key = @s -> many) -> many',
    ],
  ],
  [
    'elements of another type that no index finds, back',
    'RETURN N<Item>::WHERE(_::In<Owns>::{note}::EQ(s))',
    [
      'data: find N<Item> back along out Owns from each of (scan N<Owner> | where $2: ($2.note EQ @s) -> many) -> many',
    ],
  ],
  [
    'the shorter of two lists',
    'RETURN N<Item>::WHERE(AND(_::{year}::EQ(y), _::Out<Likes>::CONTAINS(id)))',
    [
      'data: (find N<Item> the fewest of by index year = @y and of at in edges Likes of @id | where $0: and(($0.year EQ @y), (($0 | out Likes -> many) CONTAINS @id)) -> many)',
    ],
  ],
  [
    'a variable that is read twice stays',
    'a <- N<Item>::WHERE(_::{flag}::NEQ(true)) c <- a::COUNT RETURN c, a',
    [
      '$2 = (scan N<Item> | where $0: ($0.flag NEQ true) -> many)',
      '$3 = ($2 | count -> one)',
      'c: $3',
      'a: $2',
    ],
  ],
  [
    'all of a type is read again',
    'a <- N<Item> b <- a::WHERE(_::{year}::EQ(y)) c <- a::COUNT RETURN b, c',
    ['$4 = (scan N<Item> | count -> one)', 'b: (find N<Item> by index year = @y -> many)', 'c: $4'],
  ],
  [
    'a prefilter is found like a condition of a scan',
    'RETURN SearchV<Label>([1.0], 3)::PREFILTER(AND(_::{lang}::EQ(s), _::{text}::NEQ("")))',
    [
      'data: search V<Label> near [1] k 3 prefilter $0: and(($0.lang EQ @s), ($0.text NEQ "")) found by index lang = @s -> many',
    ],
  ],
  [
    'a variable that is read for every item stays',
    'a <- N<Owner> RETURN N<Item>::WHERE(_::In<Owns>::CONTAINS(a::FIRST))',
    [],
  ],
];

for (const [name, body, plan] of cases) {
  test(name, () => {
    const { queries } = compileShop(`QUERY q(${parameterText}) => ${body}`, false);
    const [, ...lines] = printPlan(queries[0]!.plan).split('\n');
    const joined = lines.map((line) => line.trim()).join(' ');
    const clean = joined
      .replace(/ -> many \|/g, ' |')
      .replaceAll('return ', '\n')
      .trim();
    if (plan.length > 0) expect(unfolded(lines)).toEqual(plan);
    else expect(clean).toContain('$0 = (scan N<Owner> -> many)');
  });
}

/** Plans on one line each, as short ones are printed. */
function unfolded(lines: readonly string[]): string[] {
  const whole: string[] = [];
  for (const line of lines.map((each) => each.trim())) {
    if (!line.startsWith('| ')) whole.push(line.replace(/^return /, ''));
    else whole[whole.length - 1] += ` ${line}`;
  }
  return whole.map((line) => {
    const match = /^((?:\$\d+ =|\w+:)) ([^(].*) -> (many|one|opt)((?: \| .*)+)$/.exec(line);
    return match ? `${match[1]} (${match[2]}${match[4]} -> ${match[3]})` : line;
  });
}
