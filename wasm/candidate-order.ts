// The orders in which candidates for edges are asked. Under l2 and cosine it is the squared distance.
// Under dot an edge serves two ends: it leads to what is near, without which the shorter of nearly
// equal vectors are found from nowhere, and to what has the greatest inner products, without which
// no walk comes from short vectors to long ones. So candidates are asked in both orders by turns;
// where all lengths are equal the two are one. Edges carry squared distances, whatever chose them.
import { H_METRIC, METRIC_DOT, N_NORM } from './layout';
import { nodeAt } from './memory';
import { distanceOf, insertKey, keyOf } from './kernel/sorted-keys';

/** Bit of a key whose distance is a negative inner product; no slot has it. */
export const BY_INNER: u32 = 0x80000000;

/** Whether graphs of this segment are asked for inner products. */
// @ts-ignore: decorator
@inline
export function hasInner(): bool {
  return load<u32>(0, H_METRIC) == METRIC_DOT;
}

/** The slot of a key in either order. */
// @ts-ignore: decorator
@inline
export function slotOfKey(key: u64): u32 {
  return <u32>key & ~BY_INNER;
}

/** Squares of the lengths of two nodes, added. */
// @ts-ignore: decorator
@inline
function squaresOf(a: usize, b: usize): f32 {
  const x = load<f32>(a, N_NORM);
  const y = load<f32>(b, N_NORM);
  return x * x + y * y;
}

/** The negative inner product of two nodes at a squared distance. */
export function innerAt(a: usize, b: usize, squared: f32): f32 {
  return (squared - squaresOf(a, b)) * 0.5;
}

/** `key` of a neighbour of `node`, with its squared distance. */
export function squaredKey(node: usize, key: u64): u64 {
  if ((<u32>key & BY_INNER) == 0) return key;
  const slot = slotOfKey(key);
  const squared = squaresOf(node, nodeAt(slot)) + 2 * distanceOf(key);
  return keyOf(max<f32>(squared, 0), slot);
}

/** Sorts `count` keys of squared distances from `node` by inner products, to `inner`. */
export function sortByInner(node: usize, keys: usize, count: i32, inner: usize): void {
  for (let i = 0; i < count; i++) {
    const key = load<u64>(keys + ((<usize>i) << 3));
    const slot = <u32>key;
    const distance = innerAt(node, nodeAt(slot), distanceOf(key));
    insertKey(inner, i, i + 1, keyOf(distance, slot | BY_INNER));
  }
}

/**
 * Key number `turn` of two lists taken by turns, the rest of the longer one at the end. There are
 * `nearCount` + `innerCount` of them; 0 where it is the one just asked for, by the other order.
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
export function isAmong(keys: usize, count: i32, slot: u32): bool {
  for (let i = 0; i < count; i++) {
    if (slotOfKey(load<u64>(keys + ((<usize>i) << 3))) == slot) return true;
  }
  return false;
}
