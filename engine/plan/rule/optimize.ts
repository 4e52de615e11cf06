// The planner's rules on plans. Every rule keeps the answer exactly: same rows, same order, same
// failures (but for those of rows that an early stop may or may not look at). In order:
//
//   variables read once join the chain that reads them            inline.ts
//   OutE then ToN is Out, InE then FromN is In
//   conditions in a row are one; a condition goes below an ORDER; COUNT forgets an ORDER
//   COUNT above 0 is EXISTS, which stops at the first hit
//   a scan gets an access path: ids, indexes, edges                choose-access.ts
//   an ORDER that is cut off keeps its best rows only
//   what a comparison asks of every item alike is asked once       once.ts
import type { TypeRef } from '../../base/schema.js';
import type { Expression, Pipeline, Source, Step } from '../expression.js';
import {
  chooseAccess,
  chooseEach,
  conjunctsOf,
  type Declarations,
  type Planning,
} from './choose-access.js';
import { fuseEdgeEnd } from '../fuse.js';
import { inlineBindings } from './inline.js';
import { evaluateOnce } from './once.js';
import type { Plan, Statement } from '../plan.js';
import { renameSlot, rewriter } from '../rewrite.js';
import { isSafe, isSafePipeline, type Parameters } from '../safe.js';

export type { Declarations } from './choose-access.js';

export function optimize(plan: Plan, declarations: Declarations): Plan {
  const inlined = inlineBindings(plan);
  const planning: Planning = { declarations, parameters: plan.parameters };
  const rewrite = rewriter((part) => {
    if (part.kind === 'pipeline') return planPipeline(planning, part);
    if (part.kind === 'compare') return countTest(part, plan.parameters) ?? part;
    return part.kind === 'searchVector' ? withPrefilter(planning, part) : part;
  });
  const { statements, output } = inlined;
  const planned = { statements: rewrite(statements), output: rewrite(output) };
  return { ...inlined, ...(plan.writes ? planned : evaluateOnce(planned, slotsBound(statements))) };
}

/** Slots of variables; those of loops, too, fill less often than any item. */
function slotsBound(statements: readonly Statement[]): Set<number> {
  return new Set(
    statements.flatMap((statement) => {
      if (statement.kind === 'bind') return [statement.slot];
      return statement.kind === 'for' ? [...statement.slots, ...slotsBound(statement.body)] : [];
    }),
  );
}

function planPipeline(planning: Planning, pipeline: Pipeline): Pipeline {
  const arranged = arrange(pipeline.steps, planning.parameters);
  const { source } = pipeline;
  const access = source.kind === 'scan' ? accessOf(planning, source.types, arranged) : undefined;
  const steps = arranged.map((step, at) => markTop(step, arranged[at + 1]));
  if (access === undefined || source.kind !== 'scan') return { ...pipeline, steps };
  return { ...pipeline, source: { ...source, access }, steps };
}

function accessOf(planning: Planning, types: readonly TypeRef[], steps: readonly Step[]) {
  return types.length === 1
    ? chooseAccess(planning, types[0]!, steps)
    : chooseEach(planning, types, steps);
}

/** The vectors that a search may find are a scan with a condition. */
function withPrefilter(planning: Planning, source: Source): Source {
  if (source.kind !== 'searchVector' || source.prefilter === undefined) return source;
  const where: Step = { kind: 'where', condition: source.prefilter };
  const access = chooseAccess(planning, { kind: 'vector', name: source.type }, [where]);
  return access === undefined ? source : { ...source, access };
}

type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;

function arrange(steps: readonly Step[], parameters: Parameters): Step[] {
  const arranged: Step[] = [];
  for (const step of steps) place(arranged, step, parameters);
  return arranged;
}

/** Puts a step behind others, or below, or makes one step of two. */
function place(steps: Step[], step: Step, parameters: Parameters): void {
  const last = steps.at(-1);
  const fused = fuseEdgeEnd(last, step);
  if (fused !== undefined) {
    steps[steps.length - 1] = fused;
  } else if (step.kind === 'where' && last?.kind === 'where') {
    steps[steps.length - 1] = bothConditions(last, step);
  } else if (last?.kind === 'order' && mayPass(step, last, parameters)) {
    steps.pop();
    place(steps, step, parameters);
    if (step.kind === 'where') steps.push(last);
  } else steps.push(step);
}

function bothConditions(first: StepOf<'where'>, second: StepOf<'where'>): Step {
  const { slot, value } = first.condition;
  const other = renameSlot(second.condition.value, second.condition.slot, slot);
  const of = [...conjunctsOf(value), ...conjunctsOf(other)];
  return { kind: 'where', condition: { slot, value: { kind: 'and', of } } };
}

/** A condition gives the same rows before an ORDER, COUNT the same number without it. */
function mayPass(step: Step, { keys }: StepOf<'order'>, parameters: Parameters): boolean {
  if (!keys.every((key) => isSafe(key.value, parameters))) return false;
  return (
    step.kind === 'count' || (step.kind === 'where' && isSafe(step.condition.value, parameters))
  );
}

/** The step behind it reads the best rows only. */
function markTop(step: Step, next: Step | undefined): Step {
  const isCut = next?.kind === 'first' || (next?.kind === 'range' && next.end !== null);
  return step.kind === 'order' && isCut ? { ...step, top: true } : step;
}

/** `…::COUNT::GT(0)` and its likes ask whether there is any. */
function countTest(
  { operator, left, right, any }: Extract<Expression, { kind: 'compare' }>,
  parameters: Parameters,
): Expression | undefined {
  if (any || left.kind !== 'pipeline' || left.steps.at(-1)?.kind !== 'count') return undefined;
  if (right.kind !== 'literal') return undefined;
  const number = typeof right.value === 'bigint' ? Number(right.value) : right.value;
  const asksAny =
    number === 0 ? operator === 'GT' || operator === 'NEQ' : number === 1 && operator === 'GTE';
  const asksNone =
    number === 0 ? operator === 'EQ' || operator === 'LTE' : number === 1 && operator === 'LT';
  if (!asksAny && !asksNone) return undefined;
  const of: Pipeline = { ...left, steps: left.steps.slice(0, -1), result: 'many' };
  if (!isSafePipeline(of, parameters)) return undefined;
  const exists: Expression = { kind: 'exists', of };
  return asksAny ? exists : { kind: 'not', of: exists };
}
