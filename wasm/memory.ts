// Memory of a segment: allocator, record addresses, id map, spin locks. Address 0 is the header, so header
// fields are loads from constant addresses. Memory is allocated and never freed; all threads share its
// growth. During a snapshot, every change of a page marks the page: one byte per page, which the snapshot's
// thread clears before it copies the page. Scratch memories are marked only for their headers, because their
// content does not outlive a search.
// Invariant: a mark is set after its page is written, and before the change of the index ends.
import {
  EDGES, H_ALLOCATOR, H_MARKING, IDS_PAGE, N_LOCK, PAGE_BYTES, SKETCH_BLOCKS, STATE_SCAN,
} from './layout';
import { Header } from './kernel/header';

/** Takes the lock word at `at`. The holder never blocks, so spinning is short. */
export function lock(at: usize): void {
  while (atomic.cmpxchg<i32>(at, 0, 1) != 0) {
    while (atomic.load<i32>(at) != 0) {}
  }
}

export function unlock(at: usize): void {
  atomic.store<i32>(at, 0);
}

// @ts-ignore: decorator
@inline
export function lockNode(node: usize): void {
  lock(node + N_LOCK);
}

// @ts-ignore: decorator
@inline
export function unlockNode(node: usize): void {
  unlock(node + N_LOCK);
}

/** Allocates `bytes` zeroed bytes at a multiple of 64. Returns 0 if the segment may not grow that far. */
export function allocate(bytes: u64): usize {
  lock(H_ALLOCATOR);
  const at = <u64>Header.freeByte();
  const end = (at + bytes + 63) & ~63;
  let result: usize = 0;
  if (end <= <u64>Header.bytesMax()) {
    const pages = <i32>((end + 65535) >> 16) - memory.size();
    if (pages <= 0 || memory.grow(pages) >= 0) {
      Header.setFreeByte(<u32>end);
      result = <usize>at;
    }
  }
  unlock(H_ALLOCATOR);
  return result;
}

/** Copies P floats. */
export function copyVector(from: usize, to: usize): void {
  const end = from + (Header.padded() << 2);
  for (; from < end; from += 16, to += 16) v128.store(to, v128.load(from));
}

/** Returns the address of a slot's record. */
// @ts-ignore: decorator
@inline
export function nodeAt(slot: u32): usize {
  const shift = Header.chunkShift();
  const chunk = load<u32>(Header.chunks() + ((<usize>(slot >> shift)) << 2));
  return <usize>chunk + <usize>(slot & ((1 << shift) - 1)) * Header.stride();
}

/** Returns the address of the block of sketches that contains `slot`. */
// @ts-ignore: decorator
@inline
export function sketchesAt(slot: u32): usize {
  const block = slot / EDGES;
  const entry = Header.sketches() + ((<usize>(block / SKETCH_BLOCKS)) << 2);
  const offset = <usize>(block % SKETCH_BLOCKS) * Header.sketchBytes();
  return <usize>load<u32>(entry) + offset;
}

/**
 * Returns the bytes that records leave free for later allocations, mostly scratch memories: the smaller of 32
 * MiB and a quarter of the segment.
 */
// @ts-ignore: decorator
@inline
function reserve(): u64 {
  return <u64>min<u32>(1 << 25, Header.bytesMax() >> 2);
}

/** Makes sure that the sketches of `slot` exist, if the layout has any. A chunk spans at most two pages. */
function ensureSketches(slot: u32): bool {
  const block = <u64><u32>Header.sketchBytes();
  if (block == 0) return true;
  const page = slot / (EDGES * SKETCH_BLOCKS);
  const entry = Header.sketches() + ((<usize>page) << 2);
  if (load<u32>(entry) != 0) return true;
  const at = allocate(block * SKETCH_BLOCKS);
  store<u32>(entry, <u32>at);
  mark(entry, 4);
  return at != 0;
}

/** Makes sure that the chunk of `slot` exists. One thread at a time. */
export function ensureChunk(slot: u32): bool {
  const shift = Header.chunkShift();
  const entry = Header.chunks() + ((<usize>(slot >> shift)) << 2);
  if (load<u32>(entry) != 0) return true;
  const bytes = (<u64><u32>Header.stride()) << shift;
  const end = <u64>Header.freeByte() + bytes + reserve();
  if (slot != 0 && end > <u64>Header.bytesMax()) return false;
  if (!ensureSketches(slot) || !ensureSketches(slot + (1 << shift) - 1)) return false;
  if (!ensureStaged(slot)) return false;
  const at = allocate(bytes);
  if (at == 0) return false;
  atomic.store<u32>(entry, <u32>at);
  mark(entry, 4);
  return true;
}

/**
 * Returns the address of the id map's word for `id`. Returns 0 if its page does not exist and `create` is
 * false, or if the memory is full.
 */
export function idWord(id: u32, create: bool): usize {
  const top = Header.ids() + ((<usize>(id >> 22)) << 2);
  let middle = <usize>load<u32>(top);
  if (middle == 0) {
    if (!create) return 0;
    middle = allocate(IDS_PAGE * 4);
    if (middle == 0) return 0;
    atomic.store<u32>(top, <u32>middle);
    mark(top, 4);
  }
  const entry = middle + ((<usize>((id >> 11) & (IDS_PAGE - 1))) << 2);
  let leaf = <usize>load<u32>(entry);
  if (leaf == 0) {
    if (!create) return 0;
    leaf = allocate(IDS_PAGE * 4);
    if (leaf == 0) return 0;
    atomic.store<u32>(entry, <u32>leaf);
    mark(entry, 4);
  }
  return leaf + ((<usize>(id & (IDS_PAGE - 1))) << 2);
}

/** Returns slot + 1 of an id; 0 if it is absent. */
export function slotOf(id: u32): u32 {
  const word = idWord(id, false);
  return word == 0 ? 0 : atomic.load<u32>(word);
}

/**
 * Returns the address of the vector of `slot`. In layouts without vectors: of its staged copy, until the
 * graph is complete.
 */
export function vectorAt(node: usize, slot: u32): usize {
  const vector = Header.vector();
  return vector != 0 ? node + vector : stagedAt(slot);
}

/** Returns the address of the staged vector of `slot`. */
export function stagedAt(slot: u32): usize {
  const shift = Header.chunkShift();
  const staged = load<u32>(Header.staged() + ((<usize>(slot >> shift)) << 2));
  return <usize>staged + <usize>(slot & ((1 << shift) - 1)) * (Header.padded() << 2);
}

/** Makes sure that the vectors of the chunk of `slot` can be staged, if they must be. */
function ensureStaged(slot: u32): bool {
  if (Header.state() != STATE_SCAN || <u32>Header.vector() != 0) return true;
  const shift = Header.chunkShift();
  const entry = Header.staged() + ((<usize>(slot >> shift)) << 2);
  if (load<u32>(entry) != 0) return true;
  const at = allocate((<u64><u32>Header.padded() << 2) << shift);
  store<u32>(entry, <u32>at);
  mark(entry, 4);
  return at != 0;
}

/** Marks the pages of `bytes` bytes from `at` on, which have just been written. */
// @ts-ignore: decorator
@inline
export function mark(at: usize, bytes: usize): void {
  const marks = Header.marking();
  if (marks != 0) markPages(marks, at, bytes);
}

function markPages(marks: usize, at: usize, bytes: usize): void {
  const last = (at + bytes - 1) / PAGE_BYTES;
  // Atomic: a store that could pass the write of the page would be cleared too early.
  for (let page = at / PAGE_BYTES; page <= last; page++) atomic.store<u8>(marks + page, 1);
}

/** Starts marking pages; returns false if the memory is full. Writer only, between changes. */
export function openMarks(): bool {
  let marks = Header.marks();
  if (marks == 0) {
    marks = <u32>allocate(<u64>Header.bytesMax() / PAGE_BYTES + 1);
    Header.setMarks(marks);
  }
  atomic.store<u32>(H_MARKING, marks);
  return marks != 0;
}

/** Stops marking pages. */
export function closeMarks(): void {
  atomic.store<u32>(H_MARKING, 0);
}
