// Short names for writing plans as data in tests.
import type { Scalar, ScalarList } from '../../../engine/base/value.js';
import type { ElementKind } from '../../../engine/base/schema.js';
import type {
  AggregateFunction,
  Assignment,
  CompareOperator,
  Expression,
  Member,
  Pipeline,
  ItemExpression,
  Source,
  Step,
} from '../../../engine/plan/expression.js';
import type { MathFunction } from '../../../engine/plan/function-name.js';

const lit = (value: Scalar | ScalarList): Expression => ({ kind: 'literal', value });
const slot = (n: number): Expression => ({ kind: 'slot', slot: n });
const parameter = (index: number): Expression => ({ kind: 'parameter', index });
const get = (of: Expression, name: string): Expression => ({ kind: 'property', of, name });
const record = (members: Record<string, Expression>): Expression => ({
  kind: 'record',
  members: Object.entries(members).map(([name, value]) => ({ name, value })),
});
const list = (...items: Expression[]): Expression => ({ kind: 'list', items });
const not = (of: Expression): Expression => ({ kind: 'not', of });
const and = (...of: Expression[]): Expression => ({ kind: 'and', of });
const or = (...of: Expression[]): Expression => ({ kind: 'or', of });
const exists = (of: Expression): Expression => ({ kind: 'exists', of });
const single = (of: Expression, miss: 'error' | 'none' = 'error'): Expression => ({
  kind: 'single',
  of,
  miss,
  valueName: 'here',
});

function compare(
  operator: CompareOperator,
  left: Expression,
  right: Expression,
  options: { any?: boolean; f32?: boolean } = {},
): Expression {
  const { any = false, f32 = false } = options;
  return { kind: 'compare', operator, left, right, any, f32 };
}

const math = (name: MathFunction, integer: boolean, ...of: Expression[]): Expression => ({
  kind: 'math',
  function: name,
  of,
  integer,
});

const aggregate = (name: AggregateFunction, integer: boolean, of: Expression): Expression => ({
  kind: 'aggregate',
  function: name,
  of,
  integer,
});

const many = (source: Source, ...steps: Step[]): Pipeline => ({
  kind: 'pipeline',
  source,
  steps,
  result: 'many',
});
const one = (source: Source, ...steps: Step[]): Pipeline => ({
  ...many(source, ...steps),
  result: 'one',
});
const opt = (source: Source, ...steps: Step[]): Pipeline => ({
  ...many(source, ...steps),
  result: 'opt',
});

const scan = (...names: string[]): Source => ({
  kind: 'scan',
  types: names.map((name) => ({ kind: kindOf(name), name })),
});
const of = (value: Expression): Source => ({ kind: 'value', of: value });
const byId = (name: string, id: Expression, miss: 'error' | 'none' = 'error'): Source => ({
  kind: 'byId',
  type: { kind: kindOf(name), name },
  id,
  miss,
});
const lookup = (
  name: string,
  property: string,
  value: Expression,
  options: { first?: boolean; miss?: 'error' | 'none' } = {},
): Source => ({
  kind: 'lookup',
  type: { kind: kindOf(name), name },
  property,
  value,
  first: options.first ?? false,
  miss: options.miss ?? 'none',
});

const edgeNames = ['Grows', 'Follows', 'PlantedIn', 'Tells', 'Cites', 'Lane'];
const vectorNames = ['Note', 'Photo'];

function kindOf(name: string): ElementKind {
  if (edgeNames.includes(name)) return 'edge';
  return vectorNames.includes(name) ? 'vector' : 'node';
}

const out = (...edges: string[]): Step => ({ kind: 'neighbours', direction: 'out', edges });
const into = (...edges: string[]): Step => ({ kind: 'neighbours', direction: 'in', edges });
const outE = (...edges: string[]): Step => ({ kind: 'edges', direction: 'out', edges });
const inE = (...edges: string[]): Step => ({ kind: 'edges', direction: 'in', edges });
const end = (which: 'from' | 'to'): Step => ({ kind: 'end', end: which });
const item = (n: number, value: Expression): ItemExpression => ({ slot: n, value });
const where = (n: number, value: Expression): Step => ({
  kind: 'where',
  condition: item(n, value),
});
const map = (n: number, value: Expression): Step => ({ kind: 'map', value: item(n, value) });
const ids: Step = map(15, get(slot(15), 'id'));
const first: Step = { kind: 'first' };
const count: Step = { kind: 'count' };
const dedup: Step = { kind: 'dedup' };
const range = (start: Expression, stop: Expression | null): Step => ({
  kind: 'range',
  start,
  end: stop,
});
const order = (n: number, descending: boolean, ...keys: Expression[]): Step => ({
  kind: 'order',
  slot: n,
  keys: keys.map((value) => ({ value, descending, nullsFirst: false })),
});

const project = (
  value: Expression,
  n: number,
  members: Record<string, Expression>,
  ...rest: Member[]
): Expression => ({
  kind: 'project',
  of: value,
  slot: n,
  members: [
    ...Object.entries(members).map(
      ([name, member]): Member => ({ kind: 'value', name, value: member }),
    ),
    ...rest,
  ],
});

/** Assignments; `undefined` stands for a literal NONE. */
function set(values: Record<string, Expression | undefined>): Assignment[] {
  return Object.entries(values).map(([property, value]) => ({
    property,
    value: value ?? lit(null),
    unset: value === undefined,
  }));
}

export const kit = {
  lit,
  slot,
  parameter,
  get,
  record,
  list,
  not,
  and,
  or,
  exists,
  single,
  compare,
  math,
  aggregate,
  many,
  one,
  opt,
  scan,
  of,
  byId,
  lookup,
  out,
  into,
  outE,
  inE,
  end,
  item,
  where,
  map,
  ids,
  first,
  count,
  dedup,
  range,
  order,
  project,
  set,
};
