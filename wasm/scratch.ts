// Scratch memory of one thread inside a segment (parameter `lane`). It is taken from the header's table and released
// when the thread ends, so that many short-lived threads share a few.
// Invariant: no two threads use one scratch memory at the same time.
import { allocate, lock, mark, unlock } from './memory';
import {
  HAS_GRAPH, H_CAPACITY, H_LANE_LOCK, H_LANE_TABLE, H_LAYOUT, H_PADDED, LANES_MAX, LANE_HEADER,
  L_ALLOW, L_ALLOW_ROOM, L_ALLOW_WORDS, L_CENTRED, L_CODE, L_DISTANCES, L_ESTIMATES, L_IDS, L_KEPT,
  L_POOL, L_QUERY, L_REJECTED, L_RESULT, L_ROTATED, L_SEEN, L_TABLE, L_TOUCHED, L_TOUCHED_COUNT,
  POOL_MAX, RESULT_MAX, TOUCHED_MAX,
} from './layout';

/** Takes a scratch memory; returns 0 if all are taken or the segment is full. */
export function openLane(): usize {
  lock(H_LANE_LOCK);
  let lane: usize = 0;
  for (let i: usize = 0; i < <usize>LANES_MAX; i++) {
    const entry = <usize>H_LANE_TABLE + (i << 2);
    const word = load<u32>(entry);
    if (word & 1) continue;
    lane = word != 0 ? <usize>word : createLane();
    if (lane != 0) store<u32>(entry, <u32>lane | 1);
    break;
  }
  unlock(H_LANE_LOCK);
  return lane;
}

export function closeLane(lane: usize): void {
  for (let i: usize = 0; i < <usize>LANES_MAX; i++) {
    const entry = <usize>H_LANE_TABLE + (i << 2);
    if (load<u32>(entry) == (<u32>lane | 1)) atomic.store<u32>(entry, <u32>lane);
  }
}

/**
 * Releases all scratch memories and clears their visited sets. The memory was read from a snapshot made
 * during searches.
 */
export function freeLanes(): void {
  const graph = (load<u32>(0, H_LAYOUT) & HAS_GRAPH) != 0;
  for (let i: usize = 0; i < <usize>LANES_MAX; i++) {
    const entry = <usize>H_LANE_TABLE + (i << 2);
    const lane = <usize>(load<u32>(entry) & ~1);
    store<u32>(entry, <u32>lane);
    if (lane == 0 || !graph) continue;
    store<u32>(lane, 0, L_TOUCHED_COUNT);
    memory.fill(<usize>load<u32>(lane, L_SEEN), 0, <usize>seenBytes());
  }
}

/** Returns the bytes of one bit per slot. */
function seenBytes(): u64 {
  return (((<u64>load<u32>(0, H_CAPACITY) + 63) >> 3) + 63) & ~63;
}

function createLane(): usize {
  const padded = <u64>load<u32>(0, H_PADDED);
  const graph = (load<u32>(0, H_LAYOUT) & HAS_GRAPH) != 0;
  const seen = seenBytes();
  let total = LANE_HEADER + padded * 8 + <u64>(POOL_MAX + 1) * 8 + 64 + <u64>RESULT_MAX * 16 + 64;
  if (graph) total += padded * (4 + 2 + 4) + seen + (TOUCHED_MAX + 1) * 4 + 2048;
  const lane = allocate(total);
  if (lane == 0) return 0;
  let at = lane + LANE_HEADER;
  at = part(lane, L_QUERY, at, padded * 4);
  at = part(lane, L_ROTATED, at, padded * 4);
  at = part(lane, L_POOL, at, (POOL_MAX + 1) * 8);
  at = part(lane, L_RESULT, at, RESULT_MAX * 8);
  at = part(lane, L_IDS, at, RESULT_MAX * 4);
  at = part(lane, L_DISTANCES, at, RESULT_MAX * 4);
  if (!graph) {
    mark(lane, LANE_HEADER);
    return lane;
  }
  at = part(lane, L_CENTRED, at, padded * 4);
  at = part(lane, L_CODE, at, padded * 2);
  at = part(lane, L_TABLE, at, padded * 4);
  at = part(lane, L_ESTIMATES, at, 128);
  at = part(lane, L_KEPT, at, 512);
  at = part(lane, L_REJECTED, at, 1024);
  at = part(lane, L_TOUCHED, at, (TOUCHED_MAX + 1) * 4);
  part(lane, L_SEEN, at, seen);
  mark(lane, LANE_HEADER);
  return lane;
}

function part(lane: usize, field: usize, at: usize, bytes: u64): usize {
  store<u32>(lane + field, <u32>at);
  return at + <usize>((bytes + 15) & ~15);
}

/** Allocates space for a filter of `words` words; returns its address, or 0 if the segment is full. */
export function openAllow(lane: usize, words: u32): usize {
  if (words > load<u32>(lane, L_ALLOW_ROOM)) {
    const room = words + (words >> 1) + 1024;
    const at = allocate((<u64>room) << 2);
    if (at == 0) return 0;
    store<u32>(lane, <u32>at, L_ALLOW);
    store<u32>(lane, room, L_ALLOW_ROOM);
    mark(lane, LANE_HEADER);
  }
  store<u32>(lane, words, L_ALLOW_WORDS);
  return load<u32>(lane, L_ALLOW);
}
