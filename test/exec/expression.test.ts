// Expressions as data tables: comparisons, arithmetic, aggregates, session tests (helixql.md 3.8,
// 3.17; sessions.md 6).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDate } from '../../engine/base/date.js';
import { TrellisError } from '../../engine/base/errors.js';
import type { Scalar, ScalarList } from '../../engine/base/value.js';
import { sessionTruth } from '../../engine/exec/expression/session-filter.js';
import type { CompareOperator, Expression, SessionOperand } from '../../engine/plan/expression.js';
import { Garden, plan, uuid } from './support/garden.js';
import { kit } from './support/kit.js';

const { aggregate, byId, compare, get, list, lit, many, math, one, out, scan, single, slot } = kit;

const garden = new Garden();

function answer(expression: Expression): string {
  try {
    return garden.run(plan({ kind: 'bare', value: expression, data: false }));
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return error.code;
  }
}

const gardener = (alias: string) => one(byId('Gardener', lit(uuid(alias))));
const day = (text: string) => parseDate(text)!;

type Truth = [
  a: Scalar | ScalarList,
  operator: CompareOperator,
  b: Scalar | ScalarList,
  holds: boolean,
];

const truths: Truth[] = [
  [1, 'EQ', 1.0, true],
  [1, 'EQ', '1', false],
  [2n ** 64n, 'EQ', 2 ** 64, true],
  [2n ** 64n + 1n, 'EQ', 2 ** 64, false],
  [2n ** 64n + 1n, 'GT', 2 ** 64, true],
  [9007199254740993n, 'GT', 9007199254740992n, true],
  [0, 'EQ', -0, true],
  ['b', 'GT', 'a', true],
  ['\u{1F600}', 'GT', '\uFF5E', true],
  [false, 'LT', true, true],
  [day('2026-01-01'), 'EQ', day('2026-01-01T01:00:00+01:00'), true],
  [day('2026-01-01'), 'LT', day('2026-01-02'), true],
  [null, 'EQ', null, true],
  [null, 'NEQ', null, false],
  [null, 'EQ', 1, false],
  [null, 'NEQ', 1, true],
  [1, 'NEQ', null, true],
  [null, 'GT', 1, false],
  [1, 'LTE', null, false],
  [1, 'LT', 'a', false],
  [1, 'GTE', 'a', false],
  [[1, 2], 'EQ', [1, 2], true],
  [[1, 2], 'EQ', [2, 1], false],
  [[1], 'LT', [1, 2], true],
  [[1, 3], 'GT', [1, 2, 9], true],
  ['abc', 'CONTAINS', 'bc', true],
  ['abc', 'CONTAINS', '', true],
  ['abc', 'CONTAINS', 'BC', false],
  [null, 'CONTAINS', 'a', false],
  [['a', 'b'], 'CONTAINS', 'b', true],
  [['ab'], 'CONTAINS', 'b', false],
  [2, 'IS_IN', [1, 2.0], true],
  [2, 'IS_IN', [], false],
  [2, 'IS_IN', null, false],
  [null, 'IS_IN', [null], false],
  ['7', 'IS_IN', Array.from({ length: 100 }, (_, i) => i), false],
  [7.0, 'IS_IN', Array.from({ length: 100 }, (_, i) => i), true],
  [day('2026-01-01'), 'IS_IN', [day('2026-01-01')], true],
];

describe('comparisons', () => {
  it.each(truths.map((truth, n) => [n, truth[1], truth] as const))(
    'case %i, %s',
    (_n, _name, truth) => {
      const [a, operator, b, holds] = truth;
      expect(answer(compare(operator, lit(a), lit(b)))).toBe(String(holds));
    },
  );

  const elements: [what: string, expression: Expression, holds: boolean][] = [
    ['element and element', compare('EQ', gardener('g1'), gardener('g1')), true],
    ['element and id', compare('EQ', gardener('g1'), lit(uuid('g1'))), true],
    ['id and element', compare('NEQ', lit(uuid('g1')), gardener('g2')), true],
    ['ids in order', compare('LT', lit(uuid('g1')), lit(uuid('g2'))), true],
    ['element among elements', compare('IS_IN', gardener('g2'), many(scan('Gardener'))), true],
    ['id among elements', compare('IS_IN', lit(uuid('p1')), many(scan('Gardener'))), false],
    ['elements contain', compare('CONTAINS', many(scan('Follows')), gardener('g1')), false],
    [
      'strings, any contains',
      compare('CONTAINS', get(many(scan('Plant')), 'name'), lit('os'), { any: true }),
      true,
    ],
    [
      'any of none',
      compare('NEQ', many({ kind: 'value', of: lit([]) }), lit(1), { any: true }),
      false,
    ],
    ['F32 literal', compare('EQ', lit(1.1), lit(Math.fround(1.1)), { f32: true }), true],
    ['F32 in a list', compare('IS_IN', lit(1.1), lit([5, Math.fround(1.1)]), { f32: true }), true],
  ];
  it.each(elements)('%s', (_what, expression, holds) => {
    expect(answer(expression)).toBe(String(holds));
  });

  it('EQ and NEQ are complements for all scalars', () => {
    const scalar = fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true }),
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.bigInt(),
    );
    fc.assert(
      fc.property(scalar, scalar, (a, b) => {
        const [eq, neq] = (['EQ', 'NEQ'] as const).map((op) => answer(compare(op, lit(a), lit(b))));
        expect(eq).not.toBe(neq);
      }),
    );
  });
});

const i = (...values: Scalar[]) => values.map((value) => lit(value));
const sums: [expression: Expression, expected: string][] = [
  [math('ADD', true, ...i(1, 2, 3)), '6'],
  [math('ADD', false, ...i(1, 0.5)), '1.5'],
  [math('ADD', true, ...i(9007199254740991, 2)), '9007199254740993'],
  [math('SUB', true, ...i(0, 2n ** 127n)), `${-(2n ** 127n)}`],
  [math('SUB', true, ...i(0, 2n ** 127n, 1)), 'ARITHMETIC'],
  [math('MUL', true, ...i(2n ** 64n, 2n ** 63n)), `${2n ** 127n}`],
  [math('MUL', true, ...i(2n ** 64n, 2n ** 64n)), 'ARITHMETIC'],
  [math('MUL', true, ...i(-1, 0)), '0'],
  [math('ADD', true, ...i(1, null)), 'null'],
  [math('ABS', true, ...i(-5)), '5'],
  [math('ABS', true, ...i(-(2n ** 100n))), `${2n ** 100n}`],
  [math('DIV', false, ...i(7, 2)), '3.5'],
  [math('DIV', false, ...i(1, 0)), 'ARITHMETIC'],
  [math('MOD', true, ...i(-7, 3)), '-1'],
  [math('MOD', true, ...i(2n ** 70n, 3)), '1'],
  [math('MOD', false, ...i(7.5, 2)), '1.5'],
  [math('MOD', true, ...i(7, 0)), 'ARITHMETIC'],
  [math('POW', false, ...i(2, 10)), '1024'],
  [math('POW', false, ...i(-8, 1 / 3)), 'ARITHMETIC'],
  [math('POW', false, ...i(0, -1)), 'ARITHMETIC'],
  [math('POW', false, ...i(10, 400)), 'ARITHMETIC'],
  [math('SQRT', false, ...i(9)), '3'],
  [math('SQRT', false, ...i(-1)), 'ARITHMETIC'],
  [math('LN', false, ...i(0)), 'ARITHMETIC'],
  [math('LOG', false, ...i(8, 2)), '3'],
  [math('LOG', false, ...i(8, 1)), 'ARITHMETIC'],
  [math('LOG10', false, ...i(1000)), '3'],
  [math('EXP', false, ...i(0)), '1'],
  [math('ASIN', false, ...i(2)), 'ARITHMETIC'],
  [math('ATAN2', false, ...i(0, 1)), '0'],
  [math('PI', false), String(Math.PI)],
  [math('ROUND', false, ...i(2.5)), '3'],
  [math('ROUND', false, ...i(-2.5)), '-3'],
  [math('ROUND', false, ...i(-0.2)), '0'],
  [math('CEIL', false, ...i(-0.5)), '0'],
  [math('FLOOR', true, ...i(2n ** 70n)), `${2n ** 70n}`],
  [math('MIN', true, ...i(3, 1, 2)), '1'],
  [math('MAX', true, ...i(3, 2n ** 70n)), `${2n ** 70n}`],
  [aggregate('SUM', true, lit([1, null, 2])), '3'],
  [aggregate('SUM', true, lit([9007199254740991, 2, 9007199254740991, -1])), '18014398509481983'],
  [aggregate('SUM', true, lit([2n ** 127n, 2n ** 127n])), 'ARITHMETIC'],
  [aggregate('SUM', false, lit([0.5, 1])), '1.5'],
  [aggregate('SUM', true, lit([])), '0'],
  [aggregate('AVG', true, lit([1, 2])), '1.5'],
  [aggregate('AVG', true, lit([])), 'null'],
  [aggregate('MIN', true, lit([3, null, 2])), '2'],
  [aggregate('MAX', false, lit([])), 'null'],
  [aggregate('COUNT', true, lit([1, null, 2])), '2'],
  [aggregate('COUNT', true, lit(5)), '1'],
  [aggregate('COUNT', true, lit(null)), '0'],
  [aggregate('COUNT', true, many(scan('Gardener'), out('Grows'))), '3'],
  [aggregate('SUM', true, get(many(scan('Plant')), 'stock')), '10'],
  [single(lit([5])), '5'],
  [single(lit([])), 'NO_VALUE_FOUND'],
  [single(lit(null)), 'NO_VALUE_FOUND'],
  [single(lit([]), 'none'), 'null'],
  [single(lit([1, 2]), 'none'), 'EXPECTED_ONE'],
  [list(lit(1), slot(3), list()), '[1,null,[]]'],
  [{ kind: 'now' }, '"2026-03-02T09:30:00.123456+00:00"'],
];

describe('arithmetic and aggregates', () => {
  it.each(sums.map(([expression, expected], n) => [n, expected, expression] as const))(
    'case %i is %s',
    (_n, expected, expression) => {
      expect(answer(expression)).toBe(expected);
    },
  );

  it('is exact on integers of any width', () => {
    const wide = fc.bigInt({ min: -(2n ** 126n), max: 2n ** 126n });
    const compact = (x: bigint) => (Number.isSafeInteger(Number(x)) ? Number(x) : x);
    fc.assert(
      fc.property(wide, wide, (a, b) => {
        expect(answer(math('ADD', true, lit(compact(a)), lit(compact(b))))).toBe(String(a + b));
        expect(answer(aggregate('SUM', true, lit([compact(a), compact(b)])))).toBe(String(a + b));
      }),
    );
  });
});

const operand = (value: Scalar): SessionOperand => ({ kind: 'value', value });
const incomparable: SessionOperand = { kind: 'incomparable' };
type Case = [
  a: Scalar | ScalarList,
  operator: '==' | '!=' | '<' | '<=' | '>' | '>=',
  operands: SessionOperand[],
  passes: boolean,
];
const tags = ['math', 'machines'];

// The worked cases of sessions.md 6.4, and the table above them.
const tests: Case[] = [
  [tags, '==', [operand('math')], true],
  [tags, '==', [operand('nature'), operand('math')], true],
  [tags, '!=', [operand('nature')], true],
  [tags, '!=', [], true],
  [tags, '!=', [operand('math')], false],
  [tags, '!=', [operand('nature'), operand('math')], false],
  [tags, '==', [], false],
  [tags, '==', [operand('Math')], false],
  [[], '==', [operand('x')], false],
  [[], '!=', [operand('x')], true],
  [[], '<', [operand('x')], false],
  [1999, '>', [operand(1990)], true],
  [1999, '>', [operand(2005), operand(1990)], true],
  [1999, '==', [operand(1999.0)], true],
  [1999, '<=', [operand(1999.5)], true],
  [9007199254740993n, '==', [operand(9007199254740992)], false],
  [9007199254740993n, '>', [operand(9007199254740992)], true],
  [10, '<', [{ kind: 'fraction', floor: 10 }], true],
  [10, '>=', [{ kind: 'fraction', floor: 10 }], false],
  [11, '>', [{ kind: 'fraction', floor: 10 }], true],
  [10, '==', [{ kind: 'fraction', floor: 10 }], false],
  [10, '!=', [{ kind: 'fraction', floor: 10 }], true],
  [10, '==', [incomparable], false],
  [10, '!=', [incomparable], true],
  [10, '<', [incomparable], false],
  [10, '!=', [operand(null)], true],
  [10, '==', [operand(null)], false],
  [day('2025-01-01'), '<', [operand(day('2025-01-01T00:00:01Z'))], true],
];

describe('session tests', () => {
  it.each(tests.map((test, n) => [n, test[1], test] as const))('case %i, %s', (_n, _name, test) => {
    const [a, operator, operands, passes] = test;
    expect(sessionTruth(operator, a, operands)).toBe(passes);
  });

  it('fails every operator on unset and undeclared properties', () => {
    for (const operator of ['==', '!=', '<', '<=', '>', '>='] as const) {
      const test = (key: string, type: string): Expression => ({
        kind: 'test',
        slot: 1,
        key,
        operator,
        list: false,
        cases: [{ type: { kind: 'node', name: type }, values: [operand(0)] }],
      });
      for (const [key, type] of [
        ['serial', 'Plant'],
        ['level', 'Gardener'],
      ] as const) {
        const found = many(scan('Plant'), {
          kind: 'where',
          condition: { slot: 1, value: test(key, type) },
        });
        expect(answer(found)).toBe('[]');
      }
    }
  });
});
