// What the protocol counts. Invariant: labels come from fixed sets: methods that are served, and
// names of tools, a bounded number of them.
import { Histogram } from '../../../engine/index.js';
import type { ServerSample } from '../../observe/families.js';
import type { Era } from './era.js';

const toolsMax = 200;

interface Counted {
  labels: { method: string; era: string; result: string };
  value: number;
}

export class McpMetrics {
  /** By method, era and result: no key is put together for a request. */
  readonly #requests = new Map<string, Map<string, Map<string, Counted>>>();
  readonly #tools = new Map<string, Histogram>();
  #cuts = 0;

  request(method: string, era: Era | 'none', result: 'ok' | 'tool_error' | 'fault'): void {
    const known = this.#requests.get(method)?.get(era)?.get(result);
    if (known !== undefined) known.value++;
    else this.#first(method, era, result);
  }

  #first(method: string, era: string, result: string): void {
    const eras = this.#requests.get(method) ?? new Map<string, Map<string, Counted>>();
    const results = eras.get(era) ?? new Map<string, Counted>();
    results.set(result, { labels: { method, era, result }, value: 1 });
    this.#requests.set(method, eras.set(era, results));
  }

  tool(name: string, seconds: number, isCut: boolean): void {
    if (isCut) this.#cuts++;
    (this.#tools.get(name) ?? this.#newTool(name)).observe(seconds);
  }

  #newTool(name: string): Histogram {
    const label = this.#tools.size >= toolsMax ? 'other' : name;
    const histogram = this.#tools.get(label) ?? new Histogram();
    this.#tools.set(label, histogram);
    return histogram;
  }

  samples(): ServerSample[] {
    const eras = [...this.#requests.values()].flatMap((eras) => [...eras.values()]);
    const counted = eras.flatMap((results) => [...results.values()]);
    const requests = counted.map(({ labels, value }): ServerSample => {
      return { name: 'mcp_requests_total', labels, value };
    });
    const tools = [...this.#tools].flatMap(([tool, seconds]) =>
      seconds.samples('mcp_tool_seconds', { tool }),
    );
    return [...requests, ...tools, { name: 'mcp_cut_total', value: this.#cuts }];
  }
}
