// Counters and histograms, and their Prometheus text form 0.0.4 (operations.md 9.2). Names carry
// the prefix `trellis_`. Invariant: label values come from fixed sets (routes, codes, limits,
// defined queries), never from a request.

type Labels = Record<string, string>;

export interface Sample {
  name: string;
  labels?: Labels;
  value: number;
}

/** Upper bounds in seconds, 0.5 ms to 10 s. */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Durations of one kind of work. */
export class Histogram {
  readonly #counts = new Float64Array(bounds.length + 1);
  #sum = 0;
  #count = 0;

  observe(seconds: number): void {
    let i = 0;
    while (i < bounds.length && seconds > bounds[i]!) i++;
    this.#counts[i]!++;
    this.#sum += seconds;
    this.#count++;
  }

  /** Samples of `name`: cumulative buckets, sum and count. */
  samples(name: string, labels: Labels): Sample[] {
    const result: Sample[] = [];
    let total = 0;
    for (const [i, bound] of bounds.entries()) {
      total += this.#counts[i]!;
      result.push({ name: `${name}_bucket`, labels: { ...labels, le: `${bound}` }, value: total });
    }
    result.push({ name: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: this.#count });
    result.push({ name: `${name}_sum`, labels, value: this.#sum });
    result.push({ name: `${name}_count`, labels, value: this.#count });
    return result;
  }
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

  samples(): Sample[] {
    return [...this.#values].map(([label, value]) => ({
      name: this.name,
      labels: { [this.label]: label },
      value,
    }));
  }
}

/** All routes seen so far and the server's own counters. */
export class Metrics {
  readonly #routes = new Map<string, RouteMetrics>();
  readonly rejected = new LabelledCounter('rejected_total', 'code');
  readonly limitHits = new LabelledCounter('limit_hits_total', 'limit');
  readonly authFailures = new LabelledCounter('auth_failures_total', 'reason');
  readonly reloads = new LabelledCounter('reloads_total', 'result');
  unhandledRejections = 0;

  route(label: string): RouteMetrics {
    let route = this.#routes.get(label);
    if (route === undefined) this.#routes.set(label, (route = new RouteMetrics(label)));
    return route;
  }

  samples(): Sample[] {
    const routes = [...this.#routes.values()].flatMap((route) => route.samples());
    const counters = [this.rejected, this.limitHits, this.authFailures, this.reloads];
    return [
      ...routes,
      ...counters.flatMap((counter) => counter.samples()),
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
