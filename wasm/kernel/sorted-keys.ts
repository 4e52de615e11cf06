// Sorted arrays of u64 keys [distance as mapped f32 bits | 32 bits], nearest first: the pool of a search, its
// results, its best k. Distances are mapped so that unsigned order is the order of distances, also below 0.

// @ts-ignore: decorator
@inline
export function keyOf(distance: f32, low: u32): u64 {
  const bits = reinterpret<i32>(distance);
  return ((<u64>(<u32>(bits ^ ((bits >> 31) | 0x80000000)))) << 32) | <u64>low;
}

// @ts-ignore: decorator
@inline
export function distanceOf(key: u64): f32 {
  const bits = <u32>(key >> 32);
  return reinterpret<f32>(bits ^ (bits & 0x80000000 ? 0x80000000 : 0xffffffff));
}

/**
 * Inserts `key` into the `count` sorted keys at `base`, and drops the last key if there are `limit`. The key
 * must then be below the last one. Returns its position.
 */
export function insertKey(base: usize, count: i32, limit: i32, key: u64): i32 {
  let at = base + ((<usize>(count < limit ? count : limit - 1)) << 3);
  // Searches from the end and moves the passed keys, with one mispredicted branch per loop. A binary search
  // first costs more than it saves.
  while (at >= base + 64 && load<u64>(at - 64) > key) {
    at -= 64;
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    v128.store(at, v128.load(at, 48), 56);
    v128.store(at, c, 40);
    v128.store(at, b, 24);
    v128.store(at, a, 8);
  }
  while (at > base) {
    const before = load<u64>(at - 8);
    if (before < key) break;
    store<u64>(at, before);
    at -= 8;
  }
  store<u64>(at, key);
  return <i32>((at - base) >> 3);
}
