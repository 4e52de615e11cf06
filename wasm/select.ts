// The neighbour choice of HNSW (Malkov & Yashunin 2018, algorithm 4), relaxed: candidates come
// nearest first, and one is redundant when a kept one is so near to it that the walk would come
// by there anyway.
import { nodeDistance } from './code';
import { nodeAt } from './memory';
import { distanceOf } from './pool';

/** A kept s makes c redundant when ALPHA x d(c,s) <= d(c,owner), in squared distances. */
const ALPHA: f32 = 1.1;

/** Appends `key` to the `count` kept keys when none of them makes it redundant. */
export function addKept(kept: usize, count: i32, key: u64): bool {
  const node = nodeAt(<u32>key);
  const distance = distanceOf(key);
  const end = kept + ((<usize>count) << 3);
  for (let at = kept; at < end; at += 8) {
    if (ALPHA * nodeDistance(node, nodeAt(<u32>load<u64>(at))) <= distance) return false;
  }
  store<u64>(end, key);
  return true;
}
