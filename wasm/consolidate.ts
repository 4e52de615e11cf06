// Maintenance in small steps, on the writer thread between its commits. Removes deleted nodes from the graph
// and frees their slots (consolidation of deletes, as in FreshDiskANN, Singh et al. 2021), and repairs nodes
// without in-links. A pass consists of sweeps over all slots.
import { freeSlot } from './duplicates';
import { centredOf, nodeDistance } from './scalar-quantizer';
import {
  edgeDistance, entrySlot, entryTerms, offerEntry, writeEdge, writeEntry,
} from './edge';
import {
  EDGES, ENTRY_BLOCKS, ENTRY_PARTS, H_DELETED, NODE_DELETED, NODE_UNLINKING, NODE_FREE,
  NODE_LINKED, NODE_DUPLICATE, NODE_ZERO, PHASE_RESET, PHASE_SWEEP, STATE_GRAPH,
} from './layout';
import { Header } from './kernel/header';
import { Scratch } from './kernel/scratch-fields';
import { TARGET, addReverseEdge } from './insert';
import { lockNode, mark, nodeAt, unlockNode } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import {
  hasInner, hasSlot, interleavedKey, slotOfKey, sortByInner, squaredKey,
} from './candidate-order';
import { linkStaged } from './segment';
import { addIfDiverse } from './select-neighbours';
import { INNER_AT } from './dual-order-search';
import { Node } from './kernel/node';
import { SHORT_INFINITY } from './kernel/short-float';

const IDLE = 0;
const MARK = 1;
const REWIRE = 2;
const SWEEP = PHASE_SWEEP;
const RESET = PHASE_RESET;
const COUNT = 5;
const REPAIR = 6;

/** Deleted nodes are removed when one node in this many is deleted. */
const DELETED_SHARE = 32;
/** In-links are counted again after this many new nodes, and after an eighth of all. */
const UNREPAIRED_MIN: u32 = 256;
/** Number of candidates for replacing removed edges. */
const CANDIDATES = 256;

/** Processes about `budget` slots; returns true if more is to do. Writer only. */
export function maintain(scratch: usize, budget: u32): bool {
  if (Header.state() != STATE_GRAPH) {
    return Header.linked() != 0 && linkStaged(scratch, 1);
  }
  let phase = Header.phase();
  if (phase == IDLE) {
    phase = choosePhase();
    if (phase == IDLE) return false;
    Header.setCursor(0);
  }
  const slots = Header.slots();
  let slot = Header.cursor();
  const end = min<u32>(slots, slot + budget);
  // From here on, linked nodes count as new again.
  if (phase == RESET && slot == 0) Header.setUnrepaired(0);
  for (; slot < end; slot++) visit(scratch, phase, slot);
  if (slot >= slots) {
    if (phase == REWIRE) replaceEntries(scratch);
    phase = phase == REPAIR ? IDLE : phase + 1;
    slot = 0;
  }
  Header.setPhase(phase);
  Header.setCursor(slot);
  return phase != IDLE || choosePhase() != IDLE;
}

function choosePhase(): u32 {
  const slots = Header.slots();
  if (Header.deleted() * DELETED_SHARE > slots) return MARK;
  const fresh = Header.unrepaired();
  return fresh < UNREPAIRED_MIN || fresh < slots >> 3 ? IDLE : RESET;
}

function visit(scratch: usize, phase: u32, slot: u32): void {
  const node = nodeAt(slot);
  const flags = Node.flags(node);
  if ((flags & NODE_LINKED) == 0 || (flags & (NODE_FREE | NODE_DUPLICATE | NODE_ZERO)) != 0) return;
  if (phase == MARK) {
    // A deleted node with duplicates stays, because it connects them to the graph.
    if ((flags & NODE_DELETED) != 0 && Node.next(node) == 0) {
      Node.addFlags(node, NODE_UNLINKING);
      mark(node, 64);
    }
  } else if (phase == REWIRE) {
    if ((flags & NODE_UNLINKING) == 0) rewire(scratch, node, slot);
  } else if (phase == SWEEP) {
    if ((flags & NODE_UNLINKING) != 0) {
      freeSlot(node, slot);
      atomic.sub<u32>(H_DELETED, 1);
    } else if (hasInner()) {
      const centred = Scratch.centred(scratch);
      centredOf(node, centred);
      offerEntry(centred, slot);
    }
  } else if (phase == RESET) {
    Node.setDegree(node, 0);
  } else if (phase == COUNT) {
    countLinks(node);
  } else if (phase == REPAIR && Node.degree(node) == 0) {
    reconnectOrphan(scratch, node, slot);
  }
}

/** Returns the mask of the edges of `node` that lead to nodes being unlinked. */
function edgesToUnlinking(node: usize): u32 {
  const neighbours = node + Header.neighbour();
  let mask = Node.used(node);
  let stale: u32 = 0;
  while (mask != 0) {
    const e = ctz(mask);
    mask &= mask - 1;
    const target = nodeAt(load<u32>(neighbours + ((<usize>e) << 2)));
    if (Node.flags(target) & NODE_UNLINKING) stale |= 1 << e;
  }
  return stale;
}

/** Replaces edges to nodes being unlinked by edges to those nodes' own neighbors. */
function rewire(scratch: usize, node: usize, slot: u32): void {
  let stale = edgesToUnlinking(node);
  if (stale == 0) return;
  lockNode(node);
  const count = gather(scratch, node, slot, stale);
  const chosenKeys = Scratch.chosen(scratch);
  const neighbours = node + Header.neighbour();
  let chosenCount = 0;
  let hard = Node.hard(node) & ~stale;
  while (hard != 0) {
    const e = ctz(hard);
    hard &= hard - 1;
    const key = keyOf(edgeDistance(node, e), load<u32>(neighbours + ((<usize>e) << 2)));
    store<u64>(chosenKeys + ((<usize>chosenCount) << 3), key);
    chosenCount++;
  }
  // Diverse choices among all candidates come first: the nearest alone would all lie on one side.
  const results = Scratch.result(scratch);
  const inner = results + INNER_AT;
  const innerCount = hasInner() ? count : 0;
  sortByInner(node, results, innerCount, inner);
  const before = chosenCount;
  for (let i = 0; i < count + innerCount && stale != 0 && chosenCount < TARGET; i++) {
    const key = interleavedKey(i, results, count, inner, innerCount);
    if (key == 0 || hasSlot(chosenKeys, chosenCount, slotOfKey(key))) continue;
    if (!addIfDiverse(node, chosenKeys, chosenCount, key)) continue;
    stale = replaceEdge(node, stale, load<u64>(chosenKeys + ((<usize>chosenCount) << 3)), true);
    chosenCount++;
  }
  const chosen = chosenKeys + ((<usize>before) << 3);
  const rest = innerCount != 0 ? inner : results;
  for (let i = 0; i < count && stale != 0; i++) {
    const key = load<u64>(rest + ((<usize>i) << 3));
    if (hasSlot(chosen, chosenCount - before, slotOfKey(key))) continue;
    stale = replaceEdge(node, stale, squaredKey(node, key), false);
  }
  // An edge without a replacement still leads to a node being unlinked: it is marked unused and infinitely
  // far.
  while (stale != 0) {
    closeEdge(node, ctz(stale));
    stale &= stale - 1;
  }
  mark(node, Header.edgesEnd());
  unlockNode(node);
}

/** Writes an edge over the first of `stale`; returns the others. */
function replaceEdge(node: usize, stale: u32, key: u64, hard: bool): u32 {
  writeEdge(node, ctz(stale), <u32>key, distanceOf(key), hard);
  return stale & (stale - 1);
}

/**
 * Collects the neighbors of the neighbors in `stale` that are not neighbors yet, nearest first; returns
 * their number.
 */
function gather(scratch: usize, node: usize, slot: u32, stale: u32): i32 {
  const offset = Header.neighbour();
  const results = Scratch.result(scratch);
  let count = 0;
  while (stale != 0) {
    const removed = nodeAt(load<u32>(node + offset + ((<usize>ctz(stale)) << 2)));
    stale &= stale - 1;
    let mask = Node.used(removed);
    while (mask != 0) {
      const candidate = load<u32>(removed + offset + ((<usize>ctz(mask)) << 2));
      mask &= mask - 1;
      const far = nodeAt(candidate);
      const flags = Node.flags(far);
      if (candidate == slot || (flags & (NODE_UNLINKING | NODE_FREE)) != 0) continue;
      if (isListed(node + offset, candidate) || isResult(results, count, candidate)) continue;
      const key = keyOf(nodeDistance(node, far), candidate);
      if (count == CANDIDATES && key >= load<u64>(results + ((CANDIDATES - 1) << 3))) continue;
      insertKey(results, count, CANDIDATES, key);
      if (count < CANDIDATES) count++;
    }
  }
  return count;
}

function isListed(neighbours: usize, slot: u32): bool {
  for (let e: usize = 0; e < <usize>EDGES; e++) {
    if (load<u32>(neighbours + (e << 2)) == slot) return true;
  }
  return false;
}

function isResult(results: usize, count: i32, slot: u32): bool {
  for (let i = 0; i < count; i++) {
    if (<u32>load<u64>(results + ((<usize>i) << 3)) == slot) return true;
  }
  return false;
}

/** Marks an edge as unused. */
function closeEdge(node: usize, e: u32): void {
  const add = Header.add();
  if (add != 0) atomic.store<u16>(node + add + ((<usize>e) << 1), SHORT_INFINITY);
  const bit: u32 = 1 << e;
  Node.setHard(node, Node.hard(node) & ~bit);
  Node.publishUsed(node, Node.used(node) & ~bit);
}

/** Gives the entry table's entries of nodes being unlinked to other nodes. */
function replaceEntries(scratch: usize): void {
  const slots = Header.slots();
  let next: u32 = 0;
  for (let position: u32 = 0; position < <u32>(ENTRY_BLOCKS * EDGES); position++) {
    const add = entryTerms(position);
    if (load<u16>(add) == SHORT_INFINITY) continue;
    const at = entrySlot(position);
    if ((Node.flags(nodeAt(load<u32>(at))) & (NODE_UNLINKING | NODE_FREE)) == 0) continue;
    // Under dot no node can replace it: the sweep offers the entry to all nodes.
    const first = <u32>((<u64>(position * 0x9e3779b1) * slots) >> 32);
    next = hasInner() ? slots : nextLiving(first, slots);
    if (next == slots) {
      atomic.store<u16>(add, SHORT_INFINITY);
      mark(add, 2);
      continue;
    }
    centredOf(nodeAt(next), <u32>Scratch.centred(scratch));
    writeEntry(position, <u32>Scratch.centred(scratch), next);
  }
}

/** Returns the first live graph node from `from` on, cyclically; `slots` if there is none. */
function nextLiving(from: u32, slots: u32): u32 {
  for (let i: u32 = 0; i < slots; i++) {
    const slot = (from + i) % slots;
    const flags = Node.flags(nodeAt(slot));
    const bad = NODE_UNLINKING | NODE_FREE | NODE_DUPLICATE | NODE_ZERO;
    if ((flags & NODE_LINKED) != 0 && (flags & bad) == 0) return slot;
  }
  return slots;
}

function countLinks(node: usize): void {
  const neighbours = node + Header.neighbour();
  let mask = Node.used(node);
  while (mask != 0) {
    const target = nodeAt(load<u32>(neighbours + ((<usize>ctz(mask)) << 2)));
    mask &= mask - 1;
    Node.setDegree(target, Node.degree(target) + 1);
  }
}

/** Makes the nearest neighbor with a free edge link to `node`; if none has one, the nearest. */
function reconnectOrphan(scratch: usize, node: usize, slot: u32): void {
  const neighbours = node + Header.neighbour();
  let best: u32 = EDGES;
  let nearest: u32 = EDGES;
  let bestDistance: f32 = Infinity;
  let smallest: f32 = Infinity;
  let mask = Node.used(node);
  while (mask != 0) {
    const e = ctz(mask);
    mask &= mask - 1;
    const distance = edgeDistance(node, e);
    if (nearest == EDGES || distance < smallest) {
      nearest = e;
      smallest = distance;
    }
    const target = nodeAt(load<u32>(neighbours + ((<usize>e) << 2)));
    if (Node.hard(target) == 0xffffffff) continue;
    if (best == EDGES || distance < bestDistance) {
      best = e;
      bestDistance = distance;
    }
  }
  if (best == EDGES) {
    best = nearest;
    bestDistance = smallest;
  }
  if (best == EDGES) return;
  addReverseEdge(scratch, load<u32>(neighbours + ((<usize>best) << 2)), slot, bestDistance, true);
}
