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
  /** By method, then by era and result: no key is put together for a request. */
  readonly #requests = new Map<string, Map<string, Counted[]>>();
  readonly #tools = new Map<string, Histogram>();
  #cuts = 0;

  request(method: string, era: Era | 'none', result: 'ok' | 'tool_error' | 'fault'): void {
    let counted = this.#requests.get(method)?.get(era);
    if (counted === undefined) {
      const eras = this.#requests.get(method) ?? new Map<string, Counted[]>();
      counted = [];
      this.#requests.set(method, eras.set(era, counted));
    }
    const known = counted.find((one) => one.labels.result === result);
    if (known === undefined) counted.push({ labels: { method, era, result }, value: 1 });
    else known.value++;
  }

  tool(name: string, seconds: number, isCut: boolean): void {
    if (isCut) this.#cuts++;
    const known = this.#tools.get(name);
    const label = known === undefined && this.#tools.size >= toolsMax ? 'other' : name;
    const histogram = known ?? this.#tools.get(label) ?? new Histogram();
    this.#tools.set(label, histogram);
    histogram.observe(seconds);
  }

  samples(): ServerSample[] {
    const counted = [...this.#requests.values()].flatMap((eras) => [...eras.values()].flat());
    const requests = counted.map(({ labels, value }): ServerSample => {
      return { name: 'mcp_requests_total', labels, value };
    });
    const tools = [...this.#tools].flatMap(([tool, seconds]) =>
      seconds.samples('mcp_tool_seconds', { tool }),
    );
    return [...requests, ...tools, { name: 'mcp_cut_total', value: this.#cuts }];
  }
}
