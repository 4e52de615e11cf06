// Sorted arrays of u64 keys [distance as f32 bits | 32 bits], nearest first: the pool of a walk,
// its results, its answer. Distances are made non-negative or mapped, so that unsigned order is
// distance order.

/** Key of a distance >= 0. */
// @ts-ignore: decorator
@inline
export function keyOf(distance: f32, low: u32): u64 {
  return ((<u64>reinterpret<u32>(max<f32>(distance, 0))) << 32) | <u64>low;
}

/** Key of any finite distance. */
// @ts-ignore: decorator
@inline
export function signedKeyOf(distance: f32, low: u32): u64 {
  const bits = reinterpret<i32>(distance);
  return ((<u64>(<u32>(bits ^ ((bits >> 31) | 0x80000000)))) << 32) | <u64>low;
}

// @ts-ignore: decorator
@inline
export function distanceOf(key: u64): f32 {
  return reinterpret<f32>(<u32>(key >> 32));
}

// @ts-ignore: decorator
@inline
export function signedDistanceOf(key: u64): f32 {
  const bits = <u32>(key >> 32);
  return reinterpret<f32>(bits ^ (bits & 0x80000000 ? 0x80000000 : 0xffffffff));
}

/**
 * Inserts `key` into the `count` sorted keys at `base`, dropping the last when they are `limit`.
 * The key must be below the last one then. Returns the position.
 */
export function insertKey(base: usize, count: i32, limit: i32, key: u64): i32 {
  // Halving without branches on the data: the position is as good as random, a branch on it would
  // be mispredicted every other time.
  let place = base;
  let length = count;
  while (length > 1) {
    const half = length >>> 1;
    const below = load<u64>(place + ((<usize>(half - 1)) << 3)) < key;
    place += (<usize>half << 3) & (0 - <usize>below);
    length -= half;
  }
  if (length > 0) place += <usize>(load<u64>(place) < key) << 3;
  let at = base + ((<usize>(count < limit ? count : limit - 1)) << 3);
  while (at >= place + 32) {
    at -= 32;
    const low = v128.load(at);
    v128.store(at, v128.load(at, 16), 24);
    v128.store(at, low, 8);
  }
  while (at >= place + 16) {
    at -= 16;
    v128.store(at, v128.load(at), 8);
  }
  if (at > place) store<u64>(place, load<u64>(place), 8);
  store<u64>(place, key);
  return <i32>((place - base) >> 3);
}
