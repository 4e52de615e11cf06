// The orders in which candidates for edges are considered. Under l2 and cosine it is the squared distance.
// Under dot, an edge serves two purposes. It leads to near vectors, without which the shorter of nearly equal
// vectors cannot be reached. It also leads to vectors with the greatest inner products, without which no
// search gets from short vectors to long ones. So candidates are taken from both orders alternately; if all
// lengths are equal, the orders are the same. Edges store squared distances in either case.
import { METRIC_DOT } from './layout';
import { Header } from './kernel/header';
import { nodeAt } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';
import { Node } from './kernel/node';

/** Bit of a key whose distance is a negative inner product; no slot has it. */
export const BY_INNER: u32 = 0x80000000;

/** Whether edges of this segment are also chosen by inner product. */
// @ts-ignore: decorator
@inline
export function hasInner(): bool {
  return Header.metric() == METRIC_DOT;
}

/** Returns the slot of a key of either order. */
// @ts-ignore: decorator
@inline
export function slotOfKey(key: u64): u32 {
  return <u32>key & ~BY_INNER;
}

/** Returns the sum of the squared lengths of two nodes. */
// @ts-ignore: decorator
@inline
function squaresOf(a: usize, b: usize): f32 {
  const x = Node.norm(a);
  const y = Node.norm(b);
  return x * x + y * y;
}

/** Returns the negative inner product of two nodes at a squared distance. */
export function innerAt(a: usize, b: usize, squared: f32): f32 {
  return (squared - squaresOf(a, b)) * 0.5;
}

/** Returns the key of a neighbor of `node` with its squared distance. */
export function squaredKey(node: usize, key: u64): u64 {
  if ((<u32>key & BY_INNER) == 0) return key;
  const slot = slotOfKey(key);
  const squared = squaresOf(node, nodeAt(slot)) + 2 * distanceOf(key);
  return keyOf(max<f32>(squared, 0), slot);
}

/** Sorts `count` keys of squared distances from `node` by inner product, into `inner`. */
export function sortByInner(node: usize, keys: usize, count: i32, inner: usize): void {
  for (let i = 0; i < count; i++) {
    const key = load<u64>(keys + ((<usize>i) << 3));
    const slot = <u32>key;
    const distance = innerAt(node, nodeAt(slot), distanceOf(key));
    insertKey(inner, i, i + 1, keyOf(distance, slot | BY_INNER));
  }
}

/**
 * Returns key number `turn` of two lists taken alternately, with the rest of the longer list at the end.
 * There are `nearCount` + `innerCount` keys. Returns 0 for a key that the other order has just given.
 */
// @ts-ignore: decorator
@inline
export function interleavedKey(
  turn: i32, near: usize, nearCount: i32, inner: usize, innerCount: i32,
): u64 {
  const paired = min(nearCount, innerCount) << 1;
  if (turn < paired) {
    const at = (<usize>(turn >> 1)) << 3;
    if ((turn & 1) == 0) return load<u64>(near + at);
    const key = load<u64>(inner + at);
    return slotOfKey(key) == load<u32>(near + at) ? 0 : key;
  }
  const rest = <usize>(turn - (paired >> 1)) << 3;
  return load<u64>((nearCount > innerCount ? near : inner) + rest);
}

/** Whether `slot` is that of one of `count` keys. */
export function hasSlot(keys: usize, count: i32, slot: u32): bool {
  for (let i = 0; i < count; i++) {
    if (slotOfKey(load<u64>(keys + ((<usize>i) << 3))) == slot) return true;
  }
  return false;
}
