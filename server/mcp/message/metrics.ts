// What the protocol counts. Invariant: labels come from fixed sets: methods that are served, and
// names of tools, a bounded number of them.
import { Histogram } from '../../../engine/index.js';
import type { ServerSample } from '../../observe/families.js';
import type { Era } from './era.js';

const toolsMax = 200;

export class McpMetrics {
  readonly #requests = new Map<string, { labels: Record<string, string>; value: number }>();
  readonly #tools = new Map<string, Histogram>();
  #cuts = 0;

  request(method: string, era: Era | 'none', result: 'ok' | 'tool_error' | 'fault'): void {
    const key = `${method} ${era} ${result}`;
    const known = this.#requests.get(key);
    if (known === undefined) this.#requests.set(key, { labels: { method, era, result }, value: 1 });
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
    const requests = [...this.#requests.values()].map(
      ({ labels, value }): ServerSample => ({ name: 'mcp_requests_total', labels, value }),
    );
    const tools = [...this.#tools].flatMap(([tool, seconds]) =>
      seconds.samples('mcp_tool_seconds', { tool }),
    );
    return [...requests, ...tools, { name: 'mcp_cut_total', value: this.#cuts }];
  }
}
