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

/** `count` vectors around `clusters` centres; spread 0 makes all vectors of a cluster equal. */
export function clustered(
  count: number,
  dimension: number,
  options: { seed: number; clusters?: number; spread?: number },
): Float64Array[] {
  const gaussian = gaussianFrom(options.seed);
  const random = randomFrom(options.seed + 1);
  const { clusters = 20, spread = 0.5 } = options;
  const centres = Array.from({ length: clusters }, () =>
    Float64Array.from({ length: dimension }, gaussian),
  );
  return Array.from({ length: count }, () => {
    const centre = centres[Math.floor(random() * clusters)]!;
    return centre.map((x) => x + spread * gaussian());
  });
}
