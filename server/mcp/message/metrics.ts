// The metrics of the protocol. Invariant: labels come from fixed sets: the methods of the server, and a
// bounded number of tool names.
import { Histogram } from '../../../engine/internal.js';
import type { ServerSample } from '../../telemetry/metric-definitions.js';
import type { ThreadMetrics, RouteFigures } from '../../telemetry/thread-metrics.js';
import type { ProtocolStyle } from './protocol-version.js';

/** Maximum number of tools with separate counters. */
export const toolsMax = 200;

/** Label under which another thread counts a call. Names of tools contain no space. */
export const toolLabel = (era: ProtocolStyle, tool: string): string => `${era} ${tool}`;

interface Counted {
  /** `era` is the former name of `protocol`. It ends with the next major version. */
  labels: { method: string; era: string; protocol: string; result: string };
  value: number;
}

export class McpMetrics {
  /** Counters by method, protocol style and result, so that no key is built for a request. */
  readonly #requests = new Map<string, Map<string, Map<string, Counted>>>();
  readonly #tools = new Map<string, Histogram>();
  /** Calls that other threads answered, by protocol style and tool (`toolLabel`). */
  readonly #others = new Set<ThreadMetrics>();
  #cuts = 0;

  request(
    method: string,
    era: ProtocolStyle | 'none',
    result: 'ok' | 'tool_error' | 'fault',
  ): void {
    this.#count(method, era, result, 1);
  }

  #count(method: string, era: string, result: string, by: number): void {
    const known = this.#requests.get(method)?.get(era)?.get(result);
    if (known !== undefined) known.value += by;
    else this.#first(method, era, result, by);
  }

  #first(method: string, era: string, result: string, value: number): void {
    const eras = this.#requests.get(method) ?? new Map<string, Map<string, Counted>>();
    const results = eras.get(era) ?? new Map<string, Counted>();
    results.set(result, { labels: { method, era, protocol: era, result }, value });
    this.#requests.set(method, eras.set(era, results));
  }

  tool(name: string, seconds: number, isCut: boolean): void {
    if (isCut) this.#cuts++;
    this.#toolOf(name).observe(seconds);
  }

  #toolOf(name: string): Histogram {
    return this.#tools.get(name) ?? this.#newTool(name);
  }

  /** Adds the counters of another thread. */
  follow(other: ThreadMetrics): void {
    this.#others.add(other);
  }

  /** Stops counting another thread. Its numbers so far stay. */
  unfollow(other: ThreadMetrics): void {
    if (!this.#others.delete(other)) return;
    for (const [label, figures] of other.answered()) this.#take(label, figures);
  }

  #take(label: string, { seconds }: RouteFigures): void {
    const [era, tool] = label.split(' ') as [ProtocolStyle, string];
    this.#count('tools/call', era, 'ok', seconds.count);
    this.#toolOf(tool).add(seconds);
  }

  #sum(): McpMetrics {
    if (this.#others.size === 0) return this;
    const sum = new McpMetrics();
    for (const [method, eras] of this.#requests) {
      for (const [era, results] of eras) {
        for (const [result, { value }] of results) sum.#count(method, era, result, value);
      }
    }
    for (const [name, seconds] of this.#tools) sum.#toolOf(name).add(seconds);
    sum.#cuts = this.#cuts;
    for (const other of this.#others) {
      for (const [label, figures] of other.answered()) sum.#take(label, figures);
    }
    return sum;
  }

  #newTool(name: string): Histogram {
    const label = this.#tools.size >= toolsMax ? 'other' : name;
    const histogram = this.#tools.get(label) ?? new Histogram();
    this.#tools.set(label, histogram);
    return histogram;
  }

  samples(): ServerSample[] {
    return this.#sum().#samples();
  }

  #samples(): ServerSample[] {
    const eras = [...this.#requests.values()].flatMap((eras) => [...eras.values()]);
    const counted = eras.flatMap((results) => [...results.values()]);
    const requests = counted.map(({ labels, value }): ServerSample => {
      return { name: 'mcp_requests_total', labels, value };
    });
    const tools = [...this.#tools].flatMap(([tool, seconds]) =>
      seconds.samples('mcp_tool_seconds', { tool }),
    );
    return [...requests, ...tools, { name: 'mcp_results_truncated_total', value: this.#cuts }];
  }
}
