// Computes the mean (centroid) when a graph begins, from the vectors staged so far; it never changes
// afterwards. Any origin is correct, but codes are most accurate near it.
import { NODE_FREE } from './layout';
import { Header } from './kernel/header';
import { mark, nodeAt, vectorAt } from './memory';
import { Node } from './kernel/node';

/**
 * Sets the mean of all staged vectors, each divided by its length (a step towards their geometric median).
 * Otherwise a few very long vectors would move it far from all others.
 */
export function beginGraph(): void {
  const slots = Header.slots();
  const mean = Header.mean();
  const bytes = Header.padded() << 2;
  for (let at: usize = 0; at < bytes; at += 4) store<f32>(mean + at, 0);
  let weights: f64 = 0;
  for (let slot: u32 = 0; slot < slots; slot++) {
    const norm = lengthOf(slot);
    if (norm > 0) weights += 1 / <f64>norm;
  }
  for (let slot: u32 = 0; slot < slots; slot++) {
    const norm = lengthOf(slot);
    if (norm == 0) continue;
    const share = f32x4.splat(<f32>(1 / (<f64>norm * weights)));
    const vector = vectorAt(nodeAt(slot), slot);
    for (let at: usize = 0; at < bytes; at += 16) {
      const part = f32x4.mul(share, v128.load(vector + at));
      v128.store(mean + at, f32x4.add(v128.load(mean + at), part));
    }
  }
  mark(mean, bytes);
}

/** Returns the length of a staged vector; 0 for a free slot. */
function lengthOf(slot: u32): f32 {
  const node = nodeAt(slot);
  return Node.flags(node) & NODE_FREE ? 0 : Node.norm(node);
}
