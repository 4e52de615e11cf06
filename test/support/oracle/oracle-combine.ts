// Sets and fusions of the oracle: all lists are read, then every row is looked for in them.
import { fail } from '../../../engine/base/errors.js';
import type { Source } from '../../../engine/plan/expression.js';
import { numberOf } from './oracle-argument.js';
import { equal } from './oracle-compare.js';
import type { Run } from './oracle-run.js';
import { isList, Item, rowsOf, type Value } from './oracle-value.js';

type Rows = readonly Value[];
type SourceOf<K extends Source['kind']> = Extract<Source, { kind: K }>;

/** Elements are the same by identity, everything else by value; null is a value here. */
export const same = (a: Value, b: Value): boolean =>
  a instanceof Item && b instanceof Item ? a.element === b.element : equal(a, b);

export const distinct = (rows: Rows): Rows =>
  rows.filter((row, i) => rows.findIndex((other) => same(other, row)) === i);

export function combine(run: Run, { operation, of }: SourceOf<'set'>): Rows {
  const [first = [], ...others] = of.map((each) => rowsOf(run.value(each)));
  if (operation === 'union') return distinct([...first, ...others.flat()]);
  const isIn = (row: Value) => (list: Rows) => list.some((other) => same(other, row));
  return distinct(first).filter((row) =>
    operation === 'except' ? !others.some(isIn(row)) : others.every(isIn(row)),
  );
}

export function fuse(run: Run, { of, k, weights }: SourceOf<'fuse'>): Item[] {
  const constant = k === null ? 60 : numberOf(run.value(k), 'k', 0, Number.MAX_VALUE);
  const parts = weights === null ? of.map(() => 1) : weightsOf(run.value(weights), of.length);
  const lists = of.map((each) =>
    distinct(rowsOf(run.value(each))).filter((row): row is Item => row instanceof Item),
  );
  const most = parts.reduce((sum, weight) => sum + weight / (constant + 1), 0);
  const used = lists.filter((_, i) => parts[i]! > 0);
  return (distinct(used.flat()) as readonly Item[])
    .map(({ element }) => {
      let score = 0;
      for (const [i, list] of lists.entries()) {
        const at = list.findIndex((item) => item.element === element);
        if (at >= 0 && parts[i]! > 0) score += parts[i]! / (constant + at + 1);
      }
      const distances = used.flat().filter((item) => item.element === element);
      const { distance } = distances.find((item) => item.distance !== undefined) ?? {};
      return new Item(element, score, distance, true, score / most);
    })
    .sort((a, b) => b.score! - a.score! || a.element.id - b.element.id);
}

function weightsOf(value: Value, count: number): number[] {
  if (value === null) fail('PARAM_MISSING', { owner: 'q', param: 'weights', type: '[F64]' });
  const given = isList(value) ? value : [value];
  if (given.length !== count)
    fail('PARAM_VALUE', { param: 'weights', allowed: 'one per list', got: String(given.length) });
  return given.map((weight) => numberOf(weight, 'weights', 0, Number.MAX_VALUE));
}
