// Moves a variable that is read once into the pipeline that reads it: `all <- N<T> RETURN
// all::RANGE(0, 10)` then reads ten rows instead of all. Applies only to plans without writes and
// to elements, because a list in a row would be expanded. The result must not change: either the
// variable cannot fail, or nothing that may fail is evaluated in between. A scan of a whole type
// moves into every pipeline that reads it. Reading it again costs no more than reading a stored
// list, and less if an index leads to the wanted rows.
import type { Expression, Pipeline, Step } from '../expression.js';
import type { Output, Plan, Statement } from '../plan.js';
import { eachPart } from '../rewrite.js';
import {
  cannotThrow,
  pipelineCannotThrow,
  stepCannotThrow,
  type Parameters,
} from '../can-throw.js';

type Bind = Extract<Statement, { kind: 'bind' }>;

/** Plans with more parts than this are left unchanged. */
const partsMax = 50_000;

/**
 * Maximum number of steps that may move. Each step is a level of the call stack when the pipeline
 * runs.
 */
const stepsMax = 256;

export function inlineBindings(plan: Plan): Plan {
  if (plan.writes || plan.statements.length === 0) return plan;
  const uses = countUses(plan);
  if (uses === undefined) return plan;
  let { statements, output } = withScansJoined(plan, uses);
  let room = stepsMax;
  for (let at = 0; at < statements.length; ) {
    const joined = joinedAt(statements, output, at, uses, plan.parameters);
    const steps = joined === undefined ? 0 : longestChain((statements[at] as Bind).value);
    if (joined === undefined || steps > room) at++;
    else {
      room -= steps;
      ({ statements, output } = joined);
      // Start again: removing a binding can make another one adjacent to its reader.
      at = 0;
    }
  }
  return { ...plan, statements, output };
}

/** Moves scans into their readers; keeps the counts in `uses`. */
function withScansJoined(
  { statements, output, parameters }: Plan,
  uses: Map<number, number>,
): Joined {
  let joined: Joined = { statements: [...statements], output };
  for (const bind of statements) {
    if (bind.kind !== 'bind' || !isAllOfType(bind.value)) continue;
    const splice: Splice = { bind, pipeline: bind.value, isFree: true, parameters };
    let left = uses.get(bind.slot) ?? 0;
    const all = <T>(part: T, replace: (part: T) => T | undefined): T => {
      for (let read = replace(part); read !== undefined; read = replace(part)) {
        part = read;
        left--;
      }
      return part;
    };
    joined = {
      statements: joined.statements.map((each) =>
        all(each, (part) => splicedStatement(splice, part)),
      ),
      output: all(joined.output, (part) => splicedOutput(splice, part)),
    };
    uses.set(bind.slot, left);
    if (left === 0) {
      const { slot } = bind;
      joined.statements = joined.statements.filter(
        (each) => each.kind !== 'bind' || each.slot !== slot,
      );
    }
  }
  return joined;
}

function isAllOfType(value: Expression): value is Pipeline {
  if (value.kind !== 'pipeline' || value.result !== 'many') return false;
  return value.source.kind === 'scan' && value.steps.length === 0;
}

/** Returns how often each slot is read, or undefined for plans that are too large. */
function countUses({ statements, output, embeds }: Plan): Map<number, number> | undefined {
  const uses = new Map<number, number>();
  let parts = 0;
  try {
    eachPart([statements, output, embeds], (part) => {
      if (++parts > partsMax) throw new RangeError('a large plan');
      if (part.kind === 'slot')
        uses.set(part.slot as number, (uses.get(part.slot as number) ?? 0) + 1);
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return uses;
}

/** Returns the longest chain of nested steps in an expression. */
function longestChain(part: unknown): number {
  if (typeof part !== 'object' || part === null) return 0;
  const inner = Object.values(part).reduce<number>(
    (max, value) => Math.max(max, longestChain(value)),
    0,
  );
  const { kind, steps } = part as Partial<Pipeline>;
  return inner + (kind === 'pipeline' ? 1 + steps!.length : 0);
}

interface Joined {
  statements: Statement[];
  output: Output;
}

function joinedAt(
  statements: readonly Statement[],
  output: Output,
  at: number,
  uses: ReadonlyMap<number, number>,
  parameters: Parameters,
): Joined | undefined {
  const bind = statements[at]!;
  if (bind.kind !== 'bind' || bind.value.kind !== 'pipeline') return undefined;
  if (uses.get(bind.slot) !== 1 || !yieldsElements(bind.value)) return undefined;
  const isFree = pipelineCannotThrow(bind.value, parameters);
  if (!isFree && !failsAtStart(bind.value, parameters)) return undefined;
  const splice: Splice = { bind, pipeline: bind.value, isFree, parameters };
  const before = statements.slice(0, at);
  for (let i = at + 1; i < statements.length; i++) {
    const read = splicedStatement(splice, statements[i]!);
    if (read !== undefined) {
      const rest = [...statements.slice(at + 1, i), read, ...statements.slice(i + 1)];
      return { statements: [...before, ...rest], output };
    }
    if (!isFree && !isSafeStatement(statements[i]!, parameters)) return undefined;
  }
  const read = splicedOutput(splice, output);
  return read && { statements: [...before, ...statements.slice(at + 1)], output: read };
}

function isSafeStatement(statement: Statement, parameters: Parameters): boolean {
  return statement.kind === 'bind' && cannotThrow(statement.value, parameters);
}

interface Splice {
  bind: Bind;
  pipeline: Pipeline;
  /** True if the variable cannot fail, so that it may be evaluated at any time. */
  isFree: boolean;
  parameters: Parameters;
}

function splicedStatement(splice: Splice, statement: Statement): Statement | undefined {
  if (statement.kind === 'for') {
    const list = spliced(splice, statement.in);
    return list && { ...statement, in: list };
  }
  const value = spliced(splice, statement.value);
  return value && { ...statement, value };
}

function splicedOutput(splice: Splice, output: Output): Output | undefined {
  if (output.kind !== 'object') {
    const value = output.kind === 'bare' ? spliced(splice, output.value) : undefined;
    return value && ({ ...output, value } as Output);
  }
  const { members } = output;
  for (const [at, member] of members.entries()) {
    const read = spliced(splice, member.value);
    if (read) return { kind: 'object', members: members.with(at, { ...member, value: read }) };
    if (!splice.isFree && !cannotThrow(member.value, splice.parameters)) return undefined;
  }
  return undefined;
}

/**
 * Returns the expression with the variable replaced by its pipeline, or undefined if that position
 * is not evaluated exactly once.
 */
function spliced(splice: Splice, expression: Expression): Expression | undefined {
  switch (expression.kind) {
    case 'slot':
      return expression.slot === splice.bind.slot ? splice.pipeline : undefined;
    case 'pipeline':
      return splicedPipeline(splice, expression);
    case 'project':
    case 'property':
    case 'single': {
      const of = spliced(splice, expression.of);
      return of && { ...expression, of };
    }
    case 'exists':
    case 'not':
    case 'aggregate': {
      const of = splice.isFree ? spliced(splice, expression.of) : undefined;
      return of && { ...expression, of };
    }
    case 'record':
      return splice.isFree ? splicedRecord(splice, expression) : undefined;
    default:
      return undefined;
  }
}

function splicedRecord(splice: Splice, record: Extract<Expression, { kind: 'record' }>) {
  for (const [at, { name, value }] of record.members.entries()) {
    const read = spliced(splice, value);
    if (read) return { ...record, members: record.members.with(at, { name, value: read }) };
  }
  return undefined;
}

function splicedPipeline(splice: Splice, reader: Pipeline): Pipeline | undefined {
  const { source, steps } = reader;
  if (source.kind !== 'value') return undefined;
  if (!splice.isFree && !steps.every((step) => mayFollow(step, splice.parameters)))
    return undefined;
  const isVariable = source.of.kind === 'slot' && source.of.slot === splice.bind.slot;
  if (!isVariable) {
    const of = spliced(splice, source.of);
    return of && { ...reader, source: { kind: 'value', of } };
  }
  const { pipeline } = splice;
  const only: Step[] = pipeline.result === 'many' || yieldsOne(pipeline) ? [] : [{ kind: 'first' }];
  return { ...reader, source: pipeline.source, steps: [...pipeline.steps, ...only, ...steps] };
}

/**
 * A step that fails would fail before the variable does, because its arguments are evaluated first.
 * An empty RANGE would not read the variable at all.
 */
function mayFollow(step: Step, parameters: Parameters): boolean {
  return step.kind !== 'range' && stepCannotThrow(step, parameters);
}

const keepsElements = new Set<Step['kind']>([
  'neighbours',
  'edges',
  'expand',
  'end',
  'origin',
  'where',
  'range',
  'first',
  'dedup',
  'order',
  'intersect',
  'searchWithin',
  'rerankRRF',
  'rerankMMR',
]);

function yieldsElements({ source, steps }: Pipeline): boolean {
  if (source.kind === 'value' || source.kind === 'items' || source.kind === 'set') return false;
  return steps.every((step) => keepsElements.has(step.kind));
}

function yieldsOne({ source, steps }: Pipeline): boolean {
  const isOne = source.kind === 'byId' || (source.kind === 'lookup' && source.first);
  return isOne && steps.every((step) => step.kind === 'where' || step.kind === 'end');
}

/** Returns true if the pipeline can fail only before its first row. */
function failsAtStart({ source, steps }: Pipeline, parameters: Parameters): boolean {
  if (!steps.every((step) => stepCannotThrow(step, parameters))) return false;
  switch (source.kind) {
    case 'byId':
      return cannotThrow(source.id, parameters);
    case 'lookup':
      return cannotThrow(source.value, parameters);
    case 'searchVector':
    case 'searchText':
      return [source.prefilter, source.by].every(
        (each) => each === undefined || cannotThrow(each.value, parameters),
      );
    default:
      return false;
  }
}
