// The edges of one element under one edge label, oldest first, in chunks of up to 128 entries. The degree,
// and a whole small list, cost one exact read. Adding an edge rewrites one chunk, however many edges there
// are.
//
//   chunk 0, the head    sealed chunks u32 · degree u32 · entries   (the newest edges)
//   chunk 1..sealed      lowest u32 · entries                       (older edges; lowest stays after a removal)
//   entry                edge id u32 · far id u32                   ascending by edge id over all chunks
//
// All numbers are little-endian. A full head is sealed under the next chunk number, and a new head begins.
// Invariant: the head exists exactly while the degree is above 0. Every edge id of a chunk is at least its
// `lowest` and below the `lowest` of the next chunk.
import { fail } from '../../base/errors.js';
import { newIds } from '../../base/u32-array.js';
import { checkIntegrity } from '../../base/integrity.js';
import type { UndoLog } from '../table/undo-log.js';
import { checksumSize } from '../table/checksum.js';
import type { Table } from '../table/env.js';
import type { AdjacencyKey } from '../table/keys.js';
import { copyWords, getWord, putWord } from '../table/little-endian.js';

const chunkEntries = 128;
const headBytes = 8;
const sealedBytes = 4;
const entryBytes = 8;

const none = new Uint32Array(0);

/** Key of reads and of bulk puts. Each call is complete before the key is reused. */
const probe: AdjacencyKey = { id: 0, label: 0, chunk: 0 };

function peekChunk(
  table: Table<AdjacencyKey>,
  id: number,
  label: number,
  chunk: number,
): Uint8Array | undefined {
  probe.id = id;
  probe.label = label;
  probe.chunk = chunk;
  return table.peek(probe);
}

/** Returns the degree (0 unless the value is a head) and the number of edges in one value. */
export function headTotals(
  isHead: boolean,
  bytes: Uint8Array,
  start: number,
  end: number,
): { degree: number; entries: number } {
  const entries = (end - start - (isHead ? headBytes : sealedBytes)) / entryBytes;
  return { degree: isHead ? getWord(bytes, start + 4) : 0, entries };
}

/** Fails DATA_CORRUPT: a list differs from its head. */
function missing(id: number): never {
  fail('DATA_CORRUPT', { what: `edges of element ${id} are missing` });
}

export function readDegree(table: Table<AdjacencyKey>, id: number, label: number): number {
  const head = peekChunk(table, id, label, 0);
  return head === undefined ? 0 : getWord(head, 4);
}

/** Returns the list as [edge, far, edge, far, ...], oldest first. Copy it to keep it beyond the request. */
export function readAdjacency(table: Table<AdjacencyKey>, id: number, label: number): Uint32Array {
  let head = peekChunk(table, id, label, 0);
  if (head === undefined) return none;
  const sealed = getWord(head, 0);
  const words = newIds(2 * getWord(head, 4));
  if (sealed > 0) head = head.slice();
  let at = 0;
  for (let chunk = 1; chunk <= sealed; chunk++) {
    const bytes = peekChunk(table, id, label, chunk);
    const end = at + ((bytes?.length ?? 0) - sealedBytes) / 4;
    if (bytes === undefined || end > words.length) missing(id);
    copyWords(bytes, sealedBytes, words, at);
    at = end;
  }
  const newest = (head.length - headBytes) / 4;
  if (at + newest !== words.length) missing(id);
  copyWords(head, headBytes, words, at);
  return words;
}

/**
 * Returns up to `max` edges that are newer than `after` (0: from the oldest), in the form of
 * `readAdjacency`. Reads only the chunks of a long list that contain them.
 */
export function readAdjacencyAfter(
  table: Table<AdjacencyKey>,
  { id, label }: { id: number; label: number },
  after: number,
  max: number,
): Uint32Array {
  const head = peekChunk(table, id, label, 0)?.slice();
  if (head === undefined) return none;
  const sealed = getWord(head, 0);
  const words = new Uint32Array(2 * max);
  let length = 0;
  const take = (bytes: Uint8Array, start: number): void => {
    for (let at = start; at < bytes.length && length < words.length; at += entryBytes) {
      const edge = getWord(bytes, at);
      if (edge <= after) continue;
      words[length++] = edge;
      words[length++] = getWord(bytes, at + 4);
    }
  };
  let chunk = after === 0 || sealed === 0 ? 1 : chunkHolding(table, { id, label }, sealed, after);
  for (; chunk <= sealed && length < words.length; chunk++) {
    const bytes = peekChunk(table, id, label, chunk);
    if (bytes === undefined) missing(id);
    take(bytes, sealedBytes);
  }
  take(head, headBytes);
  return words.subarray(0, length);
}

/** Scratch memory in which lists are built; the table copies its arguments. */
let joined = new Uint8Array(4096);

function makeRoom(bytes: number): void {
  if (bytes + checksumSize > joined.length) joined = new Uint8Array(2 * (bytes + checksumSize));
}

/**
 * Adds the first `size` words of `pairs` to an element without edges, and saves the lookup of its list.
 * Returns false, and adds nothing, if the element has edges or the pairs exceed one chunk.
 */
export function insertEdges(
  table: Table<AdjacencyKey>,
  { id, label }: { id: number; label: number },
  pairs: Uint32Array,
  size: number,
  log?: UndoLog,
): boolean {
  if (4 * size > chunkEntries * entryBytes) return false;
  const end = headBytes + 4 * size;
  makeRoom(end);
  putWord(joined, 0, 0);
  putWord(joined, 4, size / 2);
  for (let i = 0; i < size; i++) putWord(joined, headBytes + 4 * i, pairs[i]!);
  probe.id = id;
  probe.label = label;
  probe.chunk = 0;
  if (log === undefined) return table.insertPart(probe, joined, 0, end);
  if (!log.insertPart(table, probe, joined, 0, end)) return false;
  log.count(1, end);
  return true;
}

/**
 * Appends the first `size` words of `pairs`, which are in ascending order and greater than all others of the
 * list. Records the undo steps in `log`, if given.
 */
export function appendEdges(
  table: Table<AdjacencyKey>,
  { id, label }: { id: number; label: number },
  pairs: Uint32Array,
  size: number,
  log?: UndoLog,
): void {
  const former = peekChunk(table, id, label, 0);
  let sealed = former === undefined ? 0 : getWord(former, 0);
  const degree = former === undefined ? 0 : getWord(former, 4);
  let end = former === undefined ? headBytes : former.length;
  makeRoom(end + 4 * size);
  const entries = joined;
  if (former !== undefined) entries.set(former);
  // Keep the former value before the first put invalidates it.
  log?.keepFormer(table, probe, former);
  for (let i = 0; i < size; i++, end += 4) putWord(entries, end, pairs[i]!);
  const chunkBytes = chunkEntries * entryBytes;
  let first = headBytes;
  for (; end - first > chunkBytes; first += chunkBytes) {
    const chunk = chunkOf(entries.subarray(first, first + chunkBytes));
    const key = { id, label, chunk: ++sealed };
    if (log === undefined) table.put(key, chunk);
    else log.insert(table, key, chunk);
  }
  first -= headBytes;
  putWord(entries, first, sealed);
  putWord(entries, first + 4, degree + size / 2);
  log?.count(1, end - first);
  probe.id = id;
  probe.label = label;
  probe.chunk = 0;
  table.putPart(probe, entries, first, end);
}

/** Builds a sealed chunk of at least one entry. */
function chunkOf(entries: Uint8Array): Uint8Array {
  const chunk = new Uint8Array(sealedBytes + entries.length);
  chunk.set(entries.subarray(0, 4));
  chunk.set(entries, sealedBytes);
  return chunk;
}

/**
 * Removes edges, ascending, from a list. Deletes the list when no edge is left, rewrites all of it when many
 * go, and else rewrites the chunks that contain them.
 */
export function removeEdges(
  log: UndoLog,
  table: Table<AdjacencyKey>,
  of: { id: number; label: number },
  edges: Uint32Array,
): void {
  const { id, label } = of;
  const head = peekChunk(table, id, label, 0);
  if (head === undefined) missing(id);
  const degree = getWord(head, 4);
  const isShort = getWord(head, 0) === 0;
  const key = { id, label, chunk: 0 };
  if (edges.length === degree && isShort) log.cut(table, key, head);
  else if (isShort) log.replace(table, key, head, shortened(head, degree, edges));
  else if (edges.length === degree) writeAdjacency(log, table, of, none);
  else if (edges.length * chunkEntries < degree) {
    for (const edge of edges) removeEdge(log, table, of, edge);
  } else {
    writeAdjacency(log, table, of, withoutEdges(readAdjacency(table, of.id, of.label), edges));
  }
}

function removeEdge(
  log: UndoLog,
  table: Table<AdjacencyKey>,
  { id, label }: { id: number; label: number },
  edge: number,
): void {
  const head = table.get({ id, label, chunk: 0 });
  if (head === undefined) missing(id);
  const sealed = getWord(head, 0);
  const degree = getWord(head, 4) - 1;
  if (degree === 0 || degree * 4 < sealed * chunkEntries) {
    const left = readAdjacency(table, id, label);
    writeAdjacency(log, table, { id, label }, withoutEdges(left, Uint32Array.of(edge)));
    return;
  }
  const inHead = head.length > headBytes && getWord(head, headBytes) <= edge;
  const shrunk = inHead ? cutEntry(head, headBytes, edge) : head.slice();
  putWord(shrunk, 4, degree);
  log.replace(table, { id, label, chunk: 0 }, head, shrunk);
  if (inHead) return;
  const chunk = chunkHolding(table, { id, label }, sealed, edge);
  const bytes = table.get({ id, label, chunk });
  if (bytes === undefined) missing(id);
  log.replace(table, { id, label, chunk }, bytes, cutEntry(bytes, sealedBytes, edge));
}

/** Returns the last sealed chunk whose `lowest` is not above the edge, by binary search. */
function chunkHolding(
  table: Table<AdjacencyKey>,
  { id, label }: { id: number; label: number },
  sealed: number,
  edge: number,
): number {
  let low = 1;
  let high = sealed;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    const bytes = peekChunk(table, id, label, middle);
    if (bytes === undefined) missing(id);
    if (getWord(bytes, 0) <= edge) low = middle;
    else high = middle - 1;
  }
  return low;
}

function cutEntry(bytes: Uint8Array, first: number, edge: number): Uint8Array {
  for (let at = first; at < bytes.length; at += entryBytes) {
    if (getWord(bytes, at) !== edge) continue;
    const cut = new Uint8Array(bytes.length - entryBytes);
    cut.set(bytes.subarray(0, at));
    cut.set(bytes.subarray(at + entryBytes), at);
    return cut;
  }
  fail('DATA_CORRUPT', { what: `edge ${edge} is missing at one of its ends` });
}

/** Returns a copy of a head that is the whole list, without the given edges, which ascend. */
function shortened(head: Uint8Array, degree: number, edges: Uint32Array): Uint8Array {
  const left = new Uint8Array(Math.max(headBytes, head.length - edges.length * entryBytes));
  let end = headBytes;
  let next = 0;
  for (let at = headBytes; at < head.length; at += entryBytes) {
    if (getWord(head, at) === edges[next]) next++;
    else for (let i = at; i < at + entryBytes; i++) left[end++] = head[i]!;
  }
  checkIntegrity(next === edges.length, `edge ${edges[next]} is missing at one of its ends`);
  putWord(left, 4, degree - edges.length);
  return left;
}

/** Returns `pairs` without the given edges. Both ascend. */
function withoutEdges(pairs: Uint32Array, edges: Uint32Array): Uint32Array {
  const left = new Uint32Array(Math.max(0, pairs.length - 2 * edges.length));
  let count = 0;
  let next = 0;
  for (let i = 0; i < pairs.length; i += 2) {
    if (pairs[i] === edges[next]) next++;
    else {
      left[count++] = pairs[i]!;
      left[count++] = pairs[i + 1]!;
    }
  }
  checkIntegrity(next === edges.length, `edge ${edges[next]} is missing at one of its ends`);
  return left;
}

/** Replaces a whole list by `pairs`, which ascend by edge id. */
export function writeAdjacency(
  log: UndoLog,
  table: Table<AdjacencyKey>,
  { id, label }: { id: number; label: number },
  pairs: Uint32Array,
): void {
  const former = peekChunk(table, id, label, 0);
  const formerSealed = former === undefined ? 0 : getWord(former, 0);
  const bytes = new Uint8Array(pairs.buffer, pairs.byteOffset, pairs.byteLength);
  const size = chunkEntries * entryBytes;
  const sealed = Math.max(0, Math.ceil(bytes.length / size) - 1);
  for (let chunk = 1; chunk <= Math.max(sealed, formerSealed); chunk++) {
    const key = { id, label, chunk };
    if (chunk > sealed) log.remove(table, key);
    else log.put(table, key, chunkOf(bytes.subarray((chunk - 1) * size, chunk * size)));
  }
  const key = { id, label, chunk: 0 };
  if (pairs.length === 0) {
    log.remove(table, key);
    return;
  }
  const newest = bytes.subarray(sealed * size);
  const head = new Uint8Array(headBytes + newest.length);
  putWord(head, 0, sealed);
  putWord(head, 4, pairs.length / 2);
  head.set(newest, headBytes);
  log.put(table, key, head);
}
