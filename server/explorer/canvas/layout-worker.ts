// The worker that lays a graph out: ForceAtlas2 over plain matrices. A file of its own, because the form
// that its package brings makes a worker out of a text, which the page's policy refuses.
import iterate from 'graphology-layout-forceatlas2/iterate.js';

interface Job {
  settings: object;
  nodes: Float32Array;
  edges: Float32Array;
  /** How long to go on before what there is is shown. */
  ms: number;
}

addEventListener('message', ({ data }: MessageEvent<Job>) => {
  const { settings, nodes, edges, ms } = data;
  const started = performance.now();
  do iterate(settings, nodes, edges);
  while (performance.now() - started < ms);
  const transfer = [nodes.buffer, edges.buffer] as ArrayBuffer[];
  postMessage({ nodes, edges }, { transfer });
});
