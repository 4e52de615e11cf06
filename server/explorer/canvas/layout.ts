// Lays out a graph in a web worker: positions are sent as numbers and come back after some rounds, until they
// converge. Owns the worker.
//
// Invariant: pinned elements do not move.
import type Graph from 'graphology';

/** Numbers per node in the worker's matrix: x and y come first, the last one marks a fixed node. */
const perNode = 10;
const massAt = 6;
const convergenceAt = 7;
const sizeAt = 8;
const fixedAt = 9;
/** Numbers of an edge in the matrix: the offsets of its two nodes, and its weight. */
const perEdge = 3;
/** Milliseconds of layout between two drawings. */
const turnMs = 12;
/** Milliseconds of layout before the first drawing. */
const firstMs = 400;
/**
 * If drawing is slow, rounds take half of its time, so that the number of frames stays the same.
 */
const turnMax = 120;
/** A round that moves elements by less than this share of the graph's extent has converged. */
const restMovement = 2e-4;
/** Milliseconds after which a layout that does not converge is stopped. */
const limitMs = 10_000;

/**
 * The graph as the worker reads it: every edge has the same weight and adds to the mass of its endpoints.
 */
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

/**
 * Settings that the package infers for a graph of this size. Its own file would bundle the layout here as
 * well.
 */
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
  /** Offset of each node in the matrix of the worker. */
  #offsets = new Map<string, number>();
  #until = 0;
  #isWaiting = false;
  #version = 0;
  #sent = 0;
  #isFirst = true;

  constructor(
    private readonly graph: Graph,
    private readonly onRest: () => void,
  ) {}

  get isRunning(): boolean {
    return performance.now() < this.#until;
  }

  /** The worker loads while the graph is still being fetched. */
  prepare(): void {
    this.#worker ??= new Worker(new URL(LAYOUT_WORKER, import.meta.url));
  }

  /** Starts again with the current graph. */
  start(): void {
    if (this.graph.order === 0) return;
    this.#until = performance.now() + limitMs;
    this.#version++;
    if (this.#isWaiting) return;
    this.#send(this.#isFirst ? firstMs : turnMs, this.#isFirst);
    this.#isFirst = false;
  }

  stop(): void {
    this.#until = 0;
  }

  close(): void {
    this.stop();
    this.#worker?.terminate();
    this.#worker = undefined;
  }

  #send(ms: number, mayLeap = false): void {
    const { graph } = this;
    const version = this.#version;
    const { nodes, edges } = matricesOf(graph);
    this.#offsets = new Map(graph.nodes().map((id, at) => [id, at * perNode]));
    const settings = settingsFor(graph.order);
    this.#isWaiting = true;
    this.#sent = performance.now();
    this.prepare();
    this.#worker!.onmessage = ({ data }: MessageEvent<{ nodes: Float32Array; moved: number }>) => {
      this.#isWaiting = false;
      this.#take(data.nodes, data.moved, version);
    };
    const transfer = [nodes.buffer, edges.buffer] as ArrayBuffer[];
    const job = { settings, nodes, edges, ms, rest: restMovement, mayLeap };
    this.#worker!.postMessage(job, transfer);
  }

  #take(nodes: Float32Array, moved: number, version: number): void {
    // If the graph changed meanwhile, the current graph is sent again.
    const isCurrent = version === this.#version;
    if (isCurrent) {
      this.graph.updateEachNodeAttributes(
        (id, attributes) => {
          const at = this.#offsets.get(id);
          if (at === undefined || attributes.fixed) return attributes;
          return Object.assign(attributes, { x: nodes[at], y: nodes[at + 1] });
        },
        { attributes: ['x', 'y'] },
      );
      if (moved < restMovement) this.stop();
    }
    const turn = Math.min(turnMax, (performance.now() - this.#sent) / 2);
    if (this.isRunning && this.#worker !== undefined) this.#send(Math.max(turnMs, turn));
    else this.onRest();
  }
}
