// A small shop on real storage, with an index of every kind of property, and random queries over it
// as text: what the planner's choices are tested on.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseDate } from '../../engine/base/date.js';
import { TrellisError } from '../../engine/base/errors.js';
import { printUuid } from '../../engine/base/id.js';
import { defaultLimits } from '../../engine/base/limits.js';
import { type Scalar, type ScalarList, Uuid } from '../../engine/base/value.js';
import type { ExecutionContext } from '../../engine/exec/runtime/execute.js';
import { execute } from '../../engine/exec/run.js';
import { decodeParameters } from '../../engine/json/decode.js';
import { compile } from '../../engine/lang/compile.js';
import type { Query } from '../../engine/plan/plan.js';
import type { Program } from '../../engine/plan/program.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import { uuidAt } from '../../engine/storage/record/record.js';
import type { WriteView } from '../../engine/storage/table/view-types.js';
import { createTextIndex } from '../../engine/text/text-index.js';
import type { TextIndex } from '../../engine/text/text-index-types.js';

export const shopText = `
N::Item { UNIQUE INDEX key: String, INDEX year: I32, INDEX price: F64, INDEX weight: F32,
          INDEX made: Date, INDEX big: U64, INDEX flag: Boolean, INDEX tags: [String],
          INDEX twin: ID, name: String, note: String }
N::Owner { UNIQUE INDEX key: String, INDEX name: String, note: String }
V::Label { INDEX lang: String, text: String }
E::Owns { From: Owner, To: Item, Properties: { INDEX since: I32 } }
E::Likes { From: Item, To: Item }
`;

/** Compiles queries over the shop; `literal`: as they are written. */
export function compileShop(queries: string, literal: boolean): Program {
  const sources = [{ path: 'shop.hx', text: `${shopText}\n${queries}` }];
  const { program, diagnostics } = compile(sources, { compat: false, literal });
  if (program === undefined) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    throw new TypeError(errors.map((each) => `${each.code} ${each.message}`).join('\n') + queries);
  }
  return program;
}

const years = [-3, 0, 1, 1, 2, 2, 2, 3, 250];
const dates = ['2026-01-01', '2026-01-02', '2026-03-01'].map((text) => parseDate(text)!);
const some = <T>(list: readonly T[], n: number): T => list[n % list.length]!;

/** Values of the n-th item: few, so that they meet; now and then unset. */
function itemValues(n: number, roll: () => number): Map<string, Scalar | ScalarList> {
  const values: Record<string, Scalar | ScalarList> = {
    key: `k${n}`,
    year: some(years, roll()),
    price: some([-1.5, 0, 0.5, 1, 2.5, 1e20], roll()),
    weight: some([0.1, 0.2, 1.1, 16_777_217], roll()),
    made: some(dates, roll()),
    big: some([0, 7, 9_007_199_254_740_993n, 18_446_744_073_709_551_615n], roll()),
    flag: roll() % 2 === 0,
    tags: some([[], ['a'], ['a', 'b'], ['b']], roll()),
    name: some(['x', 'y', '', 'é', '😀', 'x\u0000'], roll()),
    note: some(['x', 'y'], roll()),
  };
  return new Map(Object.entries(values).filter(() => roll() % 6 !== 0));
}

/** A repeatable sequence of numbers. */
function dice(): () => number {
  let state = 12345;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 12;
  };
}

const items = 90;
const owners = 5;

function fill(view: WriteView): Uuid[] {
  const roll = dice();
  const label = (kind: 'node' | 'edge', name: string) => view.catalog.find(kind, name)!;
  const people = Array.from({ length: owners }, (_, i) =>
    view.createNode(
      label('node', 'Owner'),
      new Map([
        ['name', `o${i % 3}`],
        ['key', `k${i}`],
        ...(i % 2 === 0 ? ([['note', 'x']] as const) : []),
      ]),
    ),
  );
  const things = Array.from({ length: items }, (_, i) =>
    view.createNode(label('node', 'Item'), itemValues(i, roll)),
  );
  for (let i = 0; i < 150; i++) {
    const since = new Map(roll() % 4 === 0 ? [] : [['since', roll() % 5]]);
    view.createEdge(label('edge', 'Owns'), some(people, roll()), some(things, roll()), since);
    view.createEdge(label('edge', 'Likes'), some(things, roll()), some(things, roll()), new Map());
  }
  // Gaps in the ids, and index entries that came and went.
  for (const id of things.filter(() => roll() % 9 === 0)) {
    for (const edge of view.incident(id)) view.remove(edge);
    view.remove(id);
  }
  return [...people, ...things].flatMap((id) => {
    const record = view.record(id);
    return record === undefined ? [] : [new Uuid(printUuid(record, uuidAt.own))];
  });
}

export class Shop {
  readonly #folder = mkdtempSync(join(tmpdir(), 'trellis-plan-'));
  readonly #storage = openStorage(this.#folder, { limits: defaultLimits, mode: 'create' });
  /** Ids of all owners, then items. */
  readonly ids: string[] = [];
  readonly text = createTextIndex(defaultLimits);

  /** With the usual things, or what `fillWith` makes. */
  constructor(fillWith: (view: WriteView, text: TextIndex) => Uuid[] = fill) {
    this.#storage.applySchema(compileShop('', false), {
      text: this.text,
      nowMs: 1_770_000_000_000,
    });
    this.#storage.commitGroup((group) => {
      const made = group.request(1_770_000_000_000, (view) => fillWith(view, this.text));
      this.ids.push(...made.map(({ text: id }) => id));
    });
  }

  /** What a query answers: its body, or the code of its error; a limit of its visits, if not 0. */
  run(query: Query, args: object, visitsMost = 0, memoryMost = 0): string {
    return this.measure(query, args, visitsMost, memoryMost).answer;
  }

  /** The same, with the visits of an answer. */
  measure(
    { name, plan }: Query,
    args: object,
    visitsMost = 0,
    memoryMost = 0,
  ): { answer: string; visits: number } {
    const body = Buffer.from(JSON.stringify(args));
    const values = decodeParameters(body, plan.parameters, name, defaultLimits, false);
    const memory = memoryMost === 0 ? {} : { query_memory: memoryMost };
    const context: ExecutionContext = {
      view: this.#storage.reader(),
      vectors: () => undefined,
      text: this.text,
      now: dates[1]!,
      limits: { ...defaultLimits, query_visits: visitsMost, ...memory },
      cancelled: () => false,
      budgetMs: 1000,
      embeddings: new Map(),
    };
    try {
      const { body: bytes, visits } = execute(plan, values, context);
      return { answer: Buffer.from(bytes).toString(), visits: visits ?? Number.NaN };
    } catch (error) {
      if (!(error instanceof TrellisError)) throw error;
      return { answer: error.code, visits: Number.NaN };
    }
  }

  close(): void {
    this.#storage.close();
    rmSync(this.#folder, { recursive: true });
  }
}

/** The parameters of every generated query. */
export const parameterText =
  'y: I32, oy?: I32, p: F64, d: Date, u: U64, s: String, os?: String, id: ID, oid?: ID, ' +
  'ids: [ID], ys: [I32], n: U8, m: U8';

const order = fc.constantFrom('GT', 'GTE', 'LT', 'LTE');
const relation = fc.oneof({ arbitrary: fc.constant('EQ'), weight: 2 }, order, fc.constant('NEQ'));
const test = (property: string, ...values: string[]) =>
  fc.tuple(relation, fc.constantFrom(...values)).map(([op, v]) => `_::{${property}}::${op}(${v})`);

const plainTest = fc.oneof(
  test('year', '1', '2', '2.5', '-1', '0', 'y', 'oy', 'NONE', 'p', 'u'),
  test('price', '1', '0.5', 'p', 'y', 'u', '9007199254740993'),
  test('weight', '0.1', '0.2', 'p', 'y', '16777217'),
  test('made', 'd', '"2026-01-02"', 'NOW'),
  test('big', 'u', '7', '9007199254740993', 'p', 'y'),
  test('flag', 'true', 'false'),
  test('name', 's', '"x"', 'os'),
  test('twin', 'id', 'oid'),
  fc
    .tuple(order, fc.constantFrom('y', '2026', '2025.5', 'oy'))
    .map(([o, v]) => `YEAR(_::{made})::${o}(${v})`),
  fc
    .tuple(relation, fc.constantFrom('d', 'NOW'))
    .map(([o, v]) => `TRUNC(_::{made}, "month")::${o}(${v})`),
  fc.constantFrom(
    '_::{key}::STARTS_WITH(s)',
    '_::{key}::STARTS_WITH("k1")',
    '_::{key}::STARTS_WITH(os)',
  ),
  fc.constantFrom('_::{key}::EQ(s)', '_::{key}::EQ("k5")', '_::{key}::IS_IN(["k3", "k1", s])'),
  fc.constantFrom('_::{year}::IS_IN(ys)', '_::{year}::IS_IN([2, 0, 2])', '_::{tags}::EQ(["a"])'),
  fc.constantFrom('_::ID::EQ(id)', '_::{id}::EQ(oid)', '_::ID::IS_IN(ids)', '_::ID::NEQ(id)'),
  fc.constantFrom('_::In<Owns>::ID::EQ(id)', '_::In<Owns>::{id}::EQ(oid)', '_::Out<Likes>::EQ(id)'),
  fc.constantFrom('EXISTS(_::Out<Likes>)', 'EXISTS(_::In<Owns>::WHERE(_::ID::EQ(id)))'),
  fc.constantFrom('_::Out<Likes>::COUNT::GT(0)', '_::In<Likes>::COUNT::EQ(0)', '_::{flag}'),
  fc.constantFrom('_::Out<Likes>::COUNT::GTE(1)', '_::Out<Likes>::{year}::GT(1)'),
  fc.constantFrom('_::OutE<Likes>::ToN::ID::EQ(id)', 'EXISTS(_::Out<Likes>::Out<Likes>)'),
  // Operands that are the same for all items.
  fc.constantFrom(
    '_::ID::IS_IN(z::ID)',
    '_::ID::IS_IN(z)',
    '_::ID::IS_IN([id, oid, z::FIRST::ID])',
  ),
  fc.constantFrom('_::{year}::IS_IN(z::{year})', '_::{key}::IS_IN(z::Out<Likes>::{key})'),
  fc.constantFrom('_::Out<Likes>::ID::IS_IN(ids)', '_::In<Likes>::ID::IS_IN(z::ID)'),
  fc.constantFrom('_::In<Owns>::ID::IS_IN(ids)', '_::Out<Likes>::{id}::EQ(z::FIRST::ID)'),
  fc.constant('OR(_::Out<Likes>::ID::IS_IN(z), _::In<Likes>::ID::IS_IN(z::ID))'),
  fc.constantFrom('z::CONTAINS(_)', '_::Out<Likes>::CONTAINS(z::FIRST)'),
  fc.constantFrom('_::Out<Likes>::ID::NEQ(id)', '_::{year}::EQ(z::FIRST::{year})'),
  // Walks that can be gone from their far end.
  fc.constantFrom(
    '_::Out<Likes>::Out<Likes>::ID::IS_IN(ids)',
    '_::Out<Likes>::In<Owns>::CONTAINS(id)',
    '_::Out<Likes>::In<Likes>::ID::EQ(oid)',
    '_::Out<Likes>::{year}::EQ(oy)',
    '_::Out<Likes>::In<Likes>::{key}::STARTS_WITH("k1")',
    '_::In<Owns>::{name}::EQ("o1")',
    '_::Out<Likes>::{twin}::EQ(NONE)',
    '_::Out<Likes>::{weight}::LT(p)',
    '_::Both<Likes>::CONTAINS(id)',
    '_::Both<Likes>::{key}::EQ(s)',
    '_::In<Owns>::{note}::EQ(s)',
    '_::In<Owns>::{note}::EQ(NONE)',
  ),
  fc.constantFrom(
    'EXISTS(_::In<Owns>)',
    'EXISTS(_::In<Owns>::WHERE(_::{note}::EQ(s)))',
    'EXISTS(_::In<Owns>::WHERE(AND(_::{name}::EQ("o1"), _::{note}::NEQ(os))))',
    'EXISTS(_::Out<Likes>::WHERE(_::{year}::GT(1))::In<Owns>::WHERE(_::{note}::EQ("x")))',
    'EXISTS(_::Out<Likes>::WHERE(EXISTS(_::In<Owns>::WHERE(_::{key}::EQ("o2")))))',
    'EXISTS(_::Both<Likes>::DEDUP::WHERE(_::{year}::EQ(oy))::In<Likes>)',
    'EXISTS(_::In<Likes>::WHERE(_::{note}::EQ(s)))',
  ),
  // At least so many of what a walk leads to.
  fc
    .tuple(
      fc.constantFrom(
        'Out<Likes>',
        'In<Owns>',
        'Both<Likes>',
        'In<Likes>::WHERE(_::{year}::GT(1))',
        'Out<Likes>::In<Likes>::DEDUP',
      ),
      fc.constantFrom('GTE', 'GT', 'EQ', 'LT', 'LTE', 'NEQ'),
      fc.constantFrom('3', '2', '1', '0', 'n', 'oy', 'y', '1.5'),
    )
    .map(([walk, op, count]) => `_::${walk}::COUNT::${op}(${count})`),
  // Alternatives in other words; some do not ask of the item.
  fc.constantFrom(
    'IF(y::GT(0), _::{key}::EQ(s), _::{name}::EQ("x"))',
    'IF(oy::EQ(NONE), true, _::{year}::EQ(oy))',
    'IF(_::{year}::GT(1), _::{key}::EQ("k5"), _::{name}::EQ(os))',
    'IF(y::GT(0), _::{year}, _::{big})::EQ(oy)',
    'IF(_::{flag}, _::{year}, 2)::EQ(y)',
    'OR(os::EQ(NONE), _::{name}::EQ(os))',
    'OR(oy::EQ(NONE), AND(_::{year}::EQ(oy), _::{price}::GT(0)))',
    'AND(OR(os::EQ(NONE), _::{name}::EQ(os)), OR(oid::EQ(NONE), _::ID::EQ(oid)))',
    'OR(AND(y::GT(0), _::{key}::EQ(s)), AND(y::LTE(0), _::{name}::EQ("x")))',
    'OR(n::GT(3), EXISTS(_::In<Owns>))',
  ),
  fc.constantFrom(
    'COALESCE(_::{year}, 2)::EQ(y)',
    'COALESCE(_::{year}, y)::GTE(2)',
    'COALESCE(_::{name}, os)::EQ(os)',
    'COALESCE(_::{name}::EQ(os), false)',
    'COALESCE(_::{year}, _::{big})::EQ(NONE)',
    'y::EQ(COALESCE(_::{year}, 1))',
  ),
  // Fails on whichever item comes first, or on none.
  fc.constantFrom(
    '_::{year}::EQ(DIV(6, y))',
    '_::{year}::GT(SUB(y, 1))',
    '_::{year}::IS_IN([ADD(y, 1), 2])',
    '_::{made}::GTE(DATE_ADD(d, y, "month"))',
    '_::Out<Likes>::ID::EQ(z::FIRST::ID)',
    '_::Both<Likes>::CONTAINS(N<Item>(id))',
    '_::{key}::EQ(LOWER(s))',
  ),
  // Fails on some items.
  fc.constant('DIV(6, _::{year})::GT(2)'),
);

const condition = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 2 },
    { arbitrary: plainTest, weight: 3 },
    fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((of) => `AND(${of.join(', ')})`),
    fc.array(tie('any'), { minLength: 1, maxLength: 2 }).map((of) => `OR(${of.join(', ')})`),
    tie('any').map((of) => `!${of}`),
  ),
})).any;

const key = fc.constantFrom(
  '_::{year}',
  '_::{price}',
  '_::{weight}',
  '_::{made}',
  '_::{big}',
  '_::{flag}',
  '_::{name}',
  '_::{tags}',
  '_::ID',
  '_::Out<Likes>::COUNT',
  'DIV(6, _::{year})',
);
const direction = fc.constantFrom('Asc', 'Desc', 'Asc', 'Desc', 'Desc NULLS FIRST');
const ordering = fc.oneof(
  fc.tuple(direction, key).map(([to, by]) => `::ORDER<${to}>(${by})`),
  fc
    .tuple(direction, direction, key, key)
    .map(([to, then, by, more]) => `::ORDER<${to}, ${then}>(${by}, ${more})`),
);
/** An order that is cut off. */
const best = fc
  .tuple(ordering, fc.constantFrom('::FIRST', '::RANGE(0, 3)', '::RANGE(n, m)', '::RANGE(2, n)'))
  .map((steps) => steps.join(''));
const filter = condition.map((c) => `::WHERE(${c})`);

/** Steps that keep items. */
const itemStep = fc.oneof(
  { arbitrary: filter, weight: 4 },
  { arbitrary: ordering, weight: 2 },
  { arbitrary: best, weight: 1 },
  fc.constantFrom('::RANGE(0, n)', '::RANGE(n, m)', '::RANGE(0, 3)', '::DEDUP', '::Out<Likes>'),
);
const lastStep = fc.constantFrom(
  '',
  '',
  '::COUNT',
  '::ID',
  '::FIRST',
  '::{key, y: year}',
  '::!{note}',
  '::PAGE(3)',
  '::ORDER<Desc, Asc>(_::{year}, _::{note})::PAGE(4)',
  '::ORDER<Asc>(_::{key})::{key, year}::PAGE(m)::{items}',
);

const itemSource = fc.constantFrom(
  'N<Item>',
  'N<Item>',
  'N<Item>',
  'N<Owner>::Out<Owns>',
  'N<Item>(id)',
  'N<Item>({year: y})',
  'N<Item>({year: ys})',
  'N<Item>({key: ["k7", s, "k7"]})',
  'N<Item>({id: ids})',
  'N<Item>({key: s})',
);
const edgeFilter = fc
  .constantFrom(
    '_::FromN::ID::EQ(id)',
    '_::{from_node}::EQ(id)',
    '_::{to_node}::EQ(oid)',
    '_::ToN::EQ(id)',
    '_::{since}::GTE(n)',
    '_::{since}::EQ(oy)',
    '_::FromN::{note}::EQ(os)',
    '_::FromN::{name}::EQ("o1")',
    'AND(_::FromN::ID::EQ(id), _::{since}::EQ(oy), _::ToN::{key}::EQ(s))',
  )
  .map((c) => `::WHERE(${c})`);

const itemChain = fc
  .tuple(itemSource, fc.array(itemStep, { maxLength: 4 }))
  .map(([source, steps]) => ({
    source,
    steps,
  }));
const mixedFilter = fc
  .constantFrom(
    '_::ID::EQ(id)',
    '_::ID::IS_IN(ids)',
    '_::{key}::EQ(s)',
    '_::{key}::EQ("k3")',
    '_::{key}::IS_IN(["k4", s, "k60"])',
    'AND(_::{name}::NEQ("x"), _::{key}::IS_IN(["k4", "k1"]))',
    'OR(_::{key}::EQ("k2"), _::ID::EQ(oid))',
    '_::{name}::EQ(os)',
  )
  .map((c) => `::WHERE(${c})`);
const mixedChain = fc
  .array(mixedFilter, { minLength: 1, maxLength: 2 })
  .map((steps) => ({ source: 'N<Item, Owner>', steps }));
const edgeChain = fc
  .tuple(fc.array(edgeFilter, { minLength: 1, maxLength: 2 }), fc.constantFrom([], ['::ToN']))
  .map(([steps, more]) => ({ source: 'E<Owns>', steps: [...steps, ...more] }));

/** What conditions call `z`. */
const knownItems = fc.constantFrom(
  'N<Item>::WHERE(_::{year}::EQ(y))',
  'N<Item>::RANGE(0, n)',
  'N<Item>::WHERE(_::{flag})',
  'N<Item>({key: s})::Out<Likes>',
);

/** Bodies of queries: a chain in one piece or cut into variables. */
export const queryBody = fc
  .tuple(
    fc.oneof({ arbitrary: itemChain, weight: 6 }, edgeChain, mixedChain),
    lastStep,
    fc.nat({ max: 4 }),
    fc.boolean(),
    knownItems,
  )
  .map(([{ source, steps }, last, cut, twice, known]) => {
    const isItem = source !== 'E<Owns>' && source !== 'N<Item, Owner>';
    const final = !isItem && !/COUNT|ID|FIRST/.test(last) ? '' : last;
    const at = Math.min(cut, steps.length);
    const given = /\bz\b/.test(steps.join('')) ? `z <- ${known} ` : '';
    if (at === 0 && !twice) return `${given}RETURN ${source}${steps.join('')}${final}`;
    const [before, after] = [steps.slice(0, at).join(''), steps.slice(at).join('')];
    const other = twice ? ', a::COUNT' : '';
    const named = twice ? `b <- a${after}${final} RETURN b${other}` : `RETURN a${after}${final}`;
    return `${given}a <- ${source}${before} ${named}`;
  });
