// Counters and histograms, and their Prometheus text form 0.0.4 (operations.md 9.2). Names carry
// the prefix `trellis_`. Invariant: label values come from fixed sets (routes, codes, limits,
// defined queries), never from a request.

import { Histogram } from '../../engine/index.js';

type Labels = Record<string, string>;

export interface Sample {
  name: string;
  labels?: Labels;
  value: number;
}

/** What one route has answered. */
export class RouteMetrics {
  readonly seconds = new Histogram();
  readonly #statuses = new Map<string, number>();
  bytesIn = 0;
  bytesOut = 0;

  constructor(readonly label: string) {}

  /** `status` is a status line text, `200 OK`. */
  record(status: string, seconds: number, bytesIn: number, bytesOut: number): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    this.seconds.observe(seconds);
    this.bytesIn += bytesIn;
    this.bytesOut += bytesOut;
  }

  samples(): Sample[] {
    const route = this.label;
    const samples: Sample[] = [];
    for (const [status, value] of this.#statuses) {
      const labels = { route, status: status.slice(0, 3) };
      samples.push({ name: 'requests_total', labels, value });
    }
    samples.push({ name: 'request_bytes', labels: { route }, value: this.bytesIn });
    samples.push({ name: 'response_bytes', labels: { route }, value: this.bytesOut });
    samples.push(...this.seconds.samples('request_seconds', { route }));
    return samples;
  }
}

/** Counters by one label, e.g. refusals by code. */
export class LabelledCounter {
  readonly #values = new Map<string, number>();

  constructor(
    private readonly name: string,
    private readonly label: string,
  ) {}

  add(label: string, by = 1): void {
    this.#values.set(label, (this.#values.get(label) ?? 0) + by);
  }

  get(label: string): number {
    return this.#values.get(label) ?? 0;
  }

  samples(): Sample[] {
    return [...this.#values].map(([label, value]) => ({
      name: this.name,
      labels: { [this.label]: label },
      value,
    }));
  }
}

/** Calls of embedding providers. */
export class EmbeddingMetrics {
  readonly #seconds = new Map<string, Histogram>();
  readonly #errors = new Map<string, LabelledCounter>();
  #cacheHits = 0;

  readonly onCached = (texts: number): void => {
    this.#cacheHits += texts;
  };

  readonly onCall = (provider: string, seconds: number, code?: string): void => {
    const known = this.#seconds.get(provider) ?? new Histogram();
    this.#seconds.set(provider, known);
    known.observe(seconds);
    if (code === undefined) return;
    const errors = this.#errors.get(provider) ?? new LabelledCounter('embed_errors_total', 'code');
    this.#errors.set(provider, errors);
    errors.add(code);
  };

  samples(): Sample[] {
    const samples: Sample[] = [];
    for (const [provider, seconds] of this.#seconds) {
      samples.push(...seconds.samples('embed_seconds', { provider }));
    }
    for (const [provider, errors] of this.#errors) {
      for (const { name, labels, value } of errors.samples()) {
        samples.push({ name, labels: { provider, ...labels }, value });
      }
    }
    return [...samples, { name: 'embed_cache_hits_total', value: this.#cacheHits }];
  }
}

/** All routes seen so far and the server's own counters. */
export class Metrics {
  readonly #routes = new Map<string, RouteMetrics>();
  readonly rejected = new LabelledCounter('rejected_total', 'code');
  readonly limitHits = new LabelledCounter('limit_hits_total', 'limit');
  readonly authFailures = new LabelledCounter('auth_failures_total', 'reason');
  readonly reloads = new LabelledCounter('reloads_total', 'result');
  readonly timeouts = new LabelledCounter('query_timeouts_total', 'query');
  readonly embedding = new EmbeddingMetrics();
  readonly compileSeconds = new Histogram();
  unhandledRejections = 0;

  route(label: string): RouteMetrics {
    let route = this.#routes.get(label);
    if (route === undefined) this.#routes.set(label, (route = new RouteMetrics(label)));
    return route;
  }

  samples(): Sample[] {
    const routes = [...this.#routes.values()].flatMap((route) => route.samples());
    const { rejected, limitHits, authFailures, reloads, timeouts } = this;
    const counters = [rejected, limitHits, authFailures, reloads, timeouts];
    return [
      ...routes,
      ...counters.flatMap((counter) => counter.samples()),
      ...this.embedding.samples(),
      ...this.compileSeconds.samples('compile_seconds'),
      { name: 'checksum_errors_total', value: rejected.get('DATA_CORRUPT') },
      { name: 'unhandled_rejections_total', value: this.unhandledRejections },
    ];
  }
}

const escapes: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function printLabels(labels: Labels | undefined): string {
  if (labels === undefined) return '';
  const pairs = Object.entries(labels).map(([name, value]) => {
    return `${name}="${value.replace(/[\\"\n]/g, (c) => escapes[c]!)}"`;
  });
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function typeOf(name: string): string {
  if (name.endsWith('_total')) return 'counter';
  return /_(bucket|sum|count)$/.test(name) ? 'histogram' : 'gauge';
}

/** Prometheus text: samples of one name stand together, in the order in which names first occur. */
export function printMetrics(samples: readonly Sample[]): string {
  const families = new Map<string, string[]>();
  for (const { name, labels, value } of samples) {
    const type = typeOf(name);
    const family = type === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name;
    let lines = families.get(family);
    if (lines === undefined) {
      families.set(family, (lines = [`# TYPE trellis_${family} ${type}`]));
    }
    lines.push(`trellis_${name}${printLabels(labels)} ${value}`);
  }
  return `${[...families.values()].flat().join('\n')}\n`;
}
