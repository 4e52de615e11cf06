// Seeded random numbers and clustered vectors.

/** Uniform numbers in [0, 1) (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export function gaussianFrom(seed: number): () => number {
  const random = randomFrom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

interface Clustered {
  seed: number;
  clusters?: number;
  /** Distances within a cluster over those between clusters; 0 makes all of a cluster equal. */
  spread?: number;
  /** What vector i is multiplied by, given a normally distributed number. */
  length?: (i: number, normal: number) => number;
}

/** `count` vectors around `clusters` centres. */
export function clustered(count: number, dimension: number, options: Clustered): Float64Array[] {
  const gaussian = gaussianFrom(options.seed);
  const random = randomFrom(options.seed + 1);
  const { clusters = 20, spread = 0.5, length } = options;
  const centres = Array.from({ length: clusters }, () =>
    Float64Array.from({ length: dimension }, gaussian),
  );
  return Array.from({ length: count }, (_, i) => {
    const centre = centres[Math.floor(random() * clusters)]!;
    const vector = centre.map((x) => x + spread * gaussian());
    const factor = length?.(i, gaussian()) ?? 1;
    return factor === 1 ? vector : vector.map((x) => x * factor);
  });
}
