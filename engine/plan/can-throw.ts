// Decides which parts of a plan cannot fail, whatever the data. Such a part may be evaluated
// earlier, later, less often or not at all without a visible difference. Exceeding a limit does not
// count as a failure of a part.
import type { Expression, Pipeline, Source, Step } from './expression.js';
import type { Parameter } from './plan.js';

export type Parameters = readonly Parameter[];

export function cannotThrow(expression: Expression, parameters: Parameters): boolean {
  const all = (list: readonly Expression[]) => list.every((each) => cannotThrow(each, parameters));
  switch (expression.kind) {
    case 'literal':
    case 'now':
    case 'parameter':
    case 'slot':
    case 'test':
      return true;
    case 'property':
    case 'not':
    case 'exists':
    case 'semiJoin':
      return cannotThrow(expression.of, parameters);
    case 'and':
    case 'or':
      return all(expression.of);
    case 'compare':
      return all([expression.left, expression.right]);
    case 'if':
      return all([expression.condition, expression.value, expression.otherwise]);
    case 'captured':
      return all([expression.of, expression.value]);
    case 'with':
      return all([expression.of, expression.value, ...expression.lets.map(({ value }) => value)]);
    case 'coalesce':
      return all(expression.of);
    case 'text':
      return expression.function === 'GET' && all(expression.of);
    case 'date':
      return isSafeDate(expression) && all(expression.of);
    case 'list':
      return all(expression.items);
    case 'record':
      return all(expression.members.map((member) => member.value));
    case 'aggregate':
      return expression.function === 'COUNT' && cannotThrow(expression.of, parameters);
    case 'pipeline':
      return pipelineCannotThrow(expression, parameters);
    case 'project':
      return (
        cannotThrow(expression.of, parameters) &&
        all(expression.members.flatMap((each) => (each.kind === 'value' ? [each.value] : [])))
      );
    default:
      return false;
  }
}

/** A literal unit was checked at compile time; sums may leave the calendar. */
function isSafeDate({ function: name, of }: Extract<Expression, { kind: 'date' }>): boolean {
  if (name === 'DATE_ADD') return false;
  return name === 'TRUNC' || name === 'DATE_DIFF' ? of.at(-1)!.kind === 'literal' : true;
}

export function pipelineCannotThrow({ source, steps }: Pipeline, parameters: Parameters): boolean {
  return (
    isSafeSource(source, parameters) && steps.every((step) => stepCannotThrow(step, parameters))
  );
}

function isSafeSource(source: Source, parameters: Parameters): boolean {
  switch (source.kind) {
    case 'scan':
    case 'items':
      return true;
    case 'byId':
      return source.miss === 'none' && cannotThrow(source.id, parameters);
    case 'lookup':
      return (!source.first || source.miss === 'none') && cannotThrow(source.value, parameters);
    case 'value':
      return cannotThrow(source.of, parameters);
    case 'set':
      return source.of.every((each) => cannotThrow(each, parameters));
    default:
      return false;
  }
}

export function stepCannotThrow(step: Step, parameters: Parameters): boolean {
  switch (step.kind) {
    case 'expand':
      return (
        (step.condition === undefined || cannotThrow(step.condition.value, parameters)) &&
        (!step.hops?.max || isBound(step.hops.max, parameters, 'U32'))
      );
    case 'neighbours':
    case 'edges':
    case 'end':
    case 'origin':
    case 'first':
    case 'count':
      return true;
    case 'dedup':
      return step.by?.keys.every((key) => cannotThrow(key, parameters)) ?? true;
    case 'where':
      return cannotThrow(step.condition.value, parameters);
    case 'map':
      return cannotThrow(step.value.value, parameters);
    case 'intersect':
      return cannotThrow(step.of.value, parameters);
    case 'order':
      return step.keys.every((key) => cannotThrow(key.value, parameters));
    case 'range':
      return isBound(step.start, parameters) && (!step.end || isBound(step.end, parameters));
    default:
      return false;
  }
}

/**
 * Returns true if a position is certainly an integer from 0 to the maximum of the widest type that
 * it may have.
 */
function isBound(
  expression: Expression,
  parameters: Parameters,
  widest: 'U32' | 'U128' = 'U128',
): boolean {
  if (expression.kind === 'literal') {
    const { value } = expression;
    return (typeof value === 'number' || typeof value === 'bigint') && value >= 0;
  }
  const parameter = expression.kind === 'parameter' ? parameters[expression.index] : undefined;
  if (parameter === undefined || parameter.optional) return false;
  const { type } = parameter;
  if (type.kind !== 'scalar' || !/^U\d+$/.test(type.name)) return false;
  return Number(type.name.slice(1)) <= Number(widest.slice(1));
}
