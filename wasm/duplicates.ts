// Vectors outside the graph: equal vectors form a list that starts at the first of their kind, zero vectors
// (cosine, dot) one that starts in the header. The graph contains only the first, however many there are. The
// lists are doubly linked by N_NEXT and N_PREVIOUS (slot + 1, 0 = none).
import {
  H_ZEROS, H_ZERO_LOCK, NODE_UNLINKING, NODE_FREE, NODE_LINKED, NODE_DUPLICATE, NODE_ZERO, N_CODE,
} from './layout';
import { Header } from './kernel/header';
import { Scratch } from './kernel/scratch-fields';
import { hasHalves } from './kernel/int4-code';
import { lock, lockNode, mark, nodeAt, unlock, unlockNode } from './memory';
import { Node } from './kernel/node';

/** Adds a zero vector to the list of the header. */
export function linkZero(node: usize, slot: u32): void {
  lock(H_ZERO_LOCK);
  const next = Header.zeros();
  Node.setNext(node, next);
  Node.setPrevious(node, 0);
  setPrevious(next, slot + 1);
  Node.addFlags(node, NODE_LINKED | NODE_ZERO);
  atomic.store<u32>(H_ZEROS, slot + 1);
  mark(node, 64);
  unlock(H_ZERO_LOCK);
}

/**
 * Adds the node to the list of an equal result of the search, if there is one; returns whether there is. By
 * inner products, an equal vector need not be among the nearest.
 */
export function linkDuplicate(scratch: usize, node: usize, slot: u32): bool {
  const results = Scratch.result(scratch);
  const count = Scratch.resultCount(scratch);
  for (let i = 0; i < count; i++) {
    const key = load<u64>(results + ((<usize>i) << 3));
    const first = nodeAt(<u32>key);
    // A node being unlinked is about to be removed together with its list.
    if ((Node.flags(first) & NODE_UNLINKING) != 0) continue;
    if (<u32>key == slot || !equal(first, node)) continue;
    lockNode(first);
    const next = Node.next(first);
    Node.setNext(node, next);
    Node.setPrevious(node, <u32>key + 1);
    setPrevious(next, slot + 1);
    Node.addFlags(node, NODE_LINKED | NODE_DUPLICATE);
    Node.publishNext(first, slot + 1);
    mark(node, 64);
    mark(first, 64);
    unlockNode(first);
    return true;
  }
  return false;
}

/** Whether two nodes have the same code and lengths. */
function equal(a: usize, b: usize): bool {
  if (Node.codeSum(a) != Node.codeSum(b)) return false;
  if (Node.step(a) != Node.step(b)) return false;
  const padded = Header.padded();
  if (hasHalves()) {
    if (Node.square(a) != Node.square(b)) return false;
    if (Node.norm(a) != Node.norm(b)) return false;
    return isSame(a + N_CODE, b + N_CODE, padded >> 1);
  }
  const fine = Header.fine();
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
  const flags = Node.flags(node);
  const next = Node.next(node);
  const previous = Node.previous(node);
  setPrevious(next, previous);
  if (previous != 0) {
    const before = nodeAt(previous - 1);
    Node.publishNext(before, next);
    mark(before, 64);
  } else if (flags & NODE_ZERO) atomic.store<u32>(H_ZEROS, next);
  freeSlot(node, slot);
}

/** Sets the previous entry of the node `next` (slot + 1, 0 = none). */
function setPrevious(next: u32, previous: u32): void {
  if (next == 0) return;
  Node.setPrevious(nodeAt(next - 1), previous);
  mark(nodeAt(next - 1), 64);
}

/** Adds a slot without references to the list of free slots. Writer only. */
export function freeSlot(node: usize, slot: u32): void {
  Node.setFlags(node, NODE_FREE);
  Node.setNext(node, Header.free());
  Header.setFree(slot + 1);
  mark(node, 64);
}
