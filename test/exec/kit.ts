// Short names for writing plans as data in tests.
import type { Scalar, ScalarList } from '../../engine/base/value.js';
import type { ElementKind } from '../../engine/base/schema.js';
import type {
  AggregateFunction,
  Assignment,
  CompareOperator,
  Expression,
  MathFunction,
  Member,
  Pipeline,
} from '../../engine/plan/expression.js';
import type { ItemExpression, Source, Step } from '../../engine/plan/step.js';

export const lit = (value: Scalar | ScalarList): Expression => ({ kind: 'literal', value });
export const slot = (n: number): Expression => ({ kind: 'slot', slot: n });
export const parameter = (index: number): Expression => ({ kind: 'parameter', index });
export const get = (of: Expression, name: string): Expression => ({ kind: 'property', of, name });
export const record = (members: Record<string, Expression>): Expression => ({
  kind: 'record',
  members: Object.entries(members).map(([name, value]) => ({ name, value })),
});
export const list = (...items: Expression[]): Expression => ({ kind: 'list', items });
export const not = (of: Expression): Expression => ({ kind: 'not', of });
export const and = (...of: Expression[]): Expression => ({ kind: 'and', of });
export const or = (...of: Expression[]): Expression => ({ kind: 'or', of });
export const exists = (of: Expression): Expression => ({ kind: 'exists', of });
export const single = (of: Expression, miss: 'error' | 'none' = 'error'): Expression => ({
  kind: 'single',
  of,
  miss,
  place: 'here',
});

export function compare(
  operator: CompareOperator,
  left: Expression,
  right: Expression,
  options: { any?: boolean; f32?: boolean } = {},
): Expression {
  const { any = false, f32 = false } = options;
  return { kind: 'compare', operator, left, right, any, f32 };
}

export const math = (name: MathFunction, integer: boolean, ...of: Expression[]): Expression => ({
  kind: 'math',
  function: name,
  of,
  integer,
});

export const aggregate = (
  name: AggregateFunction,
  integer: boolean,
  of: Expression,
): Expression => ({ kind: 'aggregate', function: name, of, integer });

export const many = (source: Source, ...steps: Step[]): Pipeline => ({
  kind: 'pipeline',
  source,
  steps,
  result: 'many',
});
export const one = (source: Source, ...steps: Step[]): Pipeline => ({
  ...many(source, ...steps),
  result: 'one',
});
export const opt = (source: Source, ...steps: Step[]): Pipeline => ({
  ...many(source, ...steps),
  result: 'opt',
});

export const scan = (...names: string[]): Source => ({
  kind: 'scan',
  types: names.map((name) => ({ kind: kindOf(name), name })),
});
export const of = (value: Expression): Source => ({ kind: 'value', of: value });
export const byId = (name: string, id: Expression, miss: 'error' | 'none' = 'error'): Source => ({
  kind: 'byId',
  type: { kind: kindOf(name), name },
  id,
  miss,
});
export const lookup = (
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

export const out = (...edges: string[]): Step => ({ kind: 'neighbours', direction: 'out', edges });
export const into = (...edges: string[]): Step => ({ kind: 'neighbours', direction: 'in', edges });
export const outE = (...edges: string[]): Step => ({ kind: 'edges', direction: 'out', edges });
export const inE = (...edges: string[]): Step => ({ kind: 'edges', direction: 'in', edges });
export const end = (which: 'from' | 'to'): Step => ({ kind: 'end', end: which });
export const item = (n: number, value: Expression): ItemExpression => ({ slot: n, value });
export const where = (n: number, value: Expression): Step => ({
  kind: 'where',
  condition: item(n, value),
});
export const map = (n: number, value: Expression): Step => ({ kind: 'map', value: item(n, value) });
export const ids: Step = map(15, get(slot(15), 'id'));
export const first: Step = { kind: 'first' };
export const count: Step = { kind: 'count' };
export const dedup: Step = { kind: 'dedup' };
export const range = (start: Expression, stop: Expression | null): Step => ({
  kind: 'range',
  start,
  end: stop,
});
export const order = (n: number, descending: boolean, ...keys: Expression[]): Step => ({
  kind: 'order',
  slot: n,
  keys,
  descending,
});

export const project = (
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
export function set(values: Record<string, Expression | undefined>): Assignment[] {
  return Object.entries(values).map(([property, value]) => ({
    property,
    value: value ?? lit(null),
    unset: value === undefined,
  }));
}
