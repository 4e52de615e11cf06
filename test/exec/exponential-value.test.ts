// Values that hold a value twice, which holds one twice, sixty times over: a few hundred bytes that
// would print, compare and sort as 2^60. Whoever walks them counts its steps, so that the cancel word
// and the limits end it.
import { describe, expect, it } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { defaultLimits, type Limits } from '../../engine/base/limits.js';
import { execute } from '../../engine/exec/run.js';
import { compile } from '../../engine/lang/compile.js';
import type { Expression } from '../../engine/plan/expression.js';
import type { Statement } from '../../engine/plan/plan.js';
import { Garden, plan } from './support/garden.js';
import { kit } from './support/kit.js';

const { compare, get, list, lit, many, of, order, record, scan, slot } = kit;

const levels = 60;
const garden = new Garden();

type Double = (value: Expression) => Expression;
const objects: Double = (value) => record({ a: value, b: value });
const lists: Double = (value) => list(value, lit(1), value);

/** Binds the doubled value to `at + levels`; slots below hold its parts. */
function doubled(double: Double, first: Expression, at = 10): Statement[] {
  const bind = (to: number, value: Expression): Statement => ({ kind: 'bind', slot: to, value });
  return [
    bind(at, first),
    ...Array.from({ length: levels }, (_, i) => bind(at + i + 1, double(slot(at + i)))),
  ];
}

const one = slot(10 + levels);
const other = slot(110 + levels);

function run(
  statements: Statement[],
  value: Expression,
  limits: Partial<Limits>,
  polls: number,
): string {
  let left = polls;
  const cancelled = (): boolean => left-- <= 0;
  const context = { ...garden.context(garden.view), cancelled };
  const built = plan({ kind: 'bare', value, data: false }, statements, { slotCount: 256 });
  try {
    execute(built, [], { ...context, limits: { ...defaultLimits, ...limits } });
    return 'answered';
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return error.code;
  }
}

const spread = (value: Expression): Expression => ({
  kind: 'project',
  of: value,
  slot: 1,
  members: [{ kind: 'spread', except: [] }],
});
const grouped = (value: Expression): Expression =>
  many(of(list(value)), {
    kind: 'group',
    slot: 1,
    keys: [{ name: 'k', value: slot(1) }],
    data: false,
  });
const rounded = { any: false, f32: true };

describe('traversals of a doubled value end when they are cancelled', () => {
  const walks: [what: string, double: Double, value: Expression][] = [
    ['printing objects', objects, one],
    ['printing lists', lists, one],
    ['printing a member', objects, record({ x: one })],
    ['printing what is spread', objects, spread(one)],
    ['printing rows', objects, many(of(list(one, one)))],
    ['the key of a group', objects, grouped(one)],
    ['the key of a list', lists, grouped(one)],
    ['keys of distinct rows', objects, many(of(list(one, other)), { kind: 'dedup' })],
    ['equality of objects', objects, compare('EQ', one, other)],
    ['equality of lists', lists, compare('EQ', one, other)],
    ['order of lists', lists, compare('LT', one, other)],
    ['a list among others', lists, compare('IS_IN', one, list(...Array(20).fill(other)))],
    ['a list in a list', lists, compare('CONTAINS', list(one), other)],
    ['rounding a list', lists, compare('EQ', one, other, rounded)],
    ['sorting by lists', lists, many(of(list(list(one), list(other))), order(1, false, slot(1)))],
    ['members of all items', lists, get(one, 'name')],
  ];
  it.each(walks)('%s', (_what, double, value) => {
    const statements = [...doubled(double, lit(7)), ...doubled(double, lit(7), 110)];
    // Keys may be too long before the time is up.
    const limits = { result_items: 1e15, result_bytes: 2 ** 40 };
    expect(['QUERY_TIMEOUT', 'QUERY_MEMORY']).toContain(run(statements, value, limits, 40));
  });
});

describe('and by the limits of the reply', () => {
  it.each<[string, Double]>([
    ['objects', objects],
    ['lists', lists],
  ])('%s', (_what, double) => {
    const limits = { result_bytes: 100_000 };
    expect(run(doubled(double, lit(7)), one, limits, 1e9)).toBe('RESULT_TOO_LARGE');
  });

  it('bytes of few members are counted too', () => {
    const value = record(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`m${i}`, one])));
    const statements = [{ kind: 'bind', slot: 10 + levels, value: lit('x'.repeat(1e6)) } as const];
    expect(run(statements, value, { result_bytes: 2 ** 40 }, 10)).toBe('QUERY_TIMEOUT');
  });
});

it('a value in a variable is stored one time for later, however often it occurs', () => {
  const statements: Statement[] = [
    ...doubled(lists, many(scan('Plant'))),
    { kind: 'effect', value: { kind: 'addNode', type: 'Plant', set: [] } },
  ];
  expect(run(statements, lit(1), {}, 1e9)).toBe('answered');
});

it('a query that prints much by its form alone is none for the main thread', () => {
  const costOf = (count: number): string => {
    const binds = Array.from({ length: count }, (_, i) => `v${i + 1} <- {a: v${i}, b: v${i}}`);
    const text = `QUERY q(p: I64) => v0 <- p\n${binds.join('\n')}\nRETURN v${count}`;
    return compile([{ path: 'q.hx', text }], { compat: false }).program!.queries[0]!.plan.cost;
  };
  expect([costOf(0), costOf(5), costOf(20), costOf(60)]).toEqual(['A', 'A', 'C', 'C']);
});

it('types are named one time, however often a list contains them', () => {
  const binds = Array.from({ length: 60 }, (_, i) => `v${i + 1} <- [v${i}, v${i}]`);
  const text = `N::T { n: I64 }\nQUERY q() => v0 <- N<T>\n${binds.join('\n')}\nRETURN v60`;
  const { program, diagnostics } = compile([{ path: 'q.hx', text }], { compat: false });
  expect(diagnostics).toEqual([]);
  expect(program!.queries).toHaveLength(1);
});
