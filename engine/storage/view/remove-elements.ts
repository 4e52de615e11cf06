// Removes elements, few or many, on the writer thread. Each element is read once, when it is added. Every list
// that some of them leave (a block of their label, the edges of an element) is written once for all of them,
// in key order. So the cost of a hub is that of its edges, however many of them share a list.
// Invariant: a removal that exceeds the limits is refused before its first change.
import { ByteWriter } from '../../base/bytes.js';
import { removeEdges } from '../graph/adjacency.js';
import type { UndoLog } from '../table/undo-log.js';
import type { Table } from '../table/env.js';
import { orderOf } from '../table/radix-sort.js';
import { IndexEntryBuffer } from '../index/index-entry-buffer.js';
import type { AdjacencyKey } from '../table/keys.js';
import { removeFromList } from '../graph/label-bitmap.js';
import { removeEntries } from '../index/property-index.js';
import { fromOf, labelOf, toOf, uuidAt } from '../record/record.js';
import { decodeFormer } from '../record/stored-float.js';
import type { Catalog, ElementRemoval, Label, StoredProperty } from '../table/view-types.js';
import { putWord } from '../table/little-endian.js';
import type { WriteContext } from './write-context.js';

/** The added elements of one label. */
interface Members {
  label: Label;
  indexed: readonly StoredProperty[];
  ids: number[];
  /** Whether the ids ascend so far. */
  isAscending: boolean;
  /** Endpoints of edges, in the order of `ids`. */
  from: number[];
  to: number[];
}

/** Edges of one type to remove from the lists of their endpoints in one direction. */
interface EndList {
  table: Table<AdjacencyKey>;
  label: number;
  edges: readonly number[];
  ends: readonly number[];
  /** Positions by ascending endpoint; see radix-sort.ts. */
  order: Uint32Array;
}

/** Changes that every element causes: its record and its uuid. */
const ownChanges = 2;

const uuidBytes = 16;

/** Elements between two checks of the deadline and of the limits. */
const tickElements = 256;

type Tick = (count: number) => void;

/** Scratch memory for the present uuid and its value: an array for each would cost as much as the removal. */
const idBytes = new Uint8Array(4);
const uuid = new Uint8Array(uuidBytes);

export class Removal implements ElementRemoval {
  readonly #members = new Map<number, Members>();
  #last: Members | undefined;
  /** Ids and uuids of all elements, in the order of adding. */
  readonly #ids: number[] = [];
  readonly #uuids = new ByteWriter(64 * uuidBytes);
  readonly #entries = new IndexEntryBuffer();
  /** Number of changes that are certain. */
  #changes = 0;

  /** `onVector` is called for every removed vector, in the order of adding. */
  constructor(
    private readonly context: WriteContext,
    private readonly catalog: Catalog,
    private readonly tick: Tick,
    private readonly onVector: (label: number, id: number) => void,
  ) {}

  add(id: number): Label | undefined {
    const { env, log } = this.context;
    const record = env.records.peek(id);
    if (record === undefined) return undefined;
    const members = this.#membersOf(labelOf(record));
    const { label, ids } = members;
    this.#uuids.append(record, uuidAt.own, uuidAt.own + uuidBytes);
    if (label.kind === 'edge') {
      members.from.push(fromOf(record));
      members.to.push(toOf(record));
    }
    this.#changes += ownChanges;
    for (const property of members.indexed) {
      const value = decodeFormer(record, property);
      if (value === null) continue;
      this.#entries.addValue(property, value, id);
      this.#changes++;
    }
    if (ids.length > 0 && ids[ids.length - 1]! > id) members.isAscending = false;
    ids.push(id);
    if (this.#ids.push(id) % tickElements === 0) {
      this.tick(tickElements);
      log.expect(this.#changes);
    }
    return label;
  }

  #membersOf(id: number): Members {
    if (this.#last?.label.id === id) return this.#last;
    let members = this.#members.get(id);
    if (members === undefined) {
      const label = this.catalog.label(id);
      const indexed = label.properties.filter(({ indexId }) => indexId !== 0);
      members = { label, indexed, ids: [], isAscending: true, from: [], to: [] };
      this.#members.set(id, members);
    }
    return (this.#last = members);
  }

  apply(): void {
    const { log, env } = this.context;
    for (const members of this.#members.values()) if (!members.isAscending) sort(members);
    const lists = this.#endLists();
    log.expect(lists.reduce((sum, list) => sum + countEnds(list), this.#changes));
    this.#entries.take((_, key, ids) => removeEntries(log, env.index, key, ids));
    this.#removeOwn();
    for (const members of this.#members.values()) this.#leaveLabel(members);
    for (const list of lists) removeFromEnds(log, list, this.tick);
  }

  #endLists(): EndList[] {
    const { env } = this.context;
    const lists: EndList[] = [];
    for (const { label, ids: edges, from, to } of this.#members.values()) {
      if (label.kind !== 'edge') continue;
      for (const [table, ends] of [[env.out, from] as const, [env.in, to] as const]) {
        const order = orderOf(Uint32Array.from(ends), ends.length);
        lists.push({ table, label: label.id, edges, ends, order });
      }
    }
    return lists;
  }

  /** Removes records and uuids. */
  #removeOwn(): void {
    const { log, env } = this.context;
    const ids = this.#ids;
    const { bytes } = this.#uuids;
    for (let at = 0; at < ids.length; at++) {
      if (at % tickElements === 0) this.tick(Math.min(tickElements, ids.length - at));
      const id = ids[at]!;
      putWord(idBytes, 0, id);
      for (let i = 0; i < uuidBytes; i++) uuid[i] = bytes[uuidBytes * at + i]!;
      log.cut(env.uuid, uuid, idBytes);
      log.removePresent(env.records, id);
    }
  }

  /** Removes the elements of a label from its list, and their vectors. */
  #leaveLabel({ label, ids }: Members): void {
    const { log, env, totals } = this.context;
    if (label.kind === 'vector') {
      for (const id of ids) {
        log.remove(env.vectors, id);
        this.onVector(label.id, id);
      }
    }
    removeFromList(log, env.labels, label.id, Uint32Array.from(ids));
    const count = totals.of(label.id).count - ids.length;
    // The next vector may have another dimension.
    totals.change(label.id, count === 0 ? { count, dimension: 0 } : { count });
  }
}

/** Sorts the elements of a label by id. */
function sort(members: Members): void {
  const { ids, from, to } = members;
  const order = orderOf(Uint32Array.from(ids), ids.length);
  const sorted = (values: readonly number[]): number[] =>
    Array.from(order, (index) => values[index]!);
  members.ids = sorted(ids);
  if (members.label.kind !== 'edge') return;
  members.from = sorted(from);
  members.to = sorted(to);
}

/** Returns the number of distinct endpoints: each has a list that changes. */
function countEnds({ ends, order }: EndList): number {
  let count = 0;
  for (let at = 0; at < order.length; at++) {
    if (at === 0 || ends[order[at]!] !== ends[order[at - 1]!]) count++;
  }
  return count;
}

/** Removes edges from the lists of their endpoints. */
function removeFromEnds(
  log: UndoLog,
  { table, label, edges, ends, order }: EndList,
  tick: Tick,
): void {
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
