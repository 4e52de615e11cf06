// Counters and histograms, and their Prometheus text format 0.0.4. Names have the prefix `trellis_`.
// Invariant: label values come from fixed sets (routes, codes, limits, defined queries), never from a
// request.
import {
  type ErrorCode,
  type Families,
  Histogram,
  type LimitName,
  type Sample,
} from '../../engine/internal.js';
import { type CounterName, type ServerSample, families } from './metric-definitions.js';
import type { ThreadMetrics, RouteFigures } from './thread-metrics.js';
import { Tally } from './route-histogram.js';

type Labels = Record<string, string>;

/** Metrics of one route. */
export class RouteMetrics {
  readonly seconds = new Histogram();
  readonly #tally = new Tally();
  readonly #statuses = new Map<string, number>();
  bytesIn = 0;
  bytesOut = 0;

  /** `onThreads` returns what other threads have counted for a route so far. */
  constructor(
    readonly label: string,
    private readonly onThreads: (label: string) => readonly RouteFigures[] = () => [],
  ) {}

  /** Counts for live pages. */
  get tally(): Tally {
    return this.#sum().#tally;
  }

  /** `status` is the text of a status line, such as `200 OK`. */
  record(status: string, seconds: number, bytesIn: number, bytesOut: number): void {
    this.#addStatus(status, 1);
    this.seconds.observe(seconds);
    this.#tally.add(seconds, !status.startsWith('2'));
    this.bytesIn += bytesIn;
    this.bytesOut += bytesOut;
  }

  #addStatus(status: string, count: number): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + count);
  }

  /** Adds the figures of another thread. */
  take(figures: RouteFigures): void {
    const { seconds, tally, bytesIn, bytesOut } = figures;
    for (const [status, count] of figures.statuses()) this.#addStatus(status, count);
    this.seconds.add(seconds);
    this.#tally.addAll(tally);
    this.bytesIn += bytesIn;
    this.bytesOut += bytesOut;
  }

  /** Returns the sum with the figures of other threads. */
  #sum(): RouteMetrics {
    const others = this.onThreads(this.label);
    if (others.length === 0) return this;
    const sum = new RouteMetrics(this.label, this.onThreads);
    for (const [status, count] of this.#statuses) sum.#statuses.set(status, count);
    sum.seconds.add(this.seconds);
    sum.#tally.addAll(this.#tally);
    sum.bytesIn = this.bytesIn;
    sum.bytesOut = this.bytesOut;
    for (const other of others) sum.take(other);
    return sum;
  }

  samples(): ServerSample[] {
    return this.#sum().#samples();
  }

  #samples(): ServerSample[] {
    const samples: ServerSample[] = [];
    if (this.seconds.isEmpty) return samples;
    const route = this.label;
    for (const [status, value] of this.#statuses) {
      const labels = { route, status: status.slice(0, 3) };
      samples.push({ name: 'requests_total', labels, value });
    }
    samples.push({ name: 'request_bytes_total', labels: { route }, value: this.bytesIn });
    samples.push({ name: 'response_bytes_total', labels: { route }, value: this.bytesOut });
    samples.push(...this.seconds.samples('request_duration_seconds', { route }));
    return samples;
  }
}

/** Counters by one label, such as refusals by code. */
class LabelledCounter {
  readonly #values = new Map<string, number>();

  constructor(
    private readonly name: CounterName,
    private readonly label: string,
  ) {}

  add(label: string, by = 1): void {
    this.#values.set(label, (this.#values.get(label) ?? 0) + by);
  }

  copy(): LabelledCounter {
    const copy = new LabelledCounter(this.name, this.label);
    for (const [label, value] of this.#values) copy.add(label, value);
    return copy;
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

/** Metrics of the calls to embedding providers. */
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

/** All routes used so far, and the server's own counters. */
export class Metrics {
  readonly #routes = new Map<string, RouteMetrics>();
  /** Metrics of the HTTP threads that answer queries. */
  readonly #others = new Set<ThreadMetrics>();
  readonly #rejected = new LabelledCounter('request_errors_total', 'code');
  readonly #limitHits = new LabelledCounter('limit_hits_total', 'limit');
  readonly shares = new LabelledCounter('share_exceeded_total', 'what');
  readonly authFailures = new LabelledCounter('auth_failures_total', 'reason');
  readonly reloads = new LabelledCounter('reloads_total', 'result');
  readonly timeouts = new LabelledCounter('query_timeouts_total', 'query');
  readonly embedding = new EmbeddingMetrics();
  readonly compileSeconds = new Histogram();
  unhandledRejections = 0;

  route(label: string): RouteMetrics {
    let route = this.#routes.get(label);
    if (route === undefined) {
      this.#routes.set(label, (route = new RouteMetrics(label, (name) => this.#onThreads(name))));
    }
    return route;
  }

  #onThreads(label: string): RouteFigures[] {
    return [...this.#others].flatMap((other) => other.of(label) ?? []);
  }

  /** Counts refusals, and the limits that caused them. */
  reject(code: ErrorCode, count = 1): void {
    addRefusals(this.#rejected, this.#limitHits, code, count);
  }

  /** Includes the metrics of another thread from now on. */
  follow(other: ThreadMetrics): void {
    this.#others.add(other);
  }

  /** Adds the final figures of a thread that has stopped, and no longer reads its metrics. */
  unfollow(other: ThreadMetrics): void {
    if (!this.#others.delete(other)) return;
    for (const [name, figures] of other.answered()) this.route(name).take(figures);
    for (const [code, count] of other.rejected()) this.reject(code, count);
  }

  samples(): ServerSample[] {
    const routes = [...this.#routes.values()].flatMap((route) => route.samples());
    const { authFailures, reloads, shares, timeouts } = this;
    const rejected = this.#rejected.copy();
    const limitHits = this.#limitHits.copy();
    for (const other of this.#others) {
      for (const [code, count] of other.rejected()) addRefusals(rejected, limitHits, code, count);
    }
    const counters = [rejected, limitHits, shares, authFailures, reloads, timeouts];
    return [
      ...routes,
      ...counters.flatMap((counter) => counter.samples()),
      ...this.embedding.samples(),
      ...this.compileSeconds.samples('compile_duration_seconds'),
      { name: 'checksum_errors_total', value: rejected.get('DATA_CORRUPT') },
      { name: 'unhandled_rejections_total', value: this.unhandledRejections },
    ];
  }
}

/** The limit that caused a refusal, for codes with exactly one. */
const limitOf: Partial<Record<ErrorCode, LimitName>> = {
  BODY_TOO_LARGE: 'body_bytes',
  JSON_TOO_DEEP: 'json_depth',
  JSON_TOO_MANY_MEMBERS: 'json_members',
  INDEX_KEY_TOO_LONG: 'index_key_bytes',
  VALUE_TOO_LARGE: 'value_bytes',
  VECTOR_TOO_LONG: 'vector_dimensions',
  TEXT_TOO_LONG: 'text_bytes',
  RESULT_TOO_LARGE: 'result_items',
  QUERY_MEMORY: 'query_memory',
  QUERY_WORK: 'query_visits',
  QUERY_TIMEOUT: 'query_time',
  TXN_TOO_LARGE: 'txn_writes',
  DROP_TOO_LARGE: 'drop_edges',
  FILTER_TOO_DEEP: 'filter_depth',
  FILTER_TOO_LARGE: 'filter_predicates',
  TOO_MANY_SESSIONS: 'sessions',
  SESSION_BUSY: 'session_queue',
};

function addRefusals(
  rejected: LabelledCounter,
  limitHits: LabelledCounter,
  code: ErrorCode,
  count: number,
): void {
  rejected.add(code, count);
  const limit = limitOf[code];
  if (limit !== undefined) limitHits.add(limit, count);
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
  /** Name of the sample with the prefix. */
  name: string;
  /** Former name of the sample with the prefix. Undefined if the family was not renamed. */
  formerName: string | undefined;
}

/** The printed names, by name of a sample. */
const printedNames = new Map<string, Printed>();

/** Returns the names under which a sample is printed. A histogram has three sample names in one family. */
function printedName(name: string): Printed {
  let printed = printedNames.get(name);
  if (printed === undefined) {
    const family = name in catalogue ? name : name.replace(/_(bucket|sum|count)$/, '');
    const former = catalogue[family]!.formerly?.name;
    const formerName = former && fullName(former + name.slice(family.length));
    printedNames.set(name, (printed = { family, name: fullName(name), formerName }));
  }
  return printed;
}

const head = (name: string, help: string, type: string): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

function formerHead(family: string): string {
  const { name, type } = catalogue[family]!.formerly!;
  return head(fullName(name), `Former name of ${fullName(family)}.`, type);
}

/**
 * Returns the samples as Prometheus text. Samples of one family stand together, in the order in which the
 * families first occur. The families under former names follow.
 */
export function printMetrics(samples: readonly Sample[]): Buffer {
  const texts = new Map<string, string>();
  const formerTexts = new Map<string, string>();
  for (const { name, labels, value } of samples) {
    const { family, name: printed, formerName } = printedName(name);
    const rest = `${printLabels(labels)} ${value}\n`;
    const { help, type } = catalogue[family]!;
    const text = texts.get(family) ?? head(fullName(family), help, type);
    texts.set(family, `${text}${printed}${rest}`);
    if (formerName === undefined) continue;
    formerTexts.set(family, `${formerTexts.get(family) ?? formerHead(family)}${formerName}${rest}`);
  }
  return Buffer.from([...texts.values(), ...formerTexts.values()].join(''));
}
