// Lays a graph out in a worker: positions go there as plain numbers and come back after some rounds, until
// the picture is at rest. Owns the worker. Invariant: what is pinned stays where it is.
import type Graph from 'graphology';

/** Numbers per node in the worker's matrix: x and y come first, the last says that it is fixed. */
const perNode = 10;
const massAt = 6;
const convergenceAt = 7;
const sizeAt = 8;
const fixedAt = 9;
/** Of an edge: where its two nodes begin, and its weight. */
const perEdge = 3;
/** Rounds of a small graph are short: as many as fit come to sight at once. */
const turnMs = 12;
const restMs = 3_500;

/** The graph as the worker reads it: every edge weighs the same, and makes both its ends heavier. */
function matricesOf(graph: Graph): { nodes: Float32Array; edges: Float32Array } {
  const nodes = new Float32Array(graph.order * perNode);
  const edges = new Float32Array(graph.size * perEdge);
  const starts = new Map<string, number>();
  graph.forEachNode((id, { x, y, size, fixed }) => {
    const at = starts.size * perNode;
    starts.set(id, at);
    nodes[at] = x as number;
    nodes[at + 1] = y as number;
    nodes[at + massAt] = 1;
    nodes[at + convergenceAt] = 1;
    nodes[at + sizeAt] = (size as number | undefined) || 1;
    nodes[at + fixedAt] = fixed ? 1 : 0;
  });
  let at = 0;
  graph.forEachEdge((_id, _attributes, source, target) => {
    const [from, to] = [starts.get(source)!, starts.get(target)!];
    nodes[from + massAt]! += 1;
    nodes[to + massAt]! += 1;
    edges.set([from, to, 1], at);
    at += perEdge;
  });
  return { nodes, edges };
}

/** What the package infers for a graph of this order. Its own file would bring the layout here, too. */
const settingsFor = (order: number) => ({
  linLogMode: false,
  outboundAttractionDistribution: false,
  adjustSizes: false,
  edgeWeightInfluence: 1,
  scalingRatio: 10,
  strongGravityMode: true,
  gravity: 0.05,
  slowDown: 1 + Math.log(order),
  barnesHutOptimize: order > 2000,
  barnesHutTheta: 0.5,
});

export class Layout {
  #worker: Worker | undefined;
  #order: string[] = [];
  #until = 0;
  #isWaiting = false;
  #version = 0;

  constructor(
    private readonly graph: Graph,
    private readonly onRest: () => void,
  ) {}

  get isRunning(): boolean {
    return performance.now() < this.#until;
  }

  /** Begins anew with the graph as it is now; `ms`: the least time to go on. */
  start(ms = restMs): void {
    if (this.graph.order === 0) return;
    this.#until = performance.now() + ms;
    this.#version++;
    if (!this.#isWaiting) this.#send();
  }

  stop(): void {
    this.#until = 0;
  }

  close(): void {
    this.stop();
    this.#worker?.terminate();
    this.#worker = undefined;
  }

  #send(): void {
    const { graph } = this;
    const version = this.#version;
    const { nodes, edges } = matricesOf(graph);
    this.#order = graph.nodes();
    const settings = settingsFor(graph.order);
    this.#isWaiting = true;
    this.#worker ??= new Worker(new URL(LAYOUT_WORKER, import.meta.url));
    this.#worker.onmessage = ({ data }: MessageEvent<{ nodes: Float32Array }>) => {
      this.#isWaiting = false;
      this.#take(data.nodes, version);
    };
    const transfer = [nodes.buffer, edges.buffer] as ArrayBuffer[];
    this.#worker.postMessage({ settings, nodes, edges, ms: turnMs }, transfer);
  }

  #take(nodes: Float32Array, version: number): void {
    const { graph } = this;
    // A graph that has changed meanwhile is sent again as it is.
    if (version === this.#version) {
      graph.updateEachNodeAttributes(
        (id, attributes) => {
          const at = this.#places.get(id);
          if (at === undefined || attributes.fixed) return attributes;
          return { ...attributes, x: nodes[at * perNode]!, y: nodes[at * perNode + 1]! };
        },
        { attributes: ['x', 'y'] },
      );
    }
    if (this.isRunning && this.#worker !== undefined) this.#send();
    else this.onRest();
  }

  get #places(): Map<string, number> {
    return new Map(this.#order.map((id, at) => [id, at]));
  }
}
