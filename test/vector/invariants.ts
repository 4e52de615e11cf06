// Checks what holds of every record of a segment while no thread changes it, by plain loops over its memory.
// The edges of a node being unlinked are exempt while the sweep frees such nodes: they may lead to slots that
// the sweep has freed, and that a later vector has taken. `reachable` shows that no search follows them.
import * as at from '../../wasm/layout.js';
import type { Segment } from '../../engine/vector/segment.js';

/** Faults of a fast-layout segment of metric l2, at most about twenty. */
export function blockFaults(segment: Segment): string[] {
  const faults: string[] = [];
  const reader = new Reader(segment);
  const counts = { live: 0, deleted: 0 };
  for (let slot = 0; slot < segment.slots && faults.length < 20; slot++) {
    const say = (what: string): void => void faults.push(`slot ${slot}: ${what}`);
    const node = reader.node(slot);
    const flags = reader.word(node + at.N_FLAGS);
    if (reader.word(node + at.N_LOCK) !== 0) say('is locked');
    if (flags & at.NODE_FREE) continue;
    const id = reader.word(node + at.N_ID);
    const isCurrent = segment.kernel.slotOf(id) === slot + 1;
    if (flags & at.NODE_DELETED) {
      if (isCurrent) say('is deleted but has its id');
      if ((flags & at.NODE_DUPLICATE) === 0) counts.deleted++;
    } else {
      counts.live++;
      if (!isCurrent) say('lives without its id');
    }
    if ((flags & at.NODE_LINKED) === 0) say('is not linked');
    checkChain(reader, slot, node, say);
    if (flags & at.NODE_DUPLICATE) continue;
    checkCode(reader, slot, node, say);
    const isExempt = reader.isSweeping && (flags & at.NODE_UNLINKING) !== 0;
    if (!isExempt) checkEdges(reader, slot, node, say);
  }
  if (counts.live !== segment.live) faults.push(`${counts.live} live, not ${segment.live}`);
  if (counts.deleted !== segment.deleted) faults.push(`${counts.deleted} deleted`);
  faults.push(...freeFaults(reader));
  return faults;
}

/** Result of `reachable`. */
export interface Reachable {
  /** Faults: what a search reaches though it is free or, in a sweep, being unlinked. */
  faults: string[];
  /** Number of nodes that a search can reach. */
  nodes: number;
  /** Number of nodes being unlinked that wait for the sweep. */
  waiting: number;
  /** Number of edges that lead from nodes being unlinked to freed slots. */
  stale: number;
}

/** Follows every edge from every entry point of a segment, as a search with an endless width would. */
export function reachable(segment: Segment): Reachable {
  const reader = new Reader(segment);
  const result: Reachable = { faults: [], nodes: 0, waiting: 0, stale: 0 };
  const bad = at.NODE_FREE | at.NODE_DUPLICATE | (reader.isSweeping ? at.NODE_UNLINKING : 0);
  const seen = new Set<number>();
  const open: number[] = [];
  const visit = (slot: number, from: string): void => {
    if (seen.has(slot)) return;
    seen.add(slot);
    const flags = reader.word(reader.node(slot) + at.N_FLAGS);
    if (flags & bad) result.faults.push(`${from} leads to slot ${slot} with flags ${flags}`);
    else open.push(slot);
  };
  for (const slot of entrySlots(reader)) visit(slot, 'an entry');
  for (let slot = open.pop(); slot !== undefined; slot = open.pop()) {
    result.nodes++;
    for (const target of targetsOf(reader, slot)) visit(target, `slot ${slot}`);
  }
  for (let slot = 0; reader.isSweeping && slot < segment.slots; slot++) {
    const flags = reader.word(reader.node(slot) + at.N_FLAGS);
    if ((flags & at.NODE_UNLINKING) === 0) continue;
    result.waiting++;
    result.stale += targetsOf(reader, slot).filter(
      (target) => reader.word(reader.node(target) + at.N_FLAGS) & at.NODE_FREE,
    ).length;
  }
  return result;
}

/** Slots that the used edges of a node lead to. */
function targetsOf(reader: Reader, slot: number): number[] {
  const node = reader.node(slot);
  const used = reader.word(node + at.N_USED);
  const neighbours = node + reader.word(at.H_NEIGHBOUR);
  const targets: number[] = [];
  for (let e = 0; e < at.EDGES; e++)
    if ((used >>> e) & 1) targets.push(reader.word(neighbours + e * 4));
  return targets;
}

/** Slots of the entry table. */
function entrySlots(reader: Reader): number[] {
  const termsAt = at.ENTRY_PARTS + reader.word(at.H_EDGE_CODE_BYTES);
  const slots: number[] = [];
  for (let place = 0; place < at.ENTRY_BLOCKS * at.EDGES; place++) {
    const block = Math.floor(place / at.EDGES) * reader.word(at.H_ENTRY_BYTES);
    const terms = reader.word(at.H_ENTRY) + block + termsAt;
    const e = place % at.EDGES;
    if (reader.short(terms + e * 2) === Number.POSITIVE_INFINITY) continue;
    slots.push(reader.word(terms + at.ENTRY_SLOTS + e * 4));
  }
  return slots;
}

type Say = (what: string) => void;

/** What the module exports for tests. */
interface Distances {
  nodeDistance(a: number, b: number): number;
}

class Reader {
  readonly bytes: Uint8Array;
  readonly padded: number;
  readonly #view: DataView;

  constructor(readonly segment: Segment) {
    const buffer = segment.buffer(segment.bytes);
    this.bytes = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
    this.padded = segment.padded;
  }

  word(address: number): number {
    return this.#view.getUint32(address, true);
  }

  /** Whether a pass of the maintenance stands between two slots of its sweep. */
  get isSweeping(): boolean {
    return this.word(at.H_PHASE) === at.PHASE_SWEEP;
  }

  float(address: number): number {
    return this.#view.getFloat32(address, true);
  }

  node(slot: number): number {
    return this.segment.kernel.nodeAt(slot) >>> 0;
  }

  nodeDistance(a: number, b: number): number {
    const { nodeDistance } = this.segment.kernel as unknown as Distances;
    return nodeDistance(a, b);
  }

  /** Value of one unit of the 16-bit code of a node. */
  unit(node: number): number {
    return this.float(node + at.N_STEP) / 256;
  }

  /** The vector of a node minus the mean, as its 16-bit code has it. */
  centred(node: number): Float32Array {
    const rest = new Int8Array(this.bytes.buffer, node + this.word(at.H_FINE), this.padded);
    return Float32Array.from(
      rest,
      (low, d) => this.unit(node) * (256 * (this.bytes[node + at.N_CODE + d]! - 128) + low),
    );
  }

  /** A float of 16 bits: the upper half of one of 32. */
  short(address: number): number {
    const bits = new Uint32Array([this.#view.getUint16(address, true) << 16]);
    return new Float32Array(bits.buffer)[0]!;
  }

  /** Sign of dimension d of edge e of the codes at `codes`. */
  sign(codes: number, e: number, d: number): boolean {
    const byte = this.bytes[codes + (d >> 2) * 16 + (e & 15)]!;
    return ((byte >>> ((e < 16 ? 0 : 4) + (d & 3))) & 1) === 1;
  }
}

function checkChain(reader: Reader, slot: number, node: number, say: Say): void {
  const next = reader.word(node + at.N_NEXT);
  const previous = reader.word(node + at.N_PREVIOUS);
  if (next && reader.word(reader.node(next - 1) + at.N_PREVIOUS) !== slot + 1) say('broken chain');
  const isTwin = (reader.word(node + at.N_FLAGS) & at.NODE_DUPLICATE) !== 0;
  if (!isTwin) return;
  if (previous === 0) say('a twin of nobody');
  else if (reader.word(reader.node(previous - 1) + at.N_NEXT) !== slot + 1) say('unlisted twin');
  else if (Buffer.compare(bytesOf(reader, node), bytesOf(reader, reader.node(previous - 1)))) {
    say('a twin that differs');
  }
}

function bytesOf(reader: Reader, node: number): Uint8Array {
  return new Uint8Array(reader.centred(node).buffer);
}

function checkCode(reader: Reader, slot: number, node: number, say: Say): void {
  let sum = 0;
  for (let d = 0; d < reader.padded; d++) sum += reader.bytes[node + at.N_CODE + d]!;
  if (sum !== reader.word(node + at.N_CODE_SUM)) say('its code has another sum');
  const block = slot >>> 5;
  const page = reader.word(reader.word(at.H_SKETCHES) + Math.floor(block / at.SKETCH_BLOCKS) * 4);
  const sketch =
    page + (block % at.SKETCH_BLOCKS) * reader.word(at.H_SKETCH_BYTES) + at.SKETCH_PARTS;
  // The sketch is made of the vector itself, whose coordinates are up to half a unit from the code's.
  for (const [d, x] of reader.centred(node).entries()) {
    if (Math.abs(x) <= reader.unit(node)) continue;
    if (reader.sign(sketch, slot & 31, d) !== x > 0) return say('another sketch');
  }
}

function checkEdges(reader: Reader, slot: number, node: number, say: Say): void {
  const used = reader.word(node + at.N_USED);
  const hard = reader.word(node + at.N_HARD);
  if ((hard & ~used) !== 0) say('a hard edge is not in use');
  const seen = new Set<number>();
  for (let e = 0; e < at.EDGES; e++) {
    if (((used >>> e) & 1) === 0) continue;
    const neighbour = reader.word(node + reader.word(at.H_NEIGHBOUR) + e * 4);
    if (neighbour === slot) say(`edge ${e} goes to itself`);
    if (neighbour >= reader.segment.slots) return say(`edge ${e} goes nowhere`);
    if (seen.has(neighbour)) say(`two edges to ${neighbour}`);
    seen.add(neighbour);
    checkEdge(reader, node, e, reader.node(neighbour), say);
  }
}

function checkEdge(reader: Reader, node: number, e: number, target: number, say: Say): void {
  const flags = reader.word(target + at.N_FLAGS);
  if (flags & (at.NODE_FREE | at.NODE_DUPLICATE)) return say(`edge ${e} goes to what is no node`);
  const [p, x] = [reader.centred(node), reader.centred(target)];
  const codes = node + reader.word(at.H_EDGE_CODES);
  let squares = 0;
  let sizes = 0;
  let inner = 0;
  for (let d = 0; d < reader.padded; d++) {
    const r = Math.fround(x[d]! - p[d]!);
    if (reader.sign(codes, e, d) !== r >= 0) return say(`edge ${e} has another code`);
    squares += r * r;
    sizes += Math.abs(r);
    inner += (r >= 0 ? 1 : -1) * p[d]!;
  }
  // Equal vectors that two threads linked at the same time stay two nodes.
  const scale = sizes > 0 ? (2 * squares) / sizes : 0;
  const near = (a: number, b: number, size: number): boolean => Math.abs(a - b) <= 5e-3 * size;
  const storedScale = reader.short(node + reader.word(at.H_SCALE) + e * 2);
  if (!near(storedScale, scale, scale)) say(`edge ${e} has another scale`);
  const add = reader.short(node + reader.word(at.H_ADD) + e * 2);
  const size = squares + scale * Math.abs(inner);
  if (!near(add, squares + scale * inner, size)) say(`edge ${e} has another sum`);
  const distance = reader.short(node + reader.word(at.H_EDGE_DISTANCE) + e * 2);
  const byCodes = reader.nodeDistance(node, target);
  // One is of a query's code, the other of two nodes'.
  if (Math.abs(distance - byCodes) > 0.05 * byCodes)
    say(`edge ${e} has distance ${distance}, not ${byCodes}`);
}

/** The list of free slots holds every free slot once. */
function freeFaults(reader: Reader): string[] {
  const listed = new Set<number>();
  for (let next = reader.word(at.H_FREE); next !== 0; ) {
    if (listed.has(next)) return ['the list of free slots is a ring'];
    listed.add(next);
    next = reader.word(reader.node(next - 1) + at.N_NEXT);
  }
  let free = 0;
  for (let slot = 0; slot < reader.segment.slots; slot++) {
    if (reader.word(reader.node(slot) + at.N_FLAGS) & at.NODE_FREE) free++;
  }
  return free === listed.size ? [] : [`${free} free, ${listed.size} listed`];
}
