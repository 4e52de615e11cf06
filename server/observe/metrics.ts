// Counters and histograms, and their Prometheus text form 0.0.4 (operations.md 9.2). Names carry
// the prefix `trellis_`. Invariant: label values come from fixed sets (routes, codes, limits,
// defined queries), never from a request.
import { type Families, Histogram, type Sample } from '../../engine/index.js';
import { type CounterName, type ServerSample, families } from './families.js';
import { Tally } from './tally.js';

type Labels = Record<string, string>;

/** What one route has answered. */
export class RouteMetrics {
  readonly seconds = new Histogram();
  /** For pages that show what happens now. */
  readonly tally = new Tally();
  readonly #statuses = new Map<string, number>();
  bytesIn = 0;
  bytesOut = 0;

  constructor(readonly label: string) {}

  /** `status` is a status line text, `200 OK`. */
  record(status: string, seconds: number, bytesIn: number, bytesOut: number): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    this.seconds.observe(seconds);
    this.tally.add(seconds, !status.startsWith('2'));
    this.bytesIn += bytesIn;
    this.bytesOut += bytesOut;
  }

  samples(): ServerSample[] {
    const samples: ServerSample[] = [];
    if (this.seconds.isEmpty) return samples;
    const route = this.label;
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
class LabelledCounter {
  readonly #values = new Map<string, number>();

  constructor(
    private readonly name: CounterName,
    private readonly label: string,
  ) {}

  add(label: string, by = 1): void {
    this.#values.set(label, (this.#values.get(label) ?? 0) + by);
  }

  get(label: string): number {
    return this.#values.get(label) ?? 0;
  }

  samples(): ServerSample[] {
    return [...this.#values].map(([label, value]) => ({
      name: this.name,
      labels: { [this.label]: label },
      value,
    }));
  }
}

/** Calls of embedding providers. */
class EmbeddingMetrics {
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

  samples(): ServerSample[] {
    const samples: ServerSample[] = [];
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

  samples(): ServerSample[] {
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
const special = /[\\"\n]/;
const specials = /[\\"\n]/g;

function printLabels(labels: Labels | undefined): string {
  let text = '';
  for (const name in labels) {
    const value = labels[name]!;
    const safe = special.test(value) ? value.replace(specials, (c) => escapes[c]!) : value;
    text += `${text === '' ? '{' : ','}${name}="${safe}"`;
  }
  return text === '' ? '' : `${text}}`;
}

const catalogue: Families = families;

const fullName = (name: string): string => (name.startsWith('process_') ? name : `trellis_${name}`);

interface Printed {
  family: string;
  /** With the prefix. */
  name: string;
}

/** By name of a sample. */
const printedNames = new Map<string, Printed>();

/** Histograms have several names to one family. */
function printedName(name: string): Printed {
  let printed = printedNames.get(name);
  if (printed === undefined) {
    const family = name in catalogue ? name : name.replace(/_(bucket|sum|count)$/, '');
    printedNames.set(name, (printed = { family, name: fullName(name) }));
  }
  return printed;
}

function head(family: string): string {
  const { help, type } = catalogue[family]!;
  const name = fullName(family);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

/** Prometheus text: samples of one family stand together, in the order in which they first occur. */
export function printMetrics(samples: readonly Sample[]): Buffer {
  const texts = new Map<string, string>();
  for (const { name, labels, value } of samples) {
    const printed = printedName(name);
    const text = texts.get(printed.family) ?? head(printed.family);
    texts.set(printed.family, `${text}${printed.name}${printLabels(labels)} ${value}\n`);
  }
  return Buffer.from([...texts.values()].join(''));
}
