// What the bundler knows and the compiler does not.
declare module 'graphology-layout-forceatlas2/iterate.js' {
  const iterate: (settings: object, nodes: Float32Array, edges: Float32Array) => void;
  export default iterate;
}

declare module 'graphology-layout-forceatlas2/helpers.js' {
  import type Graph from 'graphology';
  export const graphToByteArrays: (
    graph: Graph,
    weightOf: () => number,
  ) => { nodes: Float32Array; edges: Float32Array };
}

/** The file of the layout worker, beside the bundle. */
declare const LAYOUT_WORKER: string;
