// The neighbour choice of HNSW (Malkov & Yashunin 2018, algorithm 4), relaxed: candidates come
// nearest first, and one is redundant when a kept one is so near to it that the walk would come
// by there anyway.
import { nodeDistance, refinedDistance } from './scalar-quantizer';
import { N_NORM } from './layout';
import { nodeAt } from './memory';
import { BY_INNER, innerAt, slotOfKey, squaredKey } from './candidate-order';
import { distanceOf } from './kernel/sorted-keys';

/** A kept s makes c redundant when ALPHA x d(c,s) <= d(c,owner), in squared distances. */
const ALPHA: f32 = 1.1;

/**
 * Appends `key` to the `count` kept keys of `owner`, as its squared distance, when none of them makes
 * it redundant.
 */
export function addIfDiverse(owner: usize, kept: usize, count: i32, key: u64): bool {
  const node = nodeAt(slotOfKey(key));
  const end = kept + ((<usize>count) << 3);
  if (<u32>key & BY_INNER) {
    if (isRedundant(owner, node, distanceOf(key), kept, end)) return false;
    store<u64>(end, squaredKey(owner, key));
    return true;
  }
  const limit = refinedDistance(owner, node, distanceOf(key)) / ALPHA;
  for (let at = kept; at < end; at += 8) {
    if (nodeDistance(node, nodeAt(<u32>load<u64>(at))) <= limit) return false;
  }
  store<u64>(end, key);
  return true;
}

/**
 * The same by inner products: whether a kept one has as great a one with `node` as would make it
 * redundant were all of them as long as `owner` and `node` are.
 */
function isRedundant(owner: usize, node: usize, distance: f32, kept: usize, end: usize): bool {
  const most = load<f32>(owner, N_NORM) * load<f32>(node, N_NORM);
  const limit = (distance + most) / ALPHA - most;
  for (let at = kept; at < end; at += 8) {
    const other = nodeAt(<u32>load<u64>(at));
    if (innerAt(node, other, nodeDistance(node, other)) <= limit) return true;
  }
  return false;
}
