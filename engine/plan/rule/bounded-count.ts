// Limits a count that is compared with a number: the count stops as soon as the comparison is
// decided. Counting the item's own edges gains nothing, because their number is stored.
import type { Expression, Pipeline, Step } from '../expression.js';
import { rewriter } from '../rewrite.js';
import { pipelineCannotThrow, type Parameters } from '../can-throw.js';

type Compare = Extract<Expression, { kind: 'compare' }>;

/** Number of rows beyond the compared number that decide the comparison, by operator. */
const isDecidedBy = new Map<string, number>([
  ['GTE', 0],
  ['LT', 0],
  ['GT', 1],
  ['LTE', 1],
  ['EQ', 1],
  ['NEQ', 1],
]);

export function limitCounts<T>(value: T, parameters: Parameters): T {
  return rewriter((part) => (part.kind === 'compare' ? (bounded(part, parameters) ?? part) : part))(
    value,
  );
}

function bounded(compare: Compare, parameters: Parameters): Compare | undefined {
  const { operator, left, right, any } = compare;
  const further = isDecidedBy.get(operator);
  const list = listCounted(left);
  if (any || further === undefined || list === undefined || !isWorth(list)) return undefined;
  const bound = right.kind === 'literal' ? readNumber(right.value) : undefined;
  if (bound === undefined || !pipelineCannotThrow(list, parameters)) return undefined;
  const end: Expression = { kind: 'literal', value: bound + further };
  const range: Step = { kind: 'range', start: { kind: 'literal', value: 0 }, end };
  const cut: Pipeline = { ...list, steps: [...list.steps, range] };
  if (left.kind === 'aggregate') return { ...compare, left: { ...left, of: cut } };
  const steps: Step[] = [...cut.steps, { kind: 'count' }];
  return { ...compare, left: { ...cut, steps, result: 'one' } };
}

/**
 * Returns the pipeline that `xs::COUNT` or `COUNT(xs)` counts; the latter does not count null
 * items.
 */
function listCounted(counted: Expression): Pipeline | undefined {
  if (counted.kind === 'pipeline') {
    const { steps } = counted;
    if (steps.at(-1)?.kind !== 'count') return undefined;
    return { ...counted, steps: steps.slice(0, -1), result: 'many' };
  }
  if (counted.kind !== 'aggregate' || counted.function !== 'COUNT') return undefined;
  const { of } = counted;
  if (of.kind !== 'pipeline' || of.result !== 'many') return undefined;
  return of.steps.every(({ kind }) => yieldsElements.has(kind)) ? of : undefined;
}

const yieldsElements = new Set<Step['kind']>([
  'neighbours',
  'edges',
  'expand',
  'end',
  'where',
  'dedup',
]);

function readNumber(value: unknown): number | undefined {
  const number = typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 1 && number < 2 ** 31
    ? number
    : undefined;
}

function isWorth({ source, steps }: Pipeline): boolean {
  // A pipeline with a range is short already; a repetition cannot stop early.
  const last = steps.at(-1);
  if (last === undefined || last.kind === 'range' || last.kind === 'first') return false;
  if (steps.some((step) => step.kind === 'expand' && step.hops)) return false;
  return (
    steps.some(({ kind }) => kind === 'where') || (source.kind === 'value' && steps.length > 1)
  );
}
