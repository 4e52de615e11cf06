// Life cycle of a segment: formatting for a dimension, inserting vectors, starting the graph, removing
// vectors.

import { freeSlot, unchain } from './duplicates';
import {
  BULK_ROWS, EDGES, ENTRY_BLOCKS, ENTRY_PARTS, FORMAT_VERSION, HAS_EDGE_CODES, HAS_GRAPH,
  HEADER_BYTES, H_BULK_DONE, H_BULK_END, H_BULK_NEXT, H_DELETED, H_LIVE, H_SLOTS, H_STATE,
  HALF_CODES, IDS_TOP, MAGIC, METRIC_COSINE, NODE_DELETED, NODE_FREE, NODE_LINKED, NODE_DUPLICATE,
  NODE_ZERO, SKETCH_BLOCKS, STATE_GRAPH, STATE_SCAN, SKETCH_PARTS,
} from './layout';
import { Header } from './kernel/header';
import { Scratch } from './kernel/scratch-fields';
import {
  allocate, copyVector, ensureChunk, idWord, mark, nodeAt, slotOf, vectorAt,
} from './memory';
import { beginGraph } from './centroid';
import { link } from './insert';
import { ROUNDS, fillSigns, rotate } from './kernel/hadamard';
import { Node } from './kernel/node';
import { SHORT_INFINITY } from './kernel/short-float';

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
  Header.setMagic(MAGIC);
  Header.setVersion(FORMAT_VERSION);
  Header.setMetric(metric);
  Header.setLayout(layout);
  Header.setDimension(dimension);
  Header.setPadded(padded);
  Header.setBytesMax(bytesMax);
  Header.setHard(hard);
  Header.setBeam(beam);
  Header.setGraphFrom(graphFrom);
  Header.setFreeByte(HEADER_BYTES);
  layOutNode(layout, padded);
  return layOutTables(layout, padded, bytesMax);
}

function layOutNode(layout: u32, padded: u32): void {
  let at: u32 = 64;
  Header.setEdgeCodeBytes(padded * 4);
  if (layout & HAS_GRAPH) {
    const isHalf = (layout & HALF_CODES) != 0;
    at = align(at + (isHalf ? padded >> 1 : padded));
    if (layout & HAS_EDGE_CODES) {
      Header.setEdgeCodes(at);
      at += padded * 4;
      Header.setAdd(at);
      Header.setScale(at + EDGES * 2);
      at += EDGES * 4;
    }
    Header.setNeighbour(at);
    at += EDGES * 4;
    if (!isHalf) {
      Header.setEdgeDistance(at);
      at += EDGES * 2;
    }
    Header.setEdgesEnd(at);
    if (!isHalf) {
      Header.setFine(at);
      at += padded;
    }
  } else {
    Header.setEdgesEnd(at);
    Header.setVector(at);
    at += padded * 4;
  }
  Header.setStride(align(at));
}

function layOutTables(layout: u32, padded: u32, bytesMax: u32): bool {
  const stride = <u32>Header.stride();
  let shift: u32 = 10;
  while (shift > 0 && (<u64>stride) << shift > 524288) shift--;
  const capacity = <u32>min<u64>(<u64>bytesMax / stride, 1 << 26);
  Header.setChunkShift(shift);
  Header.setCapacity(capacity);
  const table = ((<u64>capacity >> shift) + 2) << 2;
  const chunks = allocate(table);
  const ids = allocate(IDS_TOP * 4);
  const signs = allocate(<u64>padded * 4 * ROUNDS);
  if (signs == 0) return false;
  Header.setChunks(<u32>chunks);
  Header.setIds(<u32>ids);
  Header.setSigns(<u32>signs);
  fillSigns(signs, padded * ROUNDS);
  if ((layout & HAS_GRAPH) == 0) return true;
  const sketches = allocate((<u64>capacity / (EDGES * SKETCH_BLOCKS) + 2) << 2);
  Header.setSketches(<u32>sketches);
  Header.setSketchBytes(align(SKETCH_PARTS + padded * 4 + EDGES * 4));
  Header.setStaged(<u32>allocate(table));
  const mean = allocate(<u64>padded * 4);
  const block = align(ENTRY_PARTS + padded * 4 + EDGES * 8);
  const entry = allocate(<u64>block * ENTRY_BLOCKS);
  if (entry == 0) return false;
  Header.setMean(<u32>mean);
  Header.setEntry(<u32>entry);
  Header.setEntryBytes(block);
  for (let i: u32 = 0; i < <u32>ENTRY_BLOCKS; i++) {
    fillInfinite(entry + <usize>(i * block + ENTRY_PARTS + padded * 4));
  }
  return true;
}

function fillInfinite(terms: usize): void {
  for (let e: usize = 0; e < <usize>EDGES; e++) store<u16>(terms + (e << 1), SHORT_INFINITY);
}

/** Normalizes the input, D floats at L_QUERY, to length 1 if `unit`, and rotates it to L_ROTATED. */
export function prepare(scratch: usize, unit: bool): void {
  const input = Scratch.query(scratch);
  const rotated = Scratch.rotated(scratch);
  const dimension = Header.dimension();
  const bytes = (<usize>dimension) << 2;
  const end = Header.padded() << 2;
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
  Scratch.setNorm(scratch, <f32>min(sqrt(squares) * factor, 3e38));
  rotate(rotated);
}

/** Like `prepare`, for a vector to store: only cosine normalizes. */
function prepareStored(scratch: usize): void {
  prepare(scratch, Header.metric() == METRIC_COSINE);
}

/**
 * Returns a slot to write into, marked free until it is complete; 0xffffffff if the segment is full. Writer
 * only.
 */
export function takeSlot(): u32 {
  const head = Header.free();
  if (head != 0) {
    Header.setFree(Node.next(nodeAt(head - 1)));
    return head - 1;
  }
  const slot = Header.slots();
  if (slot >= Header.capacity() || !ensureChunk(slot)) return 0xffffffff;
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
  const add = Header.add();
  if (add != 0) fillInfinite(node + add);
}

/**
 * Inserts the input as `id`, replacing the vector of this id. Returns false if the segment is full. Writer
 * only.
 */
export function put(scratch: usize, id: u32): bool {
  if (!reserveId(id)) return false;
  const slot = takeSlot();
  if (slot == 0xffffffff) return false;
  prepareStored(scratch);
  takeIn(scratch, slot, id);
  setId(id, slot);
  if (Header.state() == STATE_GRAPH) return true;
  if (Header.linked() != 0) linkStaged(scratch, LINKED_PER_PUT);
  else if ((Header.layout() & HAS_GRAPH) != 0) {
    if (Header.live() >= Header.graphFrom()) startGraph();
  }
  return true;
}

/** Writes the prepared vector into a reserved slot and links it. */
function takeIn(scratch: usize, slot: u32, id: u32): void {
  const node = nodeAt(slot);
  const rotated = Scratch.rotated(scratch);
  const scanning = Header.state() == STATE_SCAN;
  clearNode(node, id);
  Node.setNorm(node, Scratch.norm(scratch));
  let vector = rotated;
  if (scanning || <u32>Header.vector() != 0) {
    vector = vectorAt(node, slot);
    copyVector(rotated, vector);
    mark(vector, Header.padded() << 2);
  }
  Node.publishFlags(node, 0);
  // While the first graph is built, a slot after the link cursor is linked later, one before it immediately.
  if (!scanning || slot + 1 < Header.linked()) link(scratch, slot, vector);
  mark(node, Header.edgesEnd());
}

/** Computes the mean; from now on staged vectors are linked, a few at a time. Writer only. */
function startGraph(): void {
  beginGraph();
  Header.setLinked(1);
}

/**
 * Links up to `budget` staged vectors. After the last one, searches use the graph; until then they scan.
 * Returns true if more is to do. Writer only.
 */
export function linkStaged(scratch: usize, budget: u32): bool {
  const slots = Header.slots();
  let slot = Header.linked() - 1;
  for (; slot < slots && budget != 0; slot++) {
    const node = nodeAt(slot);
    if (Node.flags(node) & NODE_FREE) continue;
    link(scratch, slot, vectorAt(node, slot));
    mark(node, Header.edgesEnd());
    budget--;
  }
  Header.setLinked(slot < slots ? slot + 1 : 0);
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
  Header.setChanged(Header.changed() + 1);
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
  Header.setChanged(Header.changed() + 1);
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
export function bulkStep(scratch: usize): bool {
  const row: usize = 64 + (Header.padded() << 2);
  const rows = Header.bulkRows();
  for (;;) {
    // Row numbers only grow. A thread that was suspended while the ring wrapped around fails the exchange and
    // takes nothing.
    const next = atomic.load<u32>(H_BULK_NEXT);
    if (<i32>(atomic.load<u32>(H_BULK_END) - next) <= 0) return false;
    if (atomic.cmpxchg<u32>(H_BULK_NEXT, next, next + 1) != next) continue;
    const at = rows + <usize>(next & (BULK_ROWS - 1)) * row;
    copyVector(at + 64, <u32>Scratch.query(scratch));
    prepareStored(scratch);
    takeIn(scratch, load<u32>(at), load<u32>(at, 4));
    atomic.add<u32>(H_BULK_DONE, 1);
    return true;
  }
}

/**
 * Returns the address of the bulk rows, each 64 B (slot, id) and P floats; 0 if the segment is full. Writer
 * only.
 */
export function openBulk(): usize {
  let at = Header.bulkRows();
  if (at == 0) {
    at = allocate(<u64>BULK_ROWS * (64 + ((<u64><u32>Header.padded()) << 2)));
    Header.setBulkRows(<u32>at);
  }
  return at;
}
