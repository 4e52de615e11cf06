// Removes elements, few or many. Every list that some of them leave (a block of their label, the edges of an
// element) is written once for all of them, in key order. So the cost of a hub is that of its edges, however
// many of them share a list.
// Invariant: a removal that exceeds the limits is refused before its first change.
import { ByteWriter } from '../../base/bytes.js';
import { checkIntegrity } from '../../base/integrity.js';
import { removeEdges } from '../graph/adjacency.js';
import type { UndoLog } from '../table/undo-log.js';
import type { Table } from '../table/env.js';
import { orderOf } from '../table/radix-sort.js';
import { IndexEntryBuffer } from '../index/index-entry-buffer.js';
import type { AdjacencyKey } from '../table/keys.js';
import { removeFromList } from '../graph/label-bitmap.js';
import { removeEntries } from '../index/property-index.js';
import { fromOf, kindOf, labelOf, toOf, uuidAt } from '../record/record.js';
import { decodeFormer } from '../record/stored-float.js';
import type { Catalog } from '../table/view-types.js';
import { putWord } from '../table/little-endian.js';
import type { WriteContext } from './write-context.js';

/** The planned changes, in the order of writing. */
interface Plan {
  /**
   * Copies of the records, end to end, in the order of ids: each is read once, and the undo log uses the
   * copy.
   */
  records: Uint8Array;
  /** Start of each record, and the end of the last one. */
  starts: Uint32Array;
  /** Ids by label, ascending. */
  lists: Map<number, number[]>;
  removals: EdgeRemovals[];
  /** Number of changes that are certain. */
  changes: number;
}

/** Edges of one type to remove from the lists of their endpoints in one direction. */
interface EdgeRemovals {
  table: Table<AdjacencyKey>;
  label: number;
  edges: number[];
  ends: number[];
  /** Positions by ascending endpoint; see radix-sort.ts. */
  order: Uint32Array;
}

/** Changes that every element causes: its record and its uuid. */
const ownChanges = 2;

/** Elements between two checks of the deadline. */
const tickElements = 256;

/** Elements whose index entries are collected, so that those under one value are removed together. */
const windowElements = 8192;

type Tick = (count: number) => void;

/** Scratch memory for the present uuid and its value: an array for each would cost as much as the removal. */
const idBytes = new Uint8Array(4);
const uuid = new Uint8Array(16);

/**
 * Removes elements. `ids` ascend and exist; all edges of a removed node or vector are among them or already
 * removed. Calls `onVector` for every removed vector, in order. Fails TXN_TOO_LARGE.
 */
export function removeElements(
  context: WriteContext,
  catalog: Catalog,
  ids: Uint32Array,
  tick: Tick,
  onVector: (label: number, id: number) => void,
): void {
  const { log, env, totals } = context;
  const {
    records,
    starts,
    lists,
    removals: cuts,
    changes,
  } = planRemoval(context, catalog, ids, tick);
  log.expect(changes);
  const entries = new IndexEntryBuffer();
  const removeAll = (): void =>
    entries.take((_, key, those) => removeEntries(log, env.index, key, those));
  for (let at = 0; at < ids.length; at++) {
    if (at % tickElements === 0) tick(Math.min(tickElements, ids.length - at));
    if (at % windowElements === 0) removeAll();
    const id = ids[at]!;
    const record = records.subarray(starts[at]!, starts[at + 1]!);
    const label = catalog.label(labelOf(record));
    for (const property of label.properties) {
      if (property.indexId === 0) continue;
      const value = decodeFormer(record, property);
      if (value !== null) entries.addValue(property, value, id);
    }
    if (kindOf(record) === 'vector') {
      log.remove(env.vectors, id);
      onVector(label.id, id);
    }
    putWord(idBytes, 0, id);
    for (let i = 0; i < uuid.length; i++) uuid[i] = record[uuidAt.own + i]!;
    log.cut(env.uuid, uuid, idBytes);
    log.cut(env.records, id, record);
  }
  removeAll();
  for (const [label, list] of lists) {
    removeFromList(log, env.labels, label, Uint32Array.from(list));
    totals.change(label, { count: totals.of(label).count - list.length });
  }
  for (const one of cuts) cut(log, one, tick);
}

function planRemoval(
  { env, log }: WriteContext,
  catalog: Catalog,
  ids: Uint32Array,
  tick: Tick,
): Plan {
  const records = new ByteWriter(256);
  const starts = new Uint32Array(ids.length + 1);
  const lists = new Map<number, number[]>();
  const removals = new Map<number, { out: EdgeRemovals; in: EdgeRemovals }>();
  let changes = ownChanges * ids.length;
  for (let at = 0; at < ids.length; at++) {
    if (at % tickElements === 0) {
      tick(Math.min(tickElements, ids.length - at));
      // Stop before records are copied if the changes already exceed the limit.
      log.expect(changes);
    }
    const id = ids[at]!;
    const record = env.records.peek(id);
    checkIntegrity(record, 'an element that is to go is missing');
    records.append(record);
    starts[at + 1] = records.length;
    const label = catalog.label(labelOf(record));
    for (const property of label.properties) {
      if (property.indexId !== 0 && decodeFormer(record, property) !== null) changes++;
    }
    getOrInsert(lists, label.id, () => []).push(id);
    if (kindOf(record) !== 'edge') continue;
    const both = getOrInsert(removals, label.id, () => ({
      out: noRemovals(env.out, label.id),
      in: noRemovals(env.in, label.id),
    }));
    both.out.edges.push(id);
    both.out.ends.push(fromOf(record));
    both.in.edges.push(id);
    both.in.ends.push(toOf(record));
  }
  const all = [...removals.values()].flatMap((both) => [both.out, both.in]);
  for (const one of all) {
    one.order = orderOf(Uint32Array.from(one.ends), one.ends.length);
    changes += countEnds(one);
  }
  return { records: records.bytes, starts, lists, removals: all, changes };
}

const noRemovals = (table: Table<AdjacencyKey>, label: number): EdgeRemovals => {
  return { table, label, edges: [], ends: [], order: new Uint32Array(0) };
};

function getOrInsert<K, T>(map: Map<K, T>, key: K, make: () => T): T {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

/** Returns the number of distinct endpoints: each has a list that changes. */
function countEnds({ ends, order }: EdgeRemovals): number {
  let count = 0;
  for (let at = 0; at < order.length; at++) {
    if (at === 0 || ends[order[at]!] !== ends[order[at - 1]!]) count++;
  }
  return count;
}

/** Removes edges from the lists of their endpoints. */
function cut(log: UndoLog, { table, label, edges, ends, order }: EdgeRemovals, tick: Tick): void {
  const sorted = new Uint32Array(order.length);
  for (let at = 0; at < order.length; at++) sorted[at] = edges[order[at]!]!;
  for (let at = 0; at < order.length; ) {
    const id = ends[order[at]!]!;
    const first = at;
    while (at < order.length && ends[order[at]!] === id) at++;
    tick(1);
    removeEdges(log, table, { id, label }, sorted.subarray(first, at));
  }
}
