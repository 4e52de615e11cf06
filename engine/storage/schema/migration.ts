// Rewrites the elements of mapped types (helixql.md 2.6) in the caller's transaction.
// Invariant: every element of a mapped type has exactly the values of its mapping. When elements move to
// another label, adjacency, label lists, totals, embeddings and keyword documents follow.
import { instantFromMicros } from '../../base/date.js';
import { TrellisError, errorMessage } from '../../base/errors.js';
import { printType } from '../../base/schema.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { checkIntegrity } from '../../base/integrity.js';
import { readAdjacency, writeAdjacency } from '../graph/adjacency.js';
import { convertScalar } from './cast.js';
import { type DocumentIndex, textsOf } from '../record/text-document.js';
import { addAllToList, removeFromList, scanList } from '../graph/label-bitmap.js';
import type { FieldRule } from '../../base/migration-rule.js';
import type { Move } from './migration-plan.js';
import { decodeProperty, fromOf, toOf } from '../record/record.js';
import { encodeRecord, headOf } from '../record/record-writer.js';
import { Violations } from './apply-indexes.js';
import type { Catalog, Label, StoredProperty } from '../table/view-types.js';
import { readVector } from '../record/vector-record.js';
import { logChange } from '../record/vector-log.js';
import type { LmdbWriteView } from '../view/write-view.js';
import type { WriteContext } from '../view/write-context.js';

export interface Rewrite {
  context: WriteContext;
  view: LmdbWriteView;
  before: Catalog;
  after: Catalog;
  nowMs: number;
  text: DocumentIndex | undefined;
}

/**
 * Rewrites all elements of the moves. Fails SCHEMA_INCOMPATIBLE with the ids of the elements that cannot be
 * converted.
 */
export function rewriteElements(rewrite: Rewrite, moves: readonly Move[]): void {
  const { env } = rewrite.context;
  // List the elements before any of them moves, so that none is rewritten twice.
  const listed = moves.map((move) => [...scanList(env.labels, move.from)]);
  for (const [i, move] of moves.entries()) {
    const violations = new Violations(env, move.mapping.from);
    for (const ids of listed[i]!)
      for (const id of ids) rewriteElement(rewrite, move, id, violations);
    violations.refuse();
    if (move.from !== move.to && move.mapping.kind === 'edge') {
      moveAdjacency(rewrite.context, move, listed[i]!);
    }
  }
}

function rewriteElement(rewrite: Rewrite, move: Move, id: number, violations: Violations): void {
  const { context, view, before, after, text } = rewrite;
  const { env, log, limits } = context;
  const former = env.records.get(id);
  checkIntegrity(former, 'a listed element is missing');
  const source = before.label(move.from);
  const target = after.label(move.to);
  const values = new Map<string, Scalar | ScalarList>();
  for (const property of target.properties) {
    const value = valueFor(rewrite, move, source, former, property);
    if (value === undefined) violations.add(`${property.name}, which cannot be converted,`, id);
    else if (value !== null) values.set(property.name, value);
  }
  let record: Uint8Array;
  try {
    record = encodeRecord(
      { ...headOf(former), label: target.id },
      target.properties,
      values,
      limits,
    );
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    violations.add(errorMessage(error.data), id);
    return;
  }
  const [formerTexts, texts] = [textsOf(source, former), textsOf(target, record)];
  if (formerTexts.length > 0) text?.remove(view, source.id, id, formerTexts);
  log.put(env.records, id, record);
  if (move.from !== move.to) relabel(context, move, id, violations);
  if (texts.length > 0) text?.add(view, target.id, id, texts);
}

/** Returns the value of a property of the new type; undefined if its rule fails. */
function valueFor(
  { nowMs }: Rewrite,
  { mapping }: Move,
  source: Label,
  record: Uint8Array,
  property: StoredProperty,
): Scalar | ScalarList | null | undefined {
  const rule = mapping.fields.find(({ name }) => name === property.name)?.rule;
  if (rule === undefined) {
    const same = source.properties.find(({ name }) => name === property.name);
    const isCopied = same && printType(same.type) === printType(property.type);
    return isCopied ? decodeProperty(record, same) : null;
  }
  if (rule.kind === 'now') return instantFromMicros(nowMs * 1000);
  const value = rule.kind === 'literal' ? rule.value : copied(rule, source, record);
  return property.type.kind === 'scalar'
    ? convertScalar(value as Scalar, property.type.name)
    : value;
}

function copied(
  rule: FieldRule & { kind: 'copy' },
  source: Label,
  record: Uint8Array,
): Scalar | ScalarList | null {
  const old = source.properties.find(({ name }) => name === rule.from);
  return old ? decodeProperty(record, old) : null;
}

/** Moves an element to the list, the totals and the vector index of another label. */
function relabel(
  { env, log, totals }: WriteContext,
  move: Move,
  id: number,
  violations: Violations,
): void {
  removeFromList(log, env.labels, move.from, Uint32Array.of(id));
  addAllToList(env.labels, move.to, [id], log);
  totals.change(move.from, { count: totals.of(move.from).count - 1 });
  const { count, dimension } = totals.of(move.to);
  totals.change(move.to, { count: count + 1 });
  const vector = move.mapping.kind === 'vector' ? readVector(env.vectors, id) : undefined;
  if (!vector) return;
  // A type without vectors has no dimension.
  if (count === 0) totals.change(move.to, { dimension: vector.length });
  else if (dimension !== vector.length) violations.add('an embedding of another dimension', id);
  logChange(log, env.vlog, totals.state.nextSeq++, { kind: 'delete', label: move.from, id });
  logChange(log, env.vlog, totals.state.nextSeq++, { kind: 'put', label: move.to, id });
}

/** Moves all edges of one label to another: merges whole lists by edge id. */
function moveAdjacency(
  { env, log }: WriteContext,
  move: Move,
  listed: readonly Uint32Array[],
): void {
  const ends = { out: new Set<number>(), in: new Set<number>() };
  for (const ids of listed) {
    for (const edge of ids) {
      const record = env.records.peek(edge);
      checkIntegrity(record, 'a listed element is missing');
      ends.out.add(fromOf(record));
      ends.in.add(toOf(record));
    }
  }
  for (const direction of ['out', 'in'] as const) {
    const table = env[direction];
    for (const id of ends[direction]) {
      const moved = readAdjacency(table, id, move.from);
      const present = readAdjacency(table, id, move.to);
      writeAdjacency(log, table, { id, label: move.from }, new Uint32Array(0));
      writeAdjacency(log, table, { id, label: move.to }, merged(present, moved));
    }
  }
}

/** Merges two lists of pairs, each ascending by edge id. */
function merged(a: Uint32Array, b: Uint32Array): Uint32Array {
  const pairs = new Uint32Array(a.length + b.length);
  for (let i = 0, j = 0, to = 0; to < pairs.length; to += 2) {
    const takeA = j >= b.length || (i < a.length && a[i]! < b[j]!);
    const [from, at] = takeA ? [a, i] : [b, j];
    pairs[to] = from[at]!;
    pairs[to + 1] = from[at + 1]!;
    if (takeA) i += 2;
    else j += 2;
  }
  return pairs;
}
