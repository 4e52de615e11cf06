// The neighbour choice of HNSW (Malkov & Yashunin 2018, algorithm 4), relaxed: candidates come
// nearest first, and one is redundant when a kept one is so near to it that the walk would come
// by there anyway.
import { nodeDistance, sharpened } from './code';
import { H_METRIC, METRIC_DOT, N_NORM } from './layout';
import { nodeAt } from './memory';
import { distanceOf } from './kernel/pool';

/** A kept s makes c redundant when ALPHA x d(c,s) <= d(c,owner), in squared distances. */
const ALPHA: f32 = 1.1;

/**
 * The distance from `node` within which one that is kept makes it redundant. By inner products it is
 * what the squared distance of directions would be.
 */
function redundantWithin(owner: usize, node: usize, distance: f32): f32 {
  if (load<u32>(0, H_METRIC) != METRIC_DOT) return distance / ALPHA;
  const most = load<f32>(owner, N_NORM) * load<f32>(node, N_NORM);
  return (distance + most) / ALPHA - most;
}

/** Appends `key` to the `count` kept keys of `owner` when none of them makes it redundant. */
export function addKept(owner: usize, kept: usize, count: i32, key: u64): bool {
  const node = nodeAt(<u32>key);
  const limit = redundantWithin(owner, node, sharpened(owner, node, distanceOf(key)));
  const end = kept + ((<usize>count) << 3);
  for (let at = kept; at < end; at += 8) {
    if (nodeDistance(node, nodeAt(<u32>load<u64>(at))) <= limit) return false;
  }
  store<u64>(end, key);
  return true;
}
