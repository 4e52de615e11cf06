// Selects neighbors by the heuristic of HNSW (Malkov & Yashunin 2018, algorithm 4), relaxed by a factor.
// Candidates come nearest first. A candidate is redundant if a chosen neighbor is so near to it that a search
// would reach it through that neighbor.
import { nodeDistance, refinedDistance } from './scalar-quantizer';
import { nodeAt } from './memory';
import { BY_INNER, innerAt, slotOfKey, squaredKey } from './candidate-order';
import { distanceOf } from './kernel/sorted-keys';
import { Node } from './kernel/node';

/** A chosen s makes c redundant if ALPHA x d(c,s) <= d(c,owner), in squared distances. */
const ALPHA: f32 = 1.1;

/**
 * Appends `key` to the `count` chosen keys of `owner`, as its squared distance, unless one of them makes it
 * redundant. Returns whether it was appended.
 */
export function addIfDiverse(owner: usize, chosen: usize, count: i32, key: u64): bool {
  const node = nodeAt(slotOfKey(key));
  const end = chosen + ((<usize>count) << 3);
  if (<u32>key & BY_INNER) {
    if (isRedundant(owner, node, distanceOf(key), chosen, end)) return false;
    store<u64>(end, squaredKey(owner, key));
    return true;
  }
  const limit = refinedDistance(owner, node, distanceOf(key)) / ALPHA;
  for (let at = chosen; at < end; at += 8) {
    if (nodeDistance(node, nodeAt(<u32>load<u64>(at))) <= limit) return false;
  }
  store<u64>(end, key);
  return true;
}

/** Tests redundancy by inner products: as if all chosen vectors had the lengths of `owner` and `node`. */
function isRedundant(owner: usize, node: usize, distance: f32, chosen: usize, end: usize): bool {
  const largestInner = Node.norm(owner) * Node.norm(node);
  const limit = (distance + largestInner) / ALPHA - largestInner;
  for (let at = chosen; at < end; at += 8) {
    const other = nodeAt(<u32>load<u64>(at));
    if (innerAt(node, other, nodeDistance(node, other)) <= limit) return true;
  }
  return false;
}
