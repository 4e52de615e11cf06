// Vectors outside the graph: equal vectors form a list that starts at the first of their kind, zero vectors
// (cosine, dot) one that starts in the header. The graph contains only the first, however many there are. The
// lists are doubly linked by N_NEXT and N_PREVIOUS (slot + 1, 0 = none).
import {
  H_FINE, H_FREE, H_PADDED, H_VECTOR, H_ZEROS, H_ZERO_LOCK, L_RESULT, L_RESULT_COUNT,
  NODE_UNLINKING,
  NODE_FREE, NODE_LINKED, NODE_DUPLICATE, NODE_ZERO, N_CODE, N_CODE_SUM, N_FLAGS, N_NEXT, N_NORM,
  N_PREVIOUS, N_SQUARE, N_STEP,
} from './layout';
import { hasHalves } from './kernel/int4-code';
import { lock, lockNode, mark, nodeAt, unlock, unlockNode } from './memory';

/** Adds a zero vector to the list of the header. */
export function linkZero(node: usize, slot: u32): void {
  lock(H_ZERO_LOCK);
  const next = load<u32>(0, H_ZEROS);
  store<u32>(node, next, N_NEXT);
  store<u32>(node, 0, N_PREVIOUS);
  setPrevious(next, slot + 1);
  atomic.or<u32>(node + N_FLAGS, NODE_LINKED | NODE_ZERO);
  atomic.store<u32>(H_ZEROS, slot + 1);
  mark(node, 64);
  unlock(H_ZERO_LOCK);
}

/**
 * Adds the node to the list of an equal result of the search, if there is one; returns whether there is. By
 * inner products, an equal vector need not be among the nearest.
 */
export function linkDuplicate(lane: usize, node: usize, slot: u32): bool {
  const results = <usize>load<u32>(lane, L_RESULT);
  const count = load<i32>(lane, L_RESULT_COUNT);
  for (let i = 0; i < count; i++) {
    const key = load<u64>(results + ((<usize>i) << 3));
    const first = nodeAt(<u32>key);
    // A node being unlinked is about to be removed together with its list.
    if ((load<u32>(first, N_FLAGS) & NODE_UNLINKING) != 0) continue;
    if (<u32>key == slot || !equal(first, node)) continue;
    lockNode(first);
    const next = load<u32>(first, N_NEXT);
    store<u32>(node, next, N_NEXT);
    store<u32>(node, <u32>key + 1, N_PREVIOUS);
    setPrevious(next, slot + 1);
    atomic.or<u32>(node + N_FLAGS, NODE_LINKED | NODE_DUPLICATE);
    atomic.store<u32>(first + N_NEXT, slot + 1);
    mark(node, 64);
    mark(first, 64);
    unlockNode(first);
    return true;
  }
  return false;
}

/** Whether two nodes have the same vector or, in layouts without vectors, the same code and lengths. */
function equal(a: usize, b: usize): bool {
  if (load<i32>(a, N_CODE_SUM) != load<i32>(b, N_CODE_SUM)) return false;
  if (load<f32>(a, N_STEP) != load<f32>(b, N_STEP)) return false;
  const vector = <usize>load<u32>(0, H_VECTOR);
  const padded = <usize>load<u32>(0, H_PADDED);
  if (vector != 0) return isSame(a + vector, b + vector, padded << 2);
  if (hasHalves()) {
    if (load<f32>(a, N_SQUARE) != load<f32>(b, N_SQUARE)) return false;
    if (load<f32>(a, N_NORM) != load<f32>(b, N_NORM)) return false;
    return isSame(a + N_CODE, b + N_CODE, padded >> 1);
  }
  const fine = <usize>load<u32>(0, H_FINE);
  return isSame(a + N_CODE, b + N_CODE, padded) && isSame(a + fine, b + fine, padded);
}

function isSame(a: usize, b: usize, bytes: usize): bool {
  for (let at: usize = 0; at < bytes; at += 16) {
    if (v128.any_true(v128.xor(v128.load(a + at), v128.load(b + at)))) return false;
  }
  return true;
}

/** Removes a deleted duplicate or zero vector from its list and frees its slot. Writer only. */
export function unchain(node: usize, slot: u32): void {
  const flags = load<u32>(node, N_FLAGS);
  const next = load<u32>(node, N_NEXT);
  const previous = load<u32>(node, N_PREVIOUS);
  setPrevious(next, previous);
  if (previous != 0) {
    const before = nodeAt(previous - 1);
    atomic.store<u32>(before + N_NEXT, next);
    mark(before, 64);
  } else if (flags & NODE_ZERO) atomic.store<u32>(H_ZEROS, next);
  freeSlot(node, slot);
}

/** Sets the previous entry of the node `next` (slot + 1, 0 = none). */
function setPrevious(next: u32, previous: u32): void {
  if (next == 0) return;
  store<u32>(nodeAt(next - 1), previous, N_PREVIOUS);
  mark(nodeAt(next - 1), 64);
}

/** Adds a slot without references to the list of free slots. Writer only. */
export function freeSlot(node: usize, slot: u32): void {
  store<u32>(node, NODE_FREE, N_FLAGS);
  store<u32>(node, load<u32>(0, H_FREE), N_NEXT);
  store<u32>(0, slot + 1, H_FREE);
  mark(node, 64);
}
