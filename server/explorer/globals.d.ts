// What the bundler knows and the compiler does not.
declare module 'graphology-layout-forceatlas2/iterate.js' {
  const iterate: (settings: object, nodes: Float32Array, edges: Float32Array) => void;
  export default iterate;
}

/** The file of the layout worker, beside the bundle. */
declare const LAYOUT_WORKER: string;

/** The style of all pages but the first, beside the bundle. */
declare const PAGES_STYLE: string;
