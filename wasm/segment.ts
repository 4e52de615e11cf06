// Life cycle of a segment: formatting for a dimension, inserting vectors, starting the graph, removing
// vectors.

import { freeSlot, unchain } from './duplicates';
import {
  BULK_ROWS, EDGES, ENTRY_BLOCKS, E_PARTS, FORMAT_VERSION, HAS_EDGE_CODES, HAS_GRAPH, HEADER_BYTES,
  H_ADD, H_BEAM, H_BREAK, H_BULK_DONE, H_BULK_END, H_BULK_NEXT, H_BULK_ROWS, H_BYTES_MAX,
  H_CAPACITY, H_CHANGED, H_CHUNKS, H_CHUNK_SHIFT, H_DELETED, H_DIMENSION, H_EDGES_END, H_EDGE_CODES,
  H_EDGE_CODE_BYTES, H_EDGE_DISTANCE, H_ENTRY, H_ENTRY_BYTES, H_FINE, H_FREE, H_GRAPH_FROM, H_HARD,
  H_IDS, H_LAYOUT, H_LINKED, H_LIVE, H_MAGIC, H_MEAN, H_METRIC, H_NEIGHBOUR, H_PADDED, H_SCALE,
  H_SIGNS, H_SKETCHES, H_SKETCH_BYTES, H_SLOTS, H_STAGED, H_STATE, H_STRIDE, H_VECTOR, H_VERSION,
  HALF_CODES, IDS_TOP, KEEP_VECTORS, L_NORM, L_QUERY, L_ROTATED, MAGIC, METRIC_COSINE, NODE_DELETED,
  NODE_FREE, NODE_LINKED, NODE_DUPLICATE, NODE_ZERO, SKETCH_BLOCKS, STAGED_MORE, STATE_GRAPH,
  STATE_SCAN, S_PARTS,
} from './layout';
import {
  allocate, copyVector, ensureChunk, idWord, mark, nodeAt, slotOf, vectorAt,
} from './memory';
import { beginGraph } from './centroid';
import { link } from './insert';
import { ROUNDS, fillSigns, rotate } from './kernel/hadamard';
import { Node } from './kernel/node';

/** Number of staged nodes that a single insertion links: more than the one it adds, so that the work ends. */
const LINKED_PER_PUT = 2;

function align(value: u32): u32 {
  return (value + 63) & ~63;
}

/** Formats a new memory. Returns false if it cannot hold even the tables. */
export function format(
  metric: u32, layout: u32, dimension: u32, bytesMax: u32,
  hard: u32, beam: u32, graphFrom: u32,
): bool {
  const padded = (dimension + 31) & ~31;
  store<u32>(0, MAGIC, H_MAGIC);
  store<u32>(0, FORMAT_VERSION, H_VERSION);
  store<u32>(0, metric, H_METRIC);
  store<u32>(0, layout, H_LAYOUT);
  store<u32>(0, dimension, H_DIMENSION);
  store<u32>(0, padded, H_PADDED);
  store<u32>(0, bytesMax, H_BYTES_MAX);
  store<u32>(0, hard, H_HARD);
  store<u32>(0, beam, H_BEAM);
  store<u32>(0, graphFrom, H_GRAPH_FROM);
  store<u32>(0, HEADER_BYTES, H_BREAK);
  layOutNode(layout, padded);
  return layOutTables(layout, padded, bytesMax, graphFrom);
}

function layOutNode(layout: u32, padded: u32): void {
  let at: u32 = 64;
  store<u32>(0, padded * 4, H_EDGE_CODE_BYTES);
  if (layout & HAS_GRAPH) {
    const isHalf = (layout & HALF_CODES) != 0;
    at = align(at + (isHalf ? padded >> 1 : padded));
    if (layout & HAS_EDGE_CODES) {
      store<u32>(0, at, H_EDGE_CODES);
      at += padded * 4;
      store<u32>(0, at, H_ADD);
      store<u32>(0, at + EDGES * 4, H_SCALE);
      at += EDGES * 8;
    }
    store<u32>(0, at, H_NEIGHBOUR);
    at += EDGES * 4;
    if (!isHalf) {
      store<u32>(0, at, H_EDGE_DISTANCE);
      at += EDGES * 4;
    }
  }
  store<u32>(0, at, H_EDGES_END);
  if (layout & KEEP_VECTORS) {
    store<u32>(0, at, H_VECTOR);
    at += padded * 4;
  } else if ((layout & HALF_CODES) == 0) {
    store<u32>(0, at, H_FINE);
    at += padded;
  }
  store<u32>(0, align(at), H_STRIDE);
}

function layOutTables(layout: u32, padded: u32, bytesMax: u32, graphFrom: u32): bool {
  const stride = load<u32>(0, H_STRIDE);
  let shift: u32 = 10;
  while (shift > 0 && (<u64>stride) << shift > 524288) shift--;
  const capacity = <u32>min<u64>(<u64>bytesMax / stride, 1 << 26);
  store<u32>(0, shift, H_CHUNK_SHIFT);
  store<u32>(0, capacity, H_CAPACITY);
  const chunks = allocate(((<u64>capacity >> shift) + 2) << 2);
  const ids = allocate(IDS_TOP * 4);
  const signs = allocate(<u64>padded * 4 * ROUNDS);
  if (signs == 0) return false;
  store<u32>(0, <u32>chunks, H_CHUNKS);
  store<u32>(0, <u32>ids, H_IDS);
  store<u32>(0, <u32>signs, H_SIGNS);
  fillSigns(signs, padded * ROUNDS);
  if ((layout & HAS_GRAPH) == 0) return true;
  const sketches = allocate((<u64>capacity / (EDGES * SKETCH_BLOCKS) + 2) << 2);
  store<u32>(0, <u32>sketches, H_SKETCHES);
  store<u32>(0, align(S_PARTS + padded * 4 + EDGES * 8), H_SKETCH_BYTES);
  const mean = allocate(<u64>padded * 4);
  const block = align(E_PARTS + padded * 4 + EDGES * 12);
  const entry = allocate(<u64>block * ENTRY_BLOCKS);
  if (entry == 0) return false;
  store<u32>(0, <u32>mean, H_MEAN);
  store<u32>(0, <u32>entry, H_ENTRY);
  store<u32>(0, block, H_ENTRY_BYTES);
  for (let i: u32 = 0; i < <u32>ENTRY_BLOCKS; i++) {
    fillInfinite(entry + <usize>(i * block + E_PARTS + padded * 4));
  }
  if (layout & KEEP_VECTORS) return true;
  const staged = allocate((<u64>graphFrom * 2 + STAGED_MORE) * padded * 4);
  store<u32>(0, <u32>staged, H_STAGED);
  return staged != 0;
}

function fillInfinite(terms: usize): void {
  for (let e: usize = 0; e < <usize>EDGES; e++) store<f32>(terms + (e << 2), Infinity);
}

/** Normalizes the input, D floats at L_QUERY, to length 1 if `unit`, and rotates it to L_ROTATED. */
export function prepare(lane: usize, unit: bool): void {
  const input = <usize>load<u32>(lane, L_QUERY);
  const rotated = <usize>load<u32>(lane, L_ROTATED);
  const dimension = load<u32>(0, H_DIMENSION);
  const bytes = (<usize>dimension) << 2;
  const end = (<usize>load<u32>(0, H_PADDED)) << 2;
  let squares: f64 = 0;
  const whole = bytes & ~15;
  let sums = f64x2.splat(0);
  let more = f64x2.splat(0);
  for (let at: usize = 0; at < whole; at += 16) {
    const v = v128.load(input + at);
    const a = f64x2.promote_low_f32x4(v);
    const b = f64x2.promote_low_f32x4(v128.shuffle<f32>(v, v, 2, 3, 0, 1));
    sums = f64x2.add(sums, f64x2.mul(a, a));
    more = f64x2.add(more, f64x2.mul(b, b));
  }
  sums = f64x2.add(sums, more);
  squares = f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1);
  for (let at = whole; at < bytes; at += 4) {
    const x = <f64>load<f32>(input + at);
    squares += x * x;
  }
  let factor: f64 = 1;
  if (unit) factor = squares > 0 ? 1 / sqrt(squares) : 0;
  if (factor > 1e30 || factor < 1e-30) {
    for (let at: usize = 0; at < bytes; at += 4) {
      store<f32>(rotated + at, <f32>(factor * <f64>load<f32>(input + at)));
    }
  } else {
    const scale = f32x4.splat(<f32>factor);
    for (let at: usize = 0; at < bytes; at += 16) {
      v128.store(rotated + at, f32x4.mul(scale, v128.load(input + at)));
    }
  }
  for (let at = bytes; at < end; at += 4) store<f32>(rotated + at, 0);
  store<f32>(lane, <f32>min(sqrt(squares) * factor, 3e38), L_NORM);
  rotate(rotated);
}

/** As `prepare`, for a vector to store: only cosine normalizes. */
function prepareStored(lane: usize): void {
  prepare(lane, load<u32>(0, H_METRIC) == METRIC_COSINE);
}

/**
 * Returns a slot to write into, marked free until it is complete; 0xffffffff if the segment is full. Writer
 * only.
 */
export function takeSlot(): u32 {
  const head = load<u32>(0, H_FREE);
  if (head != 0) {
    store<u32>(0, Node.next(nodeAt(head - 1)), H_FREE);
    return head - 1;
  }
  const slot = load<u32>(0, H_SLOTS);
  if (slot >= load<u32>(0, H_CAPACITY) || !ensureChunk(slot)) return 0xffffffff;
  Node.setFlags(nodeAt(slot), NODE_FREE);
  mark(nodeAt(slot), 64);
  atomic.store<u32>(H_SLOTS, slot + 1);
  return slot;
}

/** Clears a record and sets its id; its edges read as absent. */
export function clearNode(node: usize, id: u32): void {
  memory.fill(node + 4, 0, 8);
  memory.fill(node + 16, 0, 48);
  Node.setId(node, id);
  const add = <usize>load<u32>(0, H_ADD);
  if (add != 0) fillInfinite(node + add);
}

/**
 * Inserts the input as `id`, replacing the vector of this id. Returns false if the segment is full. Writer
 * only.
 */
export function put(lane: usize, id: u32): bool {
  if (!reserveId(id)) return false;
  const slot = takeSlot();
  if (slot == 0xffffffff) return false;
  prepareStored(lane);
  takeIn(lane, slot, id);
  setId(id, slot);
  if (load<u32>(0, H_STATE) == STATE_GRAPH) return true;
  if (load<u32>(0, H_LINKED) != 0) linkStaged(lane, LINKED_PER_PUT);
  else if ((load<u32>(0, H_LAYOUT) & HAS_GRAPH) != 0) {
    if (load<u32>(0, H_LIVE) >= load<u32>(0, H_GRAPH_FROM)) startGraph();
  }
  return true;
}

/** Writes the prepared vector into a reserved slot and links it. */
function takeIn(lane: usize, slot: u32, id: u32): void {
  const node = nodeAt(slot);
  const rotated = <usize>load<u32>(lane, L_ROTATED);
  const scanning = load<u32>(0, H_STATE) == STATE_SCAN;
  clearNode(node, id);
  Node.setNorm(node, load<f32>(lane, L_NORM));
  let vector = rotated;
  if (scanning || load<u32>(0, H_VECTOR) != 0) {
    vector = vectorAt(node, slot);
    copyVector(rotated, vector);
    mark(vector, (<usize>load<u32>(0, H_PADDED)) << 2);
  }
  Node.publishFlags(node, 0);
  // While the first graph is built, a slot after the link cursor is linked later, one before it immediately.
  if (!scanning || slot + 1 < load<u32>(0, H_LINKED)) link(lane, slot, vector);
  mark(node, <usize>load<u32>(0, H_EDGES_END));
}

/** Computes the mean; from now on staged vectors are linked, a few at a time. Writer only. */
function startGraph(): void {
  beginGraph();
  store<u32>(0, 1, H_LINKED);
}

/**
 * Links up to `budget` staged vectors. After the last one, searches use the graph; until then they scan.
 * Returns true if more is to do. Writer only.
 */
export function linkStaged(lane: usize, budget: u32): bool {
  const slots = load<u32>(0, H_SLOTS);
  let slot = load<u32>(0, H_LINKED) - 1;
  for (; slot < slots && budget != 0; slot++) {
    const node = nodeAt(slot);
    if (Node.flags(node) & NODE_FREE) continue;
    link(lane, slot, vectorAt(node, slot));
    mark(node, <usize>load<u32>(0, H_EDGES_END));
    budget--;
  }
  store<u32>(0, slot < slots ? slot + 1 : 0, H_LINKED);
  if (slot < slots) return true;
  atomic.store<u32>(H_STATE, STATE_GRAPH);
  return false;
}

/** Makes sure that `setId` cannot fail. Writer only. */
export function reserveId(id: u32): bool {
  return idWord(id, true) != 0;
}

/** Maps `id` to a new slot and removes an old one. Writer only. */
export function setId(id: u32, slot: u32): void {
  const word = idWord(id, true);
  const old = load<u32>(word);
  atomic.store<u32>(word, slot + 1);
  mark(word, 4);
  atomic.add<u32>(H_LIVE, 1);
  store<u32>(0, load<u32>(0, H_CHANGED) + 1, H_CHANGED);
  if (old != 0) forget(old - 1);
}

/** Removes an id; returns false if it is absent. Writer only. */
export function remove(id: u32): bool {
  const found = slotOf(id);
  if (found == 0) return false;
  atomic.store<u32>(idWord(id, false), 0);
  mark(idWord(id, false), 4);
  forget(found - 1);
  return true;
}

function forget(slot: u32): void {
  const node = nodeAt(slot);
  atomic.sub<u32>(H_LIVE, 1);
  store<u32>(0, load<u32>(0, H_CHANGED) + 1, H_CHANGED);
  const flags = Node.addFlags(node, NODE_DELETED);
  mark(node, 64);
  if (flags & (NODE_DUPLICATE | NODE_ZERO)) unchain(node, slot);
  else if ((flags & NODE_LINKED) == 0) freeSlot(node, slot);
  else atomic.add<u32>(H_DELETED, 1);
}

/**
 * Takes the next row of the bulk ring and links it; returns false if there is none. Any thread, each with a
 * separate scratch memory.
 */
export function bulkStep(lane: usize): bool {
  const row: usize = 64 + ((<usize>load<u32>(0, H_PADDED)) << 2);
  const rows = <usize>load<u32>(0, H_BULK_ROWS);
  for (;;) {
    // Row numbers only grow. A thread that was suspended while the ring wrapped around fails the exchange and
    // takes nothing.
    const next = atomic.load<u32>(H_BULK_NEXT);
    if (<i32>(atomic.load<u32>(H_BULK_END) - next) <= 0) return false;
    if (atomic.cmpxchg<u32>(H_BULK_NEXT, next, next + 1) != next) continue;
    const at = rows + <usize>(next & (BULK_ROWS - 1)) * row;
    copyVector(at + 64, load<u32>(lane, L_QUERY));
    prepareStored(lane);
    takeIn(lane, load<u32>(at), load<u32>(at, 4));
    atomic.add<u32>(H_BULK_DONE, 1);
    return true;
  }
}

/**
 * Returns the address of the bulk rows, each 64 B (slot, id) and P floats; 0 if the segment is full. Writer
 * only.
 */
export function openBulk(): usize {
  let at = <usize>load<u32>(0, H_BULK_ROWS);
  if (at == 0) {
    at = allocate(<u64>BULK_ROWS * (64 + ((<u64>load<u32>(0, H_PADDED)) << 2)));
    store<u32>(0, <u32>at, H_BULK_ROWS);
  }
  return at;
}
