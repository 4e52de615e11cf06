// Scratch memory of one thread inside a segment. The thread takes it from the header's table and releases it when
// the thread ends, so that many short-lived threads share a few.
// Invariant: no two threads use one scratch memory at the same time.
import { allocate, lock, mark, unlock } from './memory';
import {
  HAS_GRAPH, H_SCRATCH_LOCK, H_SCRATCH_TABLE, SCRATCHES_MAX, SCRATCH_HEADER, L_CENTRED, L_CODE,
  L_DISTANCES, L_ESTIMATES, L_IDS, L_CHOSEN, L_POOL, L_QUERY, L_REJECTED, L_RESULT, L_ROTATED,
  L_SEEN, L_TABLE, L_TOUCHED, POOL_MAX, RESULT_MAX, TOUCHED_MAX,
} from './layout';
import { Header } from './kernel/header';
import { Scratch } from './kernel/scratch-fields';

/** Takes a scratch memory; returns 0 if all are taken or the segment is full. */
export function openScratch(): usize {
  lock(H_SCRATCH_LOCK);
  let scratch: usize = 0;
  for (let i: usize = 0; i < <usize>SCRATCHES_MAX; i++) {
    const entry = <usize>H_SCRATCH_TABLE + (i << 2);
    const word = load<u32>(entry);
    if (word & 1) continue;
    scratch = word != 0 ? <usize>word : createScratch();
    if (scratch != 0) store<u32>(entry, <u32>scratch | 1);
    break;
  }
  unlock(H_SCRATCH_LOCK);
  return scratch;
}

export function closeScratch(scratch: usize): void {
  for (let i: usize = 0; i < <usize>SCRATCHES_MAX; i++) {
    const entry = <usize>H_SCRATCH_TABLE + (i << 2);
    if (load<u32>(entry) == (<u32>scratch | 1)) atomic.store<u32>(entry, <u32>scratch);
  }
}

/**
 * Releases all scratch memories and clears their visited sets. The memory was read from a snapshot made
 * during searches.
 */
export function freeScratch(): void {
  const graph = (Header.layout() & HAS_GRAPH) != 0;
  for (let i: usize = 0; i < <usize>SCRATCHES_MAX; i++) {
    const entry = <usize>H_SCRATCH_TABLE + (i << 2);
    const scratch = <usize>(load<u32>(entry) & ~1);
    store<u32>(entry, <u32>scratch);
    if (scratch == 0 || !graph) continue;
    Scratch.setTouchedCount(scratch, 0);
    memory.fill(Scratch.seen(scratch), 0, <usize>seenBytes());
  }
}

/** Returns the bytes of one bit per slot. */
function seenBytes(): u64 {
  return (((<u64>Header.capacity() + 63) >> 3) + 63) & ~63;
}

function createScratch(): usize {
  const padded = <u64><u32>Header.padded();
  const graph = (Header.layout() & HAS_GRAPH) != 0;
  const seen = seenBytes();
  let total = SCRATCH_HEADER + padded * 8 + <u64>(POOL_MAX + 1) * 8 + 64;
  total += <u64>RESULT_MAX * 16 + 64;
  if (graph) total += padded * (4 + 2 + 4) + seen + (TOUCHED_MAX + 1) * 4 + 2048;
  const scratch = allocate(total);
  if (scratch == 0) return 0;
  let at = scratch + SCRATCH_HEADER;
  at = part(scratch, L_QUERY, at, padded * 4);
  at = part(scratch, L_ROTATED, at, padded * 4);
  at = part(scratch, L_POOL, at, (POOL_MAX + 1) * 8);
  at = part(scratch, L_RESULT, at, RESULT_MAX * 8);
  at = part(scratch, L_IDS, at, RESULT_MAX * 4);
  at = part(scratch, L_DISTANCES, at, RESULT_MAX * 4);
  if (!graph) {
    mark(scratch, SCRATCH_HEADER);
    return scratch;
  }
  at = part(scratch, L_CENTRED, at, padded * 4);
  at = part(scratch, L_CODE, at, padded * 2);
  at = part(scratch, L_TABLE, at, padded * 4);
  at = part(scratch, L_ESTIMATES, at, 128);
  at = part(scratch, L_CHOSEN, at, 512);
  at = part(scratch, L_REJECTED, at, 1024);
  at = part(scratch, L_TOUCHED, at, (TOUCHED_MAX + 1) * 4);
  part(scratch, L_SEEN, at, seen);
  mark(scratch, SCRATCH_HEADER);
  return scratch;
}

function part(scratch: usize, field: usize, at: usize, bytes: u64): usize {
  store<u32>(scratch + field, <u32>at);
  return at + <usize>((bytes + 15) & ~15);
}

/** Allocates space for a filter of `words` words; returns its address, or 0 if the segment is full. */
export function openAllow(scratch: usize, words: u32): usize {
  if (words > Scratch.allowRoom(scratch)) {
    const room = words + (words >> 1) + 1024;
    const at = allocate((<u64>room) << 2);
    if (at == 0) return 0;
    Scratch.setAllow(scratch, <u32>at);
    Scratch.setAllowRoom(scratch, room);
    mark(scratch, SCRATCH_HEADER);
  }
  Scratch.setAllowWords(scratch, words);
  return <u32>Scratch.allow(scratch);
}
