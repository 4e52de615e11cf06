// Finds full scans that a declaration or another form of the query would avoid. In such a scan, elements are
// tested or sorted one by one, although an index or a reverse traversal would lead to them. Scans that
// nothing can avoid are not reported.
import type {
  AccessPath,
  CompareOperator,
  Expression,
  ItemExpression,
  Pipeline,
  Source,
  Step,
} from '../expression.js';
import type { Plan } from '../plan.js';
import { eachOnce, rewriter } from '../rewrite.js';
import { splitConjuncts } from './conjuncts.js';
import type { Declarations } from './planner-context.js';
import { datePart } from './index-path.js';
import type { TypeRef } from '../../base/schema.js';

export interface SlowRead {
  /** The object of the plan itself. */
  source: Source;
  /** Description of the scan. */
  what: string;
  /** Advice: what to write or declare instead. */
  instead: string;
}

const prefixes = { node: 'N', edge: 'E', vector: 'V' } as const;
const printRef = ({ kind, name }: TypeRef): string => `${prefixes[kind]}<${name}>`;
const declared = ({ kind, name }: TypeRef): string => `${prefixes[kind]}::${name}`;

type Sort = Extract<Step, { kind: 'order' | 'page' }>;

/** Returns one warning for each source, in the order of the plan. */
export function slowReads({ statements, output }: Plan, declarations: Declarations): SlowRead[] {
  const found = new Map<Source, SlowRead>();
  const written = new Map<Source, Source>();
  const spare = readInstead(statements, output);
  const visit = rewriter((part) => {
    if (part.kind !== 'pipeline') return part;
    const read = spare.has(part.source) ? undefined : slowRead(part, declarations);
    if (read !== undefined && !found.has(read.source)) found.set(read.source, read);
    for (const { source } of readFor(part)) written.set(source, part.source);
    return part;
  });
  visit([statements, output]);
  // The source that a path reads first has no position in the query, so the position of the source
  // with the path is used.
  const sourceAt = (source: Source): Source => {
    const outer = written.get(source);
    return outer === undefined ? source : sourceAt(outer);
  };
  return [...found.values()].map((read) => ({ ...read, source: sourceAt(read.source) }));
}

/** Returns the sources that are read only where that is cheaper than the sources of the query. */
function readInstead(...parts: readonly unknown[]): Set<unknown> {
  const sources = new Set<unknown>();
  const written = new Set<unknown>();
  const gather = (part: unknown, into: Set<unknown>) =>
    eachOnce(part, ({ kind, source }) => {
      if (kind === 'pipeline') into.add(source);
    });
  eachOnce(parts, (part) => {
    if (part.kind !== 'semiJoin') return;
    gather(part.path, sources);
    gather(part.of, written);
  });
  for (const source of written) sources.delete(source);
  return sources;
}

/** Returns the pipelines that find the start of a source's access paths. */
function readFor({ source }: Pipeline): Pipeline[] {
  const within = (path: AccessPath): Pipeline[] => {
    if (path.kind === 'reverse') return path.value.kind === 'pipeline' ? [path.value] : [];
    if (path.kind === 'conditional') return path.of ? within(path.of) : [];
    if (path.kind === 'each') return path.of.flatMap((each) => within(each.path));
    return path.kind === 'any' || path.kind === 'shortest' ? path.of.flatMap(within) : [];
  };
  return source.kind === 'scan' && source.access ? within(source.access.path) : [];
}

function slowRead({ source, steps }: Pipeline, declarations: Declarations): SlowRead | undefined {
  if (source.kind === 'lookup') {
    const { type, property } = source;
    if (declarations.property(type, property)?.index !== 'none') return undefined;
    const what = `All of \`${printRef(type)}\` is read to find \`${property}\`.`;
    return { source, what, instead: indexOn([type], property) };
  }
  if (source.kind !== 'scan' || source.access !== undefined) return undefined;
  const { types } = source;
  const names = types.map((type) => `\`${printRef(type)}\``).join(', ');
  const [first, second] = steps;
  if (first?.kind === 'where') {
    const instead = findAdvice(types, first.condition, declarations);
    if (instead === undefined) return undefined;
    return { source, what: `All of ${names} is read to test a condition.`, instead };
  }
  const isSorted = first?.kind === 'page' || (first?.kind === 'order' && isCut(second));
  const property = isSorted ? sortedBy(first) : undefined;
  if (property === undefined || !lacks(types, property, declarations)) return undefined;
  const what = `All of ${names} is read to sort it by \`${property}\`.`;
  return { source, what, instead: indexOn(types, property) };
}

const isCut = (step: Step | undefined): boolean =>
  step?.kind === 'first' || (step?.kind === 'range' && step.end !== null);

/** Returns the first sort property if an index on it would lead to the first rows. */
function sortedBy({ kind, slot, keys }: Sort): string | undefined {
  const [key] = keys;
  // A page with unset values first does not seek.
  const isOther = key === undefined || (key.nullsFirst && kind === 'page');
  return isOther ? undefined : ownProperty(key.value, slot);
}

function ownProperty(expression: Expression, slot: number): string | undefined {
  if (expression.kind !== 'property' || expression.of.kind !== 'slot') return undefined;
  return expression.of.slot === slot ? expression.name : undefined;
}

/** Comparisons that an index decides. */
const indexed = new Set<CompareOperator>(['EQ', 'IS_IN', 'GT', 'GTE', 'LT', 'LTE', 'STARTS_WITH']);

function findAdvice(
  types: readonly TypeRef[],
  { slot, value }: ItemExpression,
  declarations: Declarations,
): string | undefined {
  for (const condition of splitConjuncts(value)) {
    const alternatives = condition.kind === 'or' ? condition.of : [condition];
    const remedies = alternatives.map((each) => remedyFor(types, slot, each, declarations));
    if (remedies.every((each) => each !== undefined)) return [...new Set(remedies)].join(' ');
  }
  return undefined;
}

function remedyFor(
  types: readonly TypeRef[],
  slot: number,
  condition: Expression,
  declarations: Declarations,
): string | undefined {
  if (condition.kind === 'semiJoin') return remedyFor(types, slot, condition.of, declarations);
  if (condition.kind === 'exists') return otherEnd(condition.of, slot);
  if (condition.kind !== 'compare') return undefined;
  const { operator, left } = condition;
  const property = ownProperty(datePart(left)?.of ?? left, slot);
  if (property !== undefined) {
    if (!indexed.has(operator) || !lacks(types, property, declarations)) return undefined;
    return indexOn(types, property);
  }
  const asks = operator === 'EQ' || operator === 'IS_IN' || operator === 'CONTAINS';
  return asks ? otherEnd(left, slot) : undefined;
}

/** Returns the edge type of a traversal from the item that could start at its far end. */
function otherEnd(expression: Expression, slot: number): string | undefined {
  const walk = expression.kind === 'property' ? expression.of : expression;
  if (walk.kind !== 'pipeline' || walk.source.kind !== 'value') return undefined;
  const { of } = walk.source;
  if (of.kind !== 'slot' || of.slot !== slot) return undefined;
  const back: string[] = [];
  for (const step of walk.steps) {
    if (step.kind !== 'neighbours') break;
    const name = step.direction === 'out' ? 'In' : 'Out';
    back.unshift(`::${name}<${step.edges.join(', ')}>`);
  }
  if (back.length === 0) return undefined;
  return `Begin at the other end and walk back: \`x${back.join('')}::DEDUP\`.`;
}

/** Returns true if every type has the property and at least one of them has no index on it. */
function lacks(types: readonly TypeRef[], name: string, declarations: Declarations): boolean {
  const all = types.map((type) => declarations.property(type, name));
  return all.every((each) => each !== undefined) && all.some((each) => each!.index === 'none');
}

const indexOn = (types: readonly TypeRef[], property: string): string =>
  `Declare \`INDEX ${property}\` in ${types.map((type) => `\`${declared(type)}\``).join(', ')}.`;
