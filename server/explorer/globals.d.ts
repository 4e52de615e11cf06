// Declares names that the bundler defines and the compiler does not know.
declare module 'graphology-layout-forceatlas2/iterate.js' {
  const iterate: (settings: object, nodes: Float32Array, edges: Float32Array) => void;
  export default iterate;
}

/** File name of the layout worker, next to the bundle. */
declare const LAYOUT_WORKER: string;

/** File name of the style sheet of all pages except the first, next to the bundle. */
declare const PAGES_STYLE: string;
