// Reads the content of an index for `verify`, which compares it with the rows. No thread may change the index
// meanwhile.
import { N_FLAGS, N_ID, NODE_DELETED, NODE_FREE } from '../../wasm/layout.js';
import type { SharedIndex } from './shared-index.js';

/** Returns the ids of all live vectors in the records of the index. */
export function idsIn(index: SharedIndex): number[] {
  const ids: number[] = [];
  for (const segment of index.segments) {
    if (!segment.formatted) continue;
    const words = new Uint32Array(segment.buffer(segment.bytes));
    for (let slot = 0; slot < segment.slots; slot++) {
      const node = segment.kernel.nodeAt(slot) >>> 0;
      const flags = words[(node + N_FLAGS) >>> 2]!;
      if ((flags & (NODE_FREE | NODE_DELETED)) === 0) ids.push(words[(node + N_ID) >>> 2]!);
    }
  }
  return ids;
}

/** Share of the distance to the opposite vector: far above the error of codes and f32. */
const shareMax = 0.01;

/** Whether a number is zero in the 32 bits of the index. */
const isZero = (number: number): boolean => Math.fround(number) === 0;

/**
 * Whether the vector stored under an id equals the given one, as far as the metric can tell. Always true
 * under dot: an inner product does not tell how near a vector is to itself.
 */
export function holdsVector(index: SharedIndex, id: number, vector: Float64Array): boolean {
  if (index.options.metric === 'dot' || vector.every(isZero)) return true;
  const words = new Uint32Array((id >>> 5) + 1);
  words[id >>> 5] = 1 << (id & 31);
  const allow = { words, count: 1 };
  const own = index.search(vector, 1, { allow }).distances[0] ?? Number.POSITIVE_INFINITY;
  const opposite = vector.map((number) => -number);
  const far = index.search(opposite, 1, { allow }).distances[0] ?? 0;
  return own <= shareMax * far;
}
