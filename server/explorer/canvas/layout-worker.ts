// Web worker that runs the ForceAtlas2 layout on plain matrices. It is a separate file: the worker of the
// package is created from a string, which the content security policy of the page forbids.
import iterate from 'graphology-layout-forceatlas2/iterate.js';

interface Job {
  settings: { slowDown: number };
  nodes: Float32Array;
  edges: Float32Array;
  /** Milliseconds to compute before the positions are returned, unless the layout has converged earlier. */
  ms: number;
  /** Movement in a round below which the layout has converged. */
  rest: number;
  /** Whether elements may jump in these rounds, which are not drawn, to converge faster. */
  mayLeap: boolean;
}

/** Numbers per node in the matrix: x and y come first. */
const perNode = 10;
/**
 * Number of rounds over which movement is measured: an oscillating element has hardly moved over all of them.
 */
const rowOfRounds = 16;
/**
 * The fast phase ends when a series of rounds no longer moves less than this share of the series before:
 * the elements only oscillate then.
 */
const settling = 0.9;

addEventListener('message', ({ data }: MessageEvent<Job>) => {
  const { settings, nodes, edges, ms, rest, mayLeap } = data;
  const started = performance.now();
  const before = new Float32Array(nodes.length);
  const leaps = { ...settings, slowDown: 1 };
  let isLeaping = mayLeap;
  let moved = Number.POSITIVE_INFINITY;
  do {
    const last = moved;
    before.set(nodes);
    let rounds = 0;
    do {
      iterate(isLeaping ? leaps : settings, nodes, edges);
      rounds++;
    } while (rounds < rowOfRounds && performance.now() - started < ms);
    moved = movement(before, nodes) / rounds;
    isLeaping &&= moved <= last * settling;
  } while (moved >= rest && performance.now() - started < ms);
  const transfer = [nodes.buffer, edges.buffer] as ArrayBuffer[];
  postMessage({ nodes, moved }, { transfer });
});

/**
 * Returns the average movement of the elements, as a share of their distance from the common center.
 */
function movement(before: Float32Array, after: Float32Array): number {
  let [moved, distance] = [0, 0];
  for (let at = 0; at < after.length; at += perNode) {
    const [x, y] = [after[at]!, after[at + 1]!];
    moved += Math.hypot(x - before[at]!, y - before[at + 1]!);
    distance += Math.hypot(x, y);
  }
  return distance === 0 ? 0 : moved / distance;
}
