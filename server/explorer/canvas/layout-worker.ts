// The worker that lays a graph out: ForceAtlas2 over plain matrices. A file of its own, because the form
// that its package brings makes a worker out of a text, which the page's policy refuses.
import iterate from 'graphology-layout-forceatlas2/iterate.js';

interface Job {
  settings: object;
  nodes: Float32Array;
  edges: Float32Array;
  rounds: number;
}

addEventListener('message', ({ data }: MessageEvent<Job>) => {
  const { settings, nodes, edges, rounds } = data;
  for (let round = 0; round < rounds; round++) iterate(settings, nodes, edges);
  const transfer = [nodes.buffer, edges.buffer] as ArrayBuffer[];
  postMessage({ nodes, edges }, { transfer });
});
