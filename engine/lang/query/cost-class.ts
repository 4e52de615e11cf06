// Estimates the cost class of a plan from its structure alone: A runs inline, B is batched, C occupies a
// reader for a long time, W writes. Measurements at run time correct the estimate.
import { stepsLeft } from '../../plan/access-path.js';
import type { AccessPath, Pipeline, Source } from '../../plan/expression.js';
import type { CostClass, Plan } from '../../plan/plan.js';
import { printedSize } from './printed-size.js';
import type { SchemaIndex } from '../type/schema-index.js';

const searchMany = 1_000;
/** Number of printed values above which a reply takes several milliseconds. */
const printedMax = 10_000;

interface Survey {
  /** Number of steps to neighbors or edges in the whole plan. */
  hops: number;
  wide: boolean;
  /** Number of sources that read a whole type. */
  scans: number;
  /** True for a bounded amount of work that exceeds a lookup. */
  batch: boolean;
  /** Visited parts. Parts of a plan may be shared; each is visited once. */
  seen: Set<object>;
}

export function estimateCost(plan: Plan, schema: SchemaIndex): CostClass {
  if (plan.writes) return 'W';
  const batch = plan.embeds.length > 0;
  const survey: Survey = { hops: 0, scans: 0, wide: false, batch, seen: new Set() };
  const singles = new Set<number>();
  for (const statement of plan.statements) {
    if (statement.kind === 'for') survey.batch = true;
    const value = statement.kind === 'bind' ? statement.value : undefined;
    const single = value?.kind !== 'pipeline' || value.result !== 'many';
    if (statement.kind === 'bind' && single) singles.add(statement.slot);
  }
  visitPipelines([plan.statements, plan.output], survey, schema, singles);
  if (printedSize(plan) > printedMax) survey.wide = true;
  if (survey.wide || (survey.scans > 0 && survey.hops > 0)) return 'C';
  return survey.batch || survey.hops > 1 ? 'B' : 'A';
}

/** Visits every pipeline, at any depth. */
function visitPipelines(
  value: unknown,
  survey: Survey,
  schema: SchemaIndex,
  singles: ReadonlySet<number>,
): void {
  if (typeof value !== 'object' || value === null || survey.seen.has(value)) return;
  survey.seen.add(value);
  const node = value as { kind?: unknown };
  if (node.kind === 'literal') return;
  if (node.kind === 'pipeline') surveyPipeline(node as Pipeline, survey, schema, singles);
  for (const member of Object.values(value)) visitPipelines(member, survey, schema, singles);
}

function surveyPipeline(
  pipeline: Pipeline,
  survey: Survey,
  schema: SchemaIndex,
  singles: ReadonlySet<number>,
): void {
  const { source } = pipeline;
  const steps = stepsLeft(pipeline);
  // The number of elements of a type is stored.
  if (source.kind === 'scan' && !source.access && steps[0]?.kind === 'count') return;
  let rows = classifyRows(source, schema, singles);
  if (source.kind === 'scan' && source.access?.path.kind === 'incident') survey.hops++;
  if (rows !== 'one') survey.batch = true;
  if (rows === 'all') survey.scans++;
  // These steps read all rows before they yield the first one.
  if (rows === 'all' && source.kind !== 'scan') survey.wide = true;
  let hops = 0;
  for (const step of steps) {
    switch (step.kind) {
      case 'expand':
      case 'neighbours':
      case 'edges':
        // A repetition counts as two hops.
        hops += step.kind === 'expand' && step.hops !== undefined ? 2 : 1;
        if (hops > 1 || rows === 'all') survey.wide = true;
        break;
      case 'order':
        if (hops > 1 || rows === 'all') survey.wide = true;
        survey.batch = true;
        break;
      case 'shortestPath':
      case 'intersect':
        survey.wide = true;
        break;
      case 'range':
      case 'first':
        if (rows === 'all') rows = 'some';
        break;
      case 'count':
      case 'end':
      case 'origin':
        break;
      default:
        if (rows === 'all') survey.wide = true;
    }
  }
  survey.hops += hops;
}

/** `all`: every element of a type; `some`: a list of unknown length. */
function classifyRows(
  source: Source,
  schema: SchemaIndex,
  singles: ReadonlySet<number>,
): 'one' | 'some' | 'all' {
  switch (source.kind) {
    case 'scan':
      return source.access === undefined ? 'all' : rowsAt(source.access.path);
    case 'byId':
      return 'one';
    case 'lookup': {
      const property = schema.property(source.type, source.property);
      return property?.index === 'none' ? 'all' : 'one';
    }
    case 'searchVector':
    case 'searchText': {
      const k = source.k.kind === 'literal' ? Number(source.k.value) : 0;
      return k > searchMany ? 'all' : 'some';
    }
    case 'batch': {
      const properties = source.types.map((type) => schema.property(type, source.property));
      return properties.some((property) => property?.index === 'none') ? 'all' : 'some';
    }
    case 'value':
      return source.of.kind === 'slot' && singles.has(source.of.slot) ? 'one' : 'some';
    default:
      return 'some';
  }
}

function rowsAt(path: AccessPath): 'one' | 'some' | 'all' {
  switch (path.kind) {
    case 'id':
    case 'equal':
      return path.list ? 'some' : 'one';
    case 'ordered':
      return path.low || path.high ? 'some' : 'all';
    default:
      return 'some';
  }
}
