// Compiles a pipeline to a flow: its source, or the access path that the planner chose for it, then each
// step. An edge step together with its endpoint step becomes a neighbor step. ORDER with a following slice
// becomes a bounded heap.
import { unreachable } from '../../base/assert.js';
import type { Expression, Pipeline, Source, Step } from '../../plan/expression.js';
import { fuseEdgeEnd } from '../../plan/rule/fuse-edge-steps.js';
import type { TypeRef } from '../../base/schema.js';
import type { Label } from '../../storage/table/view-types.js';
import type { Allowed } from '../search/allow-list.js';
import { readBound } from '../runtime/step-argument.js';
import { buildAccess, comesInOrder } from './access.js';
import { buildCombined } from './set-and-fusion.js';
import { buildGrouping } from './grouping.js';
import { buildPaging, buildSeek, type SeekSource } from './paging.js';
import { buildWhere } from './where.js';
import { type Builder, declared, edgeLabels, labelOf } from '../runtime/build-context.js';
import type { Flow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { buildAssignments } from '../change/element-writer.js';
import { addEdges } from '../change/create.js';
import { update, upsertNode, upsertVector } from '../change/update-steps.js';
import { dedup, dedupBy, intersect, map } from '../operators/filter.js';
import { group } from '../operators/group.js';
import { edgeEnds, edges, edgesOrEnds, neighbours } from '../operators/neighbour.js';
import { order } from '../operators/order.js';
import { page } from '../page/page.js';
import { rerankMMR, rerankRRF } from '../search/rerank.js';
import { shortestPath } from '../search/shortest-path.js';
import { batch, byIds, byProperty } from '../operators/batch-lookup.js';
import { count, first, slice } from '../operators/slice.js';
import { edgesAfter } from '../page/list-seek.js';
import { itemIds, itemRows } from '../operators/session-items.js';
import { byId, lookup, nothing, rowsOfValue, scan } from '../operators/source.js';
import { searchText } from '../search/text-search.js';
import { searchAnyVector, searchVector, searchWithin } from '../search/vector-search.js';
import {
  bothEnds,
  otherEnds,
  expandRepeated,
  expandEdges,
  withOrigin,
} from '../operators/expand.js';
import { expandRepeatedFromAll } from '../operators/multi-source-bfs.js';
import type { Evaluate } from '../runtime/compiled.js';

type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;

export function buildFlow(builder: Builder, { source, steps }: Pipeline): Flow {
  const isSorted = source.kind === 'scan' && comesInOrder(builder, source);
  const fused = fuse(isSorted ? steps : steps.map(unsorted));
  const at = fused.findIndex(
    (step) => (step.kind === 'page' || step.kind === 'order') && step.seek,
  );
  const sort = fused[at] as StepOf<'page' | 'order'> | undefined;
  const seek = sort?.seek?.list
    ? { seek: { start: undefined, ordered: true }, flow: undefined }
    : buildSeek(builder, source, sort, needed(builder, fused[at + 1]));
  const listed = sort?.seek?.list ? fused.findLastIndex(({ kind }) => kind === 'edges') : -1;
  const plain = (count: number): Flow => {
    let flow = seek?.flow ?? buildSource(builder, source, fused[0]);
    for (let i = 0; i < count; i++) flow = buildStep(builder, flow, fused[i]!, fused[i + 1]);
    return flow;
  };
  const access = source.kind === 'scan' ? source.access : undefined;
  const covers = access?.covers ?? 0;
  let flow = plain(covers);
  if (source.kind === 'scan' && access !== undefined) {
    const [tested] = fused;
    const filter = tested?.kind === 'where' ? buildWhere(builder, tested.condition) : undefined;
    flow = buildAccess(builder, source, { plain: flow, filter }, needed(builder, fused[covers]));
  } else flow = builder.profiled(source, flow);
  for (let i = covers; i < fused.length; i++) {
    const step = fused[i]!;
    const next = seek && i === at ? buildSought : i === listed ? buildListed : buildStep;
    flow = builder.profiled(step, next(builder, flow, step, fused[i + 1], seek!));
  }
  return flow;
}

/** Compiles a source of edges in which a page starts. */
function buildListed(
  builder: Builder,
  input: Flow,
  step: Step,
  _: Step | undefined,
  { seek }: Pick<SeekSource, 'seek'>,
): Flow {
  const { edges: names, direction } = step as StepOf<'edges'>;
  return edgesAfter(input, { labels: ids(edgeLabels(builder, names)), direction }, seek);
}

/** Compiles a page or an order whose source can start at a position. */
function buildSought(
  builder: Builder,
  input: Flow,
  step: Step,
  next: Step | undefined,
  source: Pick<SeekSource, 'seek'>,
): Flow {
  if (step.kind === 'page') return page(input, buildPaging(builder, step, source));
  const ordering = buildOrdering(builder, step as StepOf<'order'>);
  const { seek } = source;
  return order(input, { ...ordering, sorted: () => seek.ordered }, needed(builder, next));
}

/** Without the index that the planner expected, rows are not sorted. */
function unsorted(step: Step): Step {
  if (step.kind !== 'order' || !step.sorted) return step;
  const { sorted: _, ...rest } = step;
  return rest;
}

function fuse(steps: readonly Step[]): Step[] {
  const fused: Step[] = [];
  for (const step of steps) {
    const one = fuseEdgeEnd(fused.at(-1), step);
    if (one === undefined) fused.push(step);
    else fused[fused.length - 1] = one;
  }
  return fused;
}

function labelsOf(builder: Builder, types: readonly { kind: Label['kind']; name: string }[]) {
  return types
    .map((type) => labelOf(builder, type.kind, type.name))
    .filter((label) => label !== undefined);
}

function optional(builder: Builder, expression: Expression | null | undefined) {
  return expression ? builder.value(expression) : undefined;
}

function buildSource(builder: Builder, source: Source, next: Step | undefined): Flow {
  switch (source.kind) {
    case 'scan':
      return scan(labelsOf(builder, source.types).map((label) => label.id));
    case 'byId': {
      const label = labelOf(builder, source.type.kind, source.type.name);
      if (!label) return nothing;
      const others = (source.others ?? []).map((type) => labelOf(builder, type.kind, type.name));
      const labels = [label, ...others.filter((each) => each !== undefined)];
      return byId(labels, builder.value(source.id), source.miss);
    }
    case 'batch':
      return buildBatch(builder, source);
    case 'lookup': {
      const label = labelOf(builder, source.type.kind, source.type.name);
      const property = label?.properties.find((each) => each.name === source.property);
      if (!label || !property) return nothing;
      const { first, miss } = source;
      return lookup({ label, property, value: builder.value(source.value), first, miss });
    }
    case 'value':
      return rowsOfValue(builder.value(source.of));
    case 'items': {
      const isStep = next?.kind === 'neighbours' || next?.kind === 'edges';
      return (isStep ? itemIds : itemRows)(source.start, source.end);
    }
    case 'set':
    case 'fuse':
      return buildCombined(builder, source);
    default:
      return buildSearch(builder, source);
  }
}

function buildBatch(builder: Builder, source: Extract<Source, { kind: 'batch' }>): Flow {
  const { types, property: name, nulls } = source;
  const labels = types.flatMap((type) => labelOf(builder, type.kind, type.name) ?? []);
  const isId = labels.every((label) => label.properties.every((each) => each.name !== name));
  const finders = isId
    ? [byIds(labels)]
    : labels.flatMap((label) => {
        const property = label.properties.find((each) => each.name === name);
        return property ? [byProperty(label, property)] : [];
      });
  return batch(finders, builder.value(source.values), nulls);
}

type SearchSource = Extract<Source, { kind: 'searchVector' | 'searchText' | 'searchAnyVector' }>;

function buildSearch(builder: Builder, source: SearchSource): Flow {
  switch (source.kind) {
    case 'searchVector': {
      const label = labelOf(builder, 'vector', source.type);
      if (!label) return nothing;
      return searchVector(label, vectorSearch(builder, source), buildAllowed(builder, source));
    }
    case 'searchAnyVector': {
      const labels = builder.catalog.labels().filter((label) => label.kind === 'vector');
      return searchAnyVector(labels, vectorSearch(builder, source));
    }
    case 'searchText': {
      const label = labelOf(builder, source.type.kind, source.type.name);
      if (!label) return nothing;
      const { prefilter } = source;
      return searchText(label, {
        text: builder.value(source.text),
        k: builder.value(source.k),
        prefilter: prefilter && {
          slot: prefilter.slot,
          condition: builder.value(prefilter.value),
        },
        allowed: source.shared === undefined ? undefined : buildAllowed(builder, source),
        scoreMin: optional(builder, source.scoreMin),
        by: source.by && { slot: source.by.slot, value: builder.value(source.by.value) },
        mode: optional(builder, source.mode),
        prefix: optional(builder, source.prefix),
      });
    }
    default:
      return unreachable(source);
  }
}

/** Compiles the filter of a search as a scan with a condition. */
function buildAllowed(
  builder: Builder,
  source: Extract<Source, { kind: 'searchVector' | 'searchText' }>,
): Allowed | undefined {
  const { prefilter, access, shared } = source;
  if (prefilter === undefined) return undefined;
  const type: TypeRef =
    source.kind === 'searchText' ? source.type : { kind: 'vector', name: source.type };
  const flow = builder.flow({
    kind: 'pipeline',
    source: { kind: 'scan', types: [type], ...(access && { access }) },
    steps: [{ kind: 'where', condition: prefilter }],
    result: 'many',
  });
  return { flow, shared };
}

function vectorSearch(
  builder: Builder,
  search: Pick<
    Extract<Source, { kind: 'searchVector' }>,
    'vector' | 'k' | 'scoreMin' | 'ef' | 'by'
  >,
) {
  return {
    vector: builder.value(search.vector),
    k: builder.value(search.k),
    scoreMin: optional(builder, search.scoreMin),
    ef: optional(builder, search.ef),
    by: search.by && { slot: search.by.slot, value: builder.value(search.by.value) },
  };
}

function buildStep(builder: Builder, input: Flow, step: Step, next: Step | undefined): Flow {
  switch (step.kind) {
    case 'neighbours':
      return neighbours(input, reached(builder, step), step.direction);
    case 'edges':
      return (step.turn ? edgesOrEnds : edges)(
        input,
        ids(edgeLabels(builder, step.edges)),
        step.direction,
      );
    case 'expand':
      return buildWalk(builder, input, step);
    case 'origin':
      return withOrigin(input, step.end);
    case 'end': {
      if (step.end === 'other') return otherEnds(input);
      const label = step.edge && labelOf(builder, 'edge', step.edge);
      if (step.edge && !label) return nothing;
      return edgeEnds(input, step.end, label ? label.id : undefined);
    }
    case 'where':
      return buildWhere(builder, step.condition)(input);
    case 'intersect':
      return intersect(input, step.of.slot, builder.value(step.of.value));
    case 'range':
      return slice(input, buildWindow(builder, step));
    case 'first':
      return first(input);
    case 'count':
      return count(input);
    case 'dedup':
      return buildDedup(builder, input, step);
    case 'map':
      return map(input, step.value.slot, builder.value(step.value.value));
    case 'order':
      return order(input, buildOrdering(builder, step), needed(builder, next));
    case 'page':
      return page(input, buildPaging(builder, step, undefined));
    case 'group':
      return group(input, buildGrouping(builder, step));
    default:
      return buildLateStep(builder, input, step);
  }
}

type LateStep = StepOf<
  | 'searchWithin'
  | 'rerankRRF'
  | 'rerankMMR'
  | 'update'
  | 'upsertNode'
  | 'upsertVector'
  | 'addEdge'
  | 'shortestPath'
>;

/** Compiles rerankers, searches within rows, paths, and steps that write. */
function buildLateStep(builder: Builder, input: Flow, step: LateStep): Flow {
  switch (step.kind) {
    case 'searchWithin': {
      const vectors = builder.catalog.labels().filter((label) => label.kind === 'vector');
      const { type } = step;
      const labels = type === undefined ? vectors : vectors.filter((each) => each.name === type);
      return searchWithin(input, labels, vectorSearch(builder, step), type !== undefined);
    }
    case 'rerankRRF':
      return rerankRRF(input, optional(builder, step.k));
    case 'rerankMMR':
      return rerankMMR(input, builder.value(step.lambda), optional(builder, step.distance));
    case 'update':
      return update(input, { slot: step.slot, set: buildAssignments(builder, step.set) });
    case 'upsertNode': {
      const change = { slot: step.slot, set: buildAssignments(builder, step.set) };
      return upsertNode(input, change, declared(builder, 'node', step.type));
    }
    case 'upsertVector': {
      const change = { slot: step.slot, set: buildAssignments(builder, step.set) };
      const label = declared(builder, 'vector', step.type);
      return upsertVector(input, change, label, builder.value(step.vector));
    }
    case 'addEdge':
      return addEdges(input, {
        label: declared(builder, 'edge', step.type),
        set: buildAssignments(builder, step.set),
        slot: step.slot,
        from: optional(builder, step.from),
        to: optional(builder, step.to),
      });
    case 'shortestPath':
      return buildPath(builder, input, step);
    default:
      return unreachable(step);
  }
}

function buildWalk(builder: Builder, input: Flow, step: StepOf<'expand'>): Flow {
  const { direction, take, condition, hops } = step;
  const labels = ids(edgeLabels(builder, step.edges));
  const test = condition && { slot: condition.slot, value: builder.value(condition.value) };
  const walk = { labels, direction, condition: test };
  if (hops) {
    const bounds = { min: hops.min, max: optional(builder, hops.max) };
    return (hops.multiSource ? expandRepeatedFromAll : expandRepeated)(input, walk, bounds);
  }
  const isPlain = test === undefined && direction === 'both' && take === 'far';
  return isPlain ? bothEnds(input, labels) : expandEdges(input, walk, take);
}

const ids = (labels: readonly Label[]): number[] => labels.map((label) => label.id);

/**
 * Returns the edge labels of a neighbor step whose far ends have the wanted kind. The edge type determines
 * that kind.
 */
function reached(builder: Builder, { edges, direction, farKind }: StepOf<'neighbours'>): number[] {
  const labels = edgeLabels(builder, edges);
  if (farKind === undefined) return ids(labels);
  const kindOf = (label: Label) =>
    builder.catalog.label((direction === 'out' ? label.to : label.from)!).kind;
  return ids(labels.filter((label) => kindOf(label) === farKind));
}

function buildWindow(builder: Builder, { start, end }: StepOf<'range'>) {
  const from = builder.value(start);
  const to = optional(builder, end);
  return (frame: Frame) => ({
    start: readBound(frame, from),
    end: to ? readBound(frame, to) : Number.POSITIVE_INFINITY,
  });
}

function buildDedup(builder: Builder, input: Flow, { by }: StepOf<'dedup'>): Flow {
  if (by === undefined) return dedup(input);
  return dedupBy(
    input,
    by.slot,
    by.keys.map((key) => builder.value(key)),
  );
}

function buildOrdering(builder: Builder, { slot, keys, sorted }: StepOf<'order'>) {
  const made = keys.map((key) => ({ ...key, value: builder.value(key.value) }));
  return { slot, keys: made, sorted: sorted ? () => true : undefined };
}

/** Returns the number of rows of an ORDER that the next step reads, if it is known. */
function needed(builder: Builder, next: Step | undefined): ((frame: Frame) => number) | undefined {
  if (next?.kind === 'first') return () => 1;
  if (next?.kind !== 'range' || next.end === null) return undefined;
  const window = buildWindow(builder, next);
  return (frame) => {
    const { start, end } = window(frame);
    return start < end ? end : 0;
  };
}

function buildPath(builder: Builder, input: Flow, step: StepOf<'shortestPath'>): Flow {
  const { algorithm, reverse, one, weight, heuristic, condition } = step;
  const value: Evaluate | undefined = weight && builder.value(weight.value);
  return shortestPath(input, {
    algorithm,
    labels: ids(edgeLabels(builder, step.edges)),
    direction: step.both ? 'both' : 'out',
    condition: condition && { slot: condition.slot, value: builder.value(condition.value) },
    reverse,
    target: builder.value(step.target),
    weight: weight && { slot: weight.slot, value: value! },
    heuristic: heuristic === undefined ? undefined : builder.member(heuristic),
    one,
  });
}
