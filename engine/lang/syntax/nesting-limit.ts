// Limits the depth of a query: steps that depend on each other, and nested objects and lists, also through
// variables. Both need stack frames in the code that traverses, checks, runs and prints a query.
// Invariant: a query within the limits runs on any thread.
import type { Chain, Path, Step } from './ast-expression.js';
import type { Cursor } from './cursor.js';
import { parseFailure } from './expect.js';
import type { Span } from './source-file.js';

/** Steps whose value contains nothing of their input. */
const plain = new Set(
  'COUNT ID EQ NEQ GT GTE LT LTE CONTAINS IS_IN STARTS_WITH ENDS_WITH Out In OutE InE Both BothE Other FromN ToN FromV ToV'.split(
    ' ',
  ),
);

/** Functions whose value contains their arguments. */
const passing = new Set(['IF', 'COALESCE', 'UNION', 'EXCEPT', 'INTERSECT']);

/** Steps that make records which contain lists of their input. */
const wrapping = new Set(['GROUP_BY', 'AGGREGATE_BY']);
const wrappedLevels = 2;

function rejectInput(cursor: Cursor, span: Span, message: string, limit: string): never {
  cursor.report('E005', span, message, `The limit is \`limits.${limit}\`.`);
  throw parseFailure;
}

function checkLevels(cursor: Cursor, span: Span, levels: number): void {
  const max = cursor.limits.source_depth;
  if (levels > max)
    rejectInput(cursor, span, `This value nests deeper than ${max} levels.`, 'source_depth');
}

/** Call before a statement or a returned value. */
export function resetNesting(cursor: Cursor): void {
  cursor.steps = 0;
  cursor.levels = 0;
}

/** Parses an object, a list or a projection: one level more than its content. */
export function nestedOnce<T>(cursor: Cursor, parse: () => T): T {
  const span = cursor.tokens[cursor.index]!;
  const around = cursor.levels;
  cursor.levels = 0;
  const parsed = parse();
  const levels = cursor.levels + 1;
  checkLevels(cursor, span, levels);
  cursor.levels = Math.max(around, levels);
  return parsed;
}

/** Adds the depth of the value that a variable contains. */
export function readVariable(cursor: Cursor, name: string): void {
  cursor.levels = Math.max(cursor.levels, cursor.levelsOf.get(name) ?? 0);
}

/** Assigns the depth parsed since `resetNesting` to the variables. */
export function bindVariables(cursor: Cursor, names: readonly string[]): void {
  for (const name of names) cursor.levelsOf.set(name, cursor.levels);
}

/** Parses the parts of a chain. The arguments of its steps are not part of its value. */
export function chainDepth(
  cursor: Cursor,
  parseHead: () => Chain['head'],
  nextStep: () => Step | undefined,
): Pick<Chain, 'head' | 'steps'> {
  const around = { steps: cursor.steps, levels: cursor.levels, item: cursor.levelsOf.get('_') };
  resetNesting(cursor);
  const head = parseHead();
  // The called function creates an element, a number or a text.
  const isMade = head.kind === 'call' && !passing.has(head.name.text);
  let levels = isMade ? 0 : cursor.levels;
  const steps: Step[] = [];
  for (;;) {
    cursor.levels = 0;
    cursor.levelsOf.set('_', levels);
    const step = nextStep();
    if (step === undefined) break;
    steps.push(step);
    levels = levelsAfter(step, levels, cursor.levels);
  }
  if (around.item === undefined) cursor.levelsOf.delete('_');
  else cursor.levelsOf.set('_', around.item);
  checkLevels(cursor, head.span, levels);
  cursor.levels = Math.max(around.levels, levels);
  const stepCount = cursor.steps + ownSteps(head) + steps.length;
  cursor.steps = Math.max(around.steps, stepCount);
  const max = cursor.limits.source_steps;
  if (stepCount > max) {
    const { span } = steps[Math.max(0, steps.length - (stepCount - max))] ?? head;
    rejectInput(cursor, span, `More than ${max} steps stand on each other here.`, 'source_steps');
  }
  return { head, steps };
}

const ownSteps = (head: Chain['head']): number =>
  head.kind === 'path'
    ? (head as Path).names.length - 1
    : head.kind === 'item'
      ? head.members.length
      : 0;

function levelsAfter(step: Step, before: number, inside: number): number {
  if (step.kind === 'projection') return Math.max(before, inside);
  if (step.kind !== 'call') return before;
  const name = step.name.text;
  if (plain.has(name)) return 0;
  return wrapping.has(name) ? before + wrappedLevels : before;
}
