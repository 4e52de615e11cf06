// Vector search: candidates come from the index, their scores from the stored vectors. Candidates that the
// transaction does not see are dropped, and vectors that it has not committed yet are added. Returns exactly
// min(k, vectors) hits.
import { fail } from '../../base/errors.js';
import type { Label, WriteView } from '../../storage/table/view-types.js';
import type { AllowList, Metric, VectorIndex } from '../../vector/index.js';
import { numCandidates, nextCandidateCount } from '../../vector/oversampling.js';
import { readK, readScoreMin, readVector, readWidth } from '../runtime/step-argument.js';
import { proposedLabel, storedLabel } from '../runtime/element.js';
import { asRows, type Flow, type RowFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { copyOf } from '../runtime/bound-element.js';
import { similarity } from '../runtime/similarity.js';
import { TopK } from '../operators/top-k.js';
import { Element, type Value, searchHit } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';
import { bestParents, type ToParents, widenedParents } from './best-per-parent.js';
import { type Allowed, allowedIds, allowListOf, isAllowed } from './allow-list.js';

export interface VectorSearch {
  vector: Evaluate;
  k: Evaluate;
  /** Hits with a lower score are dropped. */
  scoreMin: Evaluate | undefined;
  /** Width of a search in the graph; absent: that of the index. */
  ef?: Evaluate | undefined;
  /** Yields the parents of hits instead of hits. */
  by?: ToParents | undefined;
}

interface Query {
  vector: Float64Array;
  k: number;
  scoreMin: number;
  ef: number | undefined;
}

/** Up to this many allowed vectors, an exact scan is cheaper than the graph. */
const exactCount = 1_000;

function readQuery(frame: Frame, search: VectorSearch): Query {
  const vector = readVector(frame, search.vector, 'SearchV');
  const k = readK(frame, search.k, 'SearchV');
  const scoreMin = readScoreMin(frame, search.scoreMin);
  return { vector, k, scoreMin, ef: readWidth(frame, search.ef) };
}

/** Returns the index of a label. Fails VECTORS_SKIPPED. */
export function servedIndex(frame: Frame, label: Label): VectorIndex | undefined {
  const index = frame.context.vectors(label.id);
  if (index?.options.skipped) fail('VECTORS_SKIPPED', { type: label.name });
  return index;
}

function metricOf(frame: Frame, label: number): Metric {
  return frame.context.vectors(label)?.options.metric ?? 'cosine';
}

/** Orders by distance, then by age. Scores of close vectors may round to the same number. */
function compareDistances(a: Element, b: Element): number {
  return a.hit.distance - b.hit.distance || a.id - b.id;
}

/** Orders by score, then by age: of types with different metrics, only scores can be compared. */
function compareScores(a: Element, b: Element): number {
  return b.hit.score - a.hit.score || compareDistances(a, b);
}

/** Scores one vector; undefined if it has another dimension, or less than the lowest score. */
function hitOf(
  frame: Frame,
  query: Query,
  id: number,
  metric: Metric,
  vector: Float64Array | undefined,
  row?: Element,
): Element | undefined {
  if (vector === undefined || vector.length !== query.vector.length) return undefined;
  const { score, distance } = similarity(metric, query.vector, vector);
  if (score < query.scoreMin) return undefined;
  const element = row === undefined ? new Element(id) : copyOf(frame, row);
  element.hit = searchHit(score, distance);
  return element;
}

/** Collects the best k hits. */
class Hits {
  readonly #top: TopK<Element>;

  constructor(
    private readonly frame: Frame,
    private readonly query: Query,
    labels: readonly Label[],
  ) {
    const metrics = new Set(labels.map(({ id }) => metricOf(frame, id)));
    this.#top = new TopK(query.k, metrics.size > 1 ? compareScores : compareDistances);
  }

  /**
   * Scores one vector. The hit keeps the captured values and attributes of `row`, the element in which it was
   * found.
   */
  offer(id: number, metric: Metric, vector: Float64Array | undefined, row?: Element): void {
    const hit = hitOf(this.frame, this.query, id, metric, vector, row);
    if (hit === undefined) return;
    this.#top.offer(hit);
    this.frame.tick(1);
  }

  sorted(): Element[] {
    return this.#top.sorted();
  }
}

/** Returns the ids whose vectors this transaction has put or deleted and that the index does not know yet. */
function pendingOf(frame: Frame, label: number): Set<number> {
  const { unpublished = [], pending = [] } = frame.view as Partial<WriteView>;
  const changes = [...unpublished, ...pending];
  const ids = new Set<number>();
  for (const change of changes) if (change.label === label) ids.add(change.id);
  return ids;
}

/** Returns the vector of an element in this view. */
const vectorOf = (frame: Frame, id: number): Float64Array | undefined =>
  frame.expected(frame.view.vectorShared(id), id);

function offerExactly(frame: Frame, hits: Hits, label: Label, ids: Iterable<Uint32Array>): void {
  const metric = metricOf(frame, label.id);
  for (const batch of ids) {
    for (let i = 0; i < batch.length; i++)
      hits.offer(batch[i]!, metric, vectorOf(frame, batch[i]!));
  }
}

/**
 * Requests candidates from the index until k of them exist in this view, or it has no more. Vectors of the
 * open transaction are scored exactly.
 */
function searchIndex(
  frame: Frame,
  hits: Hits,
  label: Label,
  query: Query,
  allow: AllowList | undefined,
): void {
  const index = servedIndex(frame, label);
  if (index === undefined || index.isDisabled) {
    offerExactly(frame, hits, label, frame.view.scan(label.id));
    return;
  }
  const { metric } = index.options;
  const pending = pendingOf(frame, label.id);
  for (const id of pending) {
    if ((allow === undefined || isAllowed(allow, id)) && proposedLabel(frame, id) === label.id)
      hits.offer(id, metric, vectorOf(frame, id));
  }
  if (index.dimension !== query.vector.length) return;
  let live = 0;
  const known = new Set<number>();
  let want = numCandidates(index.options, index.dimension, query.k);
  while (want > 0) {
    const found = index.search(query.vector, want, { allow, ef: query.ef });
    for (let i = 0; i < found.count; i++) {
      const id = found.ids[i]!;
      // Count known candidates too, because every further round costs more than the last.
      frame.tick(1);
      if (known.has(id)) continue;
      known.add(id);
      if (pending.has(id) || proposedLabel(frame, id) !== label.id) continue;
      live++;
      hits.offer(id, metric, vectorOf(frame, id));
    }
    want = nextCandidateCount(index, found, want, query.k, live);
  }
}

function checkDimension(frame: Frame, label: Label, query: Query): void {
  const expected = frame.view.dimension(label.id);
  const got = query.vector.length;
  if (expected !== 0 && expected !== got)
    fail('VECTOR_DIMENSION', { type: label.name, expected, got });
}

/** Yields the k nearest vectors of a type. `allowed` yields those that pass the PREFILTER. */
export function searchVector(
  label: Label,
  search: VectorSearch,
  allowed: Allowed | undefined,
): RowFlow {
  return rowsOf((frame) => {
    const query = readQuery(frame, search);
    checkDimension(frame, label, query);
    const ids = allowed && allowedIds(frame, allowed);
    const index = servedIndex(frame, label);
    const isExact =
      index === undefined ||
      index.isDisabled ||
      (ids !== undefined && ids.length <= Math.max(exactCount, 4 * query.k));
    const all = () => (ids === undefined ? frame.view.scan(label.id) : [ids]);
    const { by } = search;
    if (by !== undefined && isExact) return exactParents(frame, label, query, by, all());
    const allow = isExact || ids === undefined ? undefined : allowListOf(ids);
    const ranked = (k: number): Element[] => {
      const wanted = { ...query, k };
      const hits = new Hits(frame, wanted, [label]);
      if (isExact) offerExactly(frame, hits, label, all());
      else searchIndex(frame, hits, label, wanted, allow);
      return hits.sorted();
    };
    if (by === undefined) return ranked(query.k);
    return (
      widenedParents(frame, by, query.k, ranked, widestSearch) ??
      exactParents(frame, label, query, by, all())
    );
  });
}

/** Beyond this many hits, one pass over all vectors is cheaper than a wider search. */
const widestSearch = 4096;

/** Returns the k best parents of all these vectors. */
function exactParents(
  frame: Frame,
  label: Label,
  query: Query,
  by: ToParents,
  ids: Iterable<Uint32Array>,
): Element[] {
  const hits = exactHits(frame, label, query, ids);
  return bestParents(frame, by, query.k, hits, compareDistances);
}

function* exactHits(
  frame: Frame,
  label: Label,
  query: Query,
  ids: Iterable<Uint32Array>,
): Iterable<Element> {
  const metric = metricOf(frame, label.id);
  for (const batch of ids) {
    for (let i = 0; i < batch.length; i++) {
      frame.tick(1);
      const hit = hitOf(frame, query, batch[i]!, metric, vectorOf(frame, batch[i]!));
      if (hit !== undefined) yield hit;
    }
  }
}

/** Yields the k nearest vectors of all types with vectors of the query's dimension. */
export function searchAnyVector(labels: readonly Label[], search: VectorSearch): RowFlow {
  return rowsOf((frame) => {
    const query = readQuery(frame, search);
    const filled = labels.filter((label) => frame.view.count(label.id) > 0);
    const fitting = filled.filter(
      (label) => frame.view.dimension(label.id) === query.vector.length,
    );
    if (fitting.length === 0 && filled.length > 0) checkDimension(frame, filled[0]!, query);
    // Every type adds its k best to one heap. Scores of different metrics are compared directly.
    const hits = new Hits(frame, query, fitting);
    for (const label of fitting) searchIndex(frame, hits, label, query, undefined);
    return hits.sorted();
  });
}

/**
 * Searches exactly among the vector rows of the labels, including duplicates; other rows are dropped. With
 * `typed`, there is one label, and its dimension is required. Otherwise at least one vector must have the
 * query's dimension.
 */
export function searchWithin(
  input: Flow,
  labels: readonly Label[],
  search: VectorSearch,
  typed: boolean,
): RowFlow {
  const { open } = asRows(input);
  return rowsOf((frame) => {
    const query = readQuery(frame, search);
    if (typed && labels.length === 1) checkDimension(frame, labels[0]!, query);
    const hits = new Hits(frame, query, labels);
    let other: Label | undefined;
    let fitting = false;
    for (const batch of open(frame)) {
      for (const row of batch) {
        frame.tick(1);
        const label = labels.find((each) => each.id === labelIdOf(frame, row));
        if (label === undefined) continue;
        const element = row as Element;
        const vector = element.vector ?? vectorOf(frame, element.id);
        if (vector?.length === query.vector.length) fitting = true;
        else if (vector !== undefined) other = label;
        hits.offer(element.id, metricOf(frame, label.id), vector, element);
      }
    }
    if (other !== undefined && !fitting) checkDimension(frame, other, query);
    return hits.sorted();
  });
}

function labelIdOf(frame: Frame, row: Value): number {
  return row instanceof Element ? storedLabel(frame, row.id) : 0;
}

function rowsOf(search: (frame: Frame) => Element[]): RowFlow {
  return { kind: 'rows', open: (frame) => hitRows(frame, search) };
}

function* hitRows(frame: Frame, search: (frame: Frame) => Element[]): Iterable<readonly Value[]> {
  const hits = search(frame);
  if (hits.length > 0) yield hits;
}
