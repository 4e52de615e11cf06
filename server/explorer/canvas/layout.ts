// Lays a graph out in a worker: positions go there as plain numbers and come back after some rounds, until
// the picture is at rest. Owns the worker. Invariant: what is pinned stays where it is.
import type Graph from 'graphology';
import { inferSettings } from 'graphology-layout-forceatlas2';
import { graphToByteArrays } from 'graphology-layout-forceatlas2/helpers.js';

/** Numbers per node in the worker's matrix: x and y come first, the last but one says it is fixed. */
const perNode = 10;
const fixedAt = 9;
const roundsAtOnce = 4;
const restMs = 3_500;

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
    const weightOf = (): number => 1;
    const { nodes, edges } = graphToByteArrays(graph, weightOf);
    this.#order = graph.nodes();
    for (const [at, id] of this.#order.entries()) {
      if (graph.getNodeAttribute(id, 'fixed')) nodes[at * perNode + fixedAt] = 1;
    }
    const settings = {
      linLogMode: false,
      outboundAttractionDistribution: false,
      adjustSizes: false,
      edgeWeightInfluence: 1,
      scalingRatio: 1,
      strongGravityMode: false,
      gravity: 1,
      slowDown: 1,
      barnesHutOptimize: false,
      barnesHutTheta: 0.5,
      ...inferSettings(graph),
    };
    this.#isWaiting = true;
    this.#worker ??= new Worker(new URL(LAYOUT_WORKER, import.meta.url));
    this.#worker.onmessage = ({ data }: MessageEvent<{ nodes: Float32Array }>) => {
      this.#isWaiting = false;
      this.#take(data.nodes, version);
    };
    const transfer = [nodes.buffer, edges.buffer] as ArrayBuffer[];
    this.#worker.postMessage({ settings, nodes, edges, rounds: roundsAtOnce }, transfer);
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
