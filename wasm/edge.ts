// Writes edges: the 1-bit code of a neighbor relative to its owner (RaBitQ, Gao & Long, SIGMOD 2024), its
// terms, and the masks of the owner.
//   r = x - p;  bit_d = r_d >= 0;  nn = |r|^2, L1 = sum |r_d|, B = sum sign_d p_d;  scale = 2 nn
//   / L1;  add = nn + scale B
// An edge is published last: add = +inf first, its value at the end. A concurrent reader sees a wrong
// estimate at worst.
import {
  EDGES, ENTRY_BLOCKS, ENTRY_LOCK, ENTRY_PARTS, ENTRY_SLOTS, H_ENTRY_SEEN, N_CODE, SKETCH_LOCK,
  SKETCH_PARTS,
} from './layout';
import { Header } from './kernel/header';
import { nodeDistance } from './scalar-quantizer';
import { hasInner } from './candidate-order';
import { lock, mark, nodeAt, sketchesAt, unlock } from './memory';
import { lowerOf, refinedCodes, unitOf, upperOf } from './refine';
import { SHORT_INFINITY, fromShort, toShort } from './kernel/short-float';
import { sumFloats } from './kernel/sum';
import { Node } from './kernel/node';

/** Writes the code bits and terms of edge `e` of the node `owner`, which leads to the node `target`. */
function writeCode(owner: usize, e: u32, target: usize): void {
  const codes = owner + Header.edgeCodes();
  const terms = codes + Header.edgeCodeBytes() + ((<usize>e) << 1);
  atomic.store<u16>(terms, SHORT_INFINITY);
  const shift: u32 = e < 16 ? 0 : 4;
  const keep: u32 = e < 16 ? 0xf0 : 0x0f;
  const sign = i32x4.splat(0x80000000);
  const zero = f32x4.splat(0);
  let squares = zero;
  let sizes = zero;
  let inner = zero;
  const first = unitOf(owner);
  const second = unitOf(target);
  const fine = Header.fine();
  const end = owner + Header.padded();
  let byte = codes + <usize>(e & 15);
  for (; owner < end; owner += 8, target += 8, byte += 32) {
    const x = refinedCodes(owner + N_CODE, owner + fine);
    const y = refinedCodes(target + N_CODE, target + fine);
    let p = lowerOf(x, first);
    let r = f32x4.sub(lowerOf(y, second), p);
    squares = f32x4.add(squares, f32x4.mul(r, r));
    sizes = f32x4.add(sizes, f32x4.abs(r));
    let positive = f32x4.ge(r, zero);
    inner = f32x4.add(inner, v128.xor(p, v128.andnot(sign, positive)));
    store<u8>(byte, (load<u8>(byte) & keep) | (i32x4.bitmask(positive) << shift));
    p = upperOf(x, first);
    r = f32x4.sub(upperOf(y, second), p);
    squares = f32x4.add(squares, f32x4.mul(r, r));
    sizes = f32x4.add(sizes, f32x4.abs(r));
    positive = f32x4.ge(r, zero);
    inner = f32x4.add(inner, v128.xor(p, v128.andnot(sign, positive)));
    store<u8>(byte, (load<u8>(byte, 16) & keep) | (i32x4.bitmask(positive) << shift), 16);
  }
  storeTerms(terms, sumFloats(squares), sumFloats(sizes), sumFloats(inner));
}

/** Publishes a code from nn, L1 and B as above. */
function storeTerms(terms: usize, length: f32, size: f32, inner: f32): void {
  const scale: f32 = size > 0 ? 2 * length / size : 0;
  store<u16>(terms, toShort(scale), 64);
  atomic.store<u16>(terms, toShort(length + scale * inner));
}

/** Returns the squared distance to the neighbor of edge `e`: the stored one, if the layout stores it. */
export function edgeDistance(node: usize, e: u32): f32 {
  const distances = Header.edgeDistance();
  if (distances != 0) return fromShort(load<u16>(node + distances + ((<usize>e) << 1)));
  return nodeDistance(node, nodeAt(load<u32>(node + Header.neighbour() + ((<usize>e) << 2))));
}

/**
 * Makes edge `e` of `node` lead to `slot`. The caller holds the node's lock, or the node is not yet
 * published.
 */
export function writeEdge(node: usize, e: u32, slot: u32, distance: f32, hard: bool): void {
  atomic.store<u32>(node + Header.neighbour() + ((<usize>e) << 2), slot);
  const distances = Header.edgeDistance();
  if (distances != 0) store<u16>(node + distances + ((<usize>e) << 1), toShort(distance));
  if (<u32>Header.edgeCodes() != 0) writeCode(node, e, nodeAt(slot));
  const bit: u32 = 1 << e;
  const mask = Node.hard(node);
  Node.setHard(node, hard ? mask | bit : mask & ~bit);
  Node.publishUsed(node, Node.used(node) | bit);
}

/** Coprime to the table's size. */
const SCATTER: u32 = 389;

/**
 * Offers a linked node to the entry table: a reservoir sample of 1,024 nodes, filled in an order that makes
 * its first blocks a sample too. Under dot, the table contains the longest node of every part of the
 * directions. `centred`: the node's vector minus the mean.
 */
export function offerEntry(centred: usize, slot: u32): void {
  if (hasInner()) {
    offerLongest(centred, slot);
    return;
  }
  const seen = atomic.add<u32>(H_ENTRY_SEEN, 1);
  const room: u32 = ENTRY_BLOCKS * EDGES;
  let position = (seen * SCATTER) % room;
  if (seen >= room) {
    position = (((slot * 0x9e3779b1) ^ (slot >> 15)) * 0x85ebca6b >> 1) % (seen + 1);
    if (position >= room) return;
  }
  writeEntry(position, centred, slot);
}

/** Bits of a table position: the number of coordinates whose signs select it. */
const POSITION_BITS: usize = 10;

/**
 * Under dot the results are long vectors: a table position belongs to a part of the directions from the mean,
 * and contains the longest node of that part. A short node, however near in direction, would fill the pool
 * before longer nodes of worse directions.
 */
function offerLongest(centred: usize, slot: u32): void {
  let position: u32 = 0;
  for (let i: usize = 0; i < POSITION_BITS; i++) {
    if (load<f32>(centred + (i << 2)) >= 0) position |= 1 << <u32>i;
  }
  if (load<u16>(entryTerms(position)) != SHORT_INFINITY) {
    const owner = nodeAt(load<u32>(entrySlot(position)));
    if (Node.norm(owner) >= Node.norm(nodeAt(slot))) return;
  }
  writeEntry(position, centred, slot);
}

/** Returns the address of the block of a table position. */
// @ts-ignore: decorator
@inline
function entryBlock(position: u32): usize {
  return Header.entry() + <usize>(position / EDGES) * <u32>Header.entryBytes();
}

/** Returns the address of the terms of a table position. */
export function entryTerms(position: u32): usize {
  const codes = entryBlock(position) + ENTRY_PARTS;
  return codes + Header.edgeCodeBytes() + ((<usize>(position % EDGES)) << 1);
}

/** Returns the address of the slot of a table position. */
export function entrySlot(position: u32): usize {
  const codes = entryBlock(position) + ENTRY_PARTS;
  return codes + Header.edgeCodeBytes() + ENTRY_SLOTS + ((<usize>(position % EDGES)) << 2);
}

/** Writes one position of the entry table. */
export function writeEntry(position: u32, centred: usize, slot: u32): void {
  const block = entryBlock(position);
  lock(block + ENTRY_LOCK);
  atomic.store<u32>(entrySlot(position), slot);
  writeEntryCode(block + ENTRY_PARTS, position % EDGES, centred);
  mark(block, Header.entryBytes());
  unlock(block + ENTRY_LOCK);
}

/** Writes the sketch of `slot`, whose vector minus the mean is `centred`. */
export function writeSketch(slot: u32, centred: usize): void {
  const block = sketchesAt(slot);
  lock(block + SKETCH_LOCK);
  writeEntryCode(block + SKETCH_PARTS, slot % EDGES, centred);
  mark(block, Header.sketchBytes());
  unlock(block + SKETCH_LOCK);
}

/** Writes a sketch that every scan rules out. */
export function closeSketch(slot: u32): void {
  const terms = sketchesAt(slot) + SKETCH_PARTS + Header.edgeCodeBytes();
  atomic.store<u16>(terms + ((<usize>(slot % EDGES)) << 1), SHORT_INFINITY);
  mark(terms, EDGES * 2);
}

/** Like `writeCode`, with the mean as owner. */
function writeEntryCode(codes: usize, e: u32, centred: usize): void {
  const terms = codes + Header.edgeCodeBytes() + ((<usize>e) << 1);
  atomic.store<u16>(terms, SHORT_INFINITY);
  const shift: u32 = e < 16 ? 0 : 4;
  const keep: u32 = e < 16 ? 0xf0 : 0x0f;
  const zero = f32x4.splat(0);
  let squares = zero;
  let sizes = zero;
  const end = centred + (Header.padded() << 2);
  let byte = codes + <usize>(e & 15);
  while (centred < end) {
    const r = v128.load(centred);
    squares = f32x4.add(squares, f32x4.mul(r, r));
    sizes = f32x4.add(sizes, f32x4.abs(r));
    store<u8>(byte, (load<u8>(byte) & keep) | (i32x4.bitmask(f32x4.ge(r, zero)) << shift));
    centred += 16; byte += 16;
  }
  storeTerms(terms, sumFloats(squares), sumFloats(sizes), 0);
}
