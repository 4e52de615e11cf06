// Removes elements, few or many: every list that some of them leave (a block of their type's list, the
// edges of an element) is written once for all of them, in the order of keys, so that the cost of a hub
// is that of its edges, however many of them share a list. Invariant: what is going to be refused for its
// size is refused before the first change.
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

/** What goes, in the order in which it is written. */
interface Plan {
  /** Copies end to end, in the order of ids: what goes is read once, and undone from them. */
  records: Uint8Array;
  /** Of each record, and the end of the last one. */
  starts: Uint32Array;
  /** Ids by label, ascending. */
  lists: Map<number, number[]>;
  cuts: Cuts[];
  /** Changes that are certain. */
  changes: number;
}

/** Edges of one type that leave the lists of their ends in one direction. */
interface Cuts {
  table: Table<AdjacencyKey>;
  label: number;
  edges: number[];
  ends: number[];
  /** Places by ascending end; see radix-sort.ts. */
  order: Uint32Array;
}

/** Changes that every element makes: its record, its uuid. */
const ownChanges = 2;

/** Elements between two looks at the clock. */
const tickElements = 256;

/** Elements whose index entries are collected, so that those under one value go together. */
const windowElements = 8192;

type Tick = (count: number) => void;

/** What stands under the uuid at hand, and the uuid: an array for each would cost as much as its removal. */
const idBytes = new Uint8Array(4);
const uuid = new Uint8Array(16);

/**
 * `ids` ascend and are of elements that exist; of a node or vector all edges are among them, or have
 * gone before.
 * `onVector` hears of every vector, in their order.
 */
export function removeElements(
  context: WriteContext,
  catalog: Catalog,
  ids: Uint32Array,
  tick: Tick,
  onVector: (label: number, id: number) => void,
): void {
  const { log, env, totals } = context;
  const { records, starts, lists, cuts, changes } = planOf(context, catalog, ids, tick);
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

function planOf({ env, log }: WriteContext, catalog: Catalog, ids: Uint32Array, tick: Tick): Plan {
  const records = new ByteWriter(256);
  const starts = new Uint32Array(ids.length + 1);
  const lists = new Map<number, number[]>();
  const cuts = new Map<number, { out: Cuts; in: Cuts }>();
  let changes = ownChanges * ids.length;
  for (let at = 0; at < ids.length; at++) {
    if (at % tickElements === 0) {
      tick(Math.min(tickElements, ids.length - at));
      // Nothing is kept of what is too much already.
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
    entryOf(lists, label.id, () => []).push(id);
    if (kindOf(record) !== 'edge') continue;
    const both = entryOf(cuts, label.id, () => ({
      out: noCuts(env.out, label.id),
      in: noCuts(env.in, label.id),
    }));
    both.out.edges.push(id);
    both.out.ends.push(fromOf(record));
    both.in.edges.push(id);
    both.in.ends.push(toOf(record));
  }
  const all = [...cuts.values()].flatMap((both) => [both.out, both.in]);
  for (const one of all) {
    one.order = orderOf(Uint32Array.from(one.ends), one.ends.length);
    changes += countEnds(one);
  }
  return { records: records.bytes, starts, lists, cuts: all, changes };
}

const noCuts = (table: Table<AdjacencyKey>, label: number): Cuts => {
  return { table, label, edges: [], ends: [], order: new Uint32Array(0) };
};

function entryOf<K, T>(map: Map<K, T>, key: K, make: () => T): T {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

/** Distinct ends: each has a list that changes. */
function countEnds({ ends, order }: Cuts): number {
  let count = 0;
  for (let at = 0; at < order.length; at++) {
    if (at === 0 || ends[order[at]!] !== ends[order[at - 1]!]) count++;
  }
  return count;
}

/** Takes edges out of the lists of the elements at their ends. */
function cut(log: UndoLog, { table, label, edges, ends, order }: Cuts, tick: Tick): void {
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
