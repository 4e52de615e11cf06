// Handles `GET /_explore/status`: figures of the server for a page that polls once a second. The figures of a
// query are the difference to the last request with the same `since`. Nothing is computed between requests.
// Invariant: clients choose the tokens, so only the last 32 are stored.
import type { Database } from '../../../engine/internal.js';
import { type Caller, scopeNames } from '../../auth/keys.js';
import type { Readiness } from '../health.js';
import type { ServerSample } from '../../telemetry/metric-definitions.js';
import type { Tally, TallyMark } from '../../telemetry/route-histogram.js';
import type { Metrics } from '../../telemetry/metrics.js';

export interface StatusOptions {
  version: string;
  title: string;
  hasKeys: () => boolean;
  database: () => Database;
  readiness: () => Readiness;
  samples: () => ServerSample[];
  metrics: Metrics;
  /** Returns why the sources on disk are not in use, or undefined if they are. */
  refusedSources: () => { errors: number; reason: string } | undefined;
}

interface Mark {
  at: number;
  queries: ReadonlyMap<string, TallyMark>;
}

const tokensMax = 32;
const tokenForm = /^[A-Za-z0-9_-]{1,40}$/;

export class StatusPage {
  readonly #marks = new Map<string, Mark>();

  constructor(private readonly options: StatusOptions) {}

  body(queryString: string, caller: Caller | undefined): Uint8Array {
    const token = new URLSearchParams(queryString).get('since') ?? '';
    const before = this.#marks.get(token);
    const now = performance.now();
    const scope = caller?.queries;
    const database = this.options.database();
    const names = database.program.queries
      .map(({ name }) => name)
      .filter((name) => scope === undefined || scopeNames(scope, name));
    const queries = new Map<string, TallyMark>();
    const figures = names.map((name) => {
      const tally = this.options.metrics.route(name).tally;
      queries.set(name, tally.mark());
      return { name, ...figuresOf(tally, before?.queries.get(name)) };
    });
    if (tokenForm.test(token)) this.#remember(token, { at: now, queries });
    const value = {
      ...this.#server(caller),
      seconds: before === undefined ? null : (now - before.at) / 1000,
      queries: figures,
      ...(scope === undefined && this.#data(database)),
    };
    return Buffer.from(JSON.stringify(value));
  }

  #remember(token: string, mark: Mark): void {
    // The token that was unused for longest is removed first.
    this.#marks.delete(token);
    this.#marks.set(token, mark);
    if (this.#marks.size > tokensMax) this.#marks.delete(this.#marks.keys().next().value!);
  }

  #server(caller: Caller | undefined) {
    const { version, title, hasKeys, metrics, readiness, refusedSources } = this.options;
    const { phase, status, cluster } = readiness();
    return {
      version,
      title,
      keys: hasKeys(),
      role: caller?.role ?? 'admin',
      uptime_s: Math.round(process.uptime()),
      phase,
      writes: status?.writes ?? false,
      reloads: metrics.reloads.get('done'),
      read_only_reason: status?.readOnlyReason ?? null,
      sources: refusedSources() ?? null,
      ...(cluster && { cluster }),
    };
  }

  /** Figures that a key limited to some queries may not see. */
  #data(database: Database) {
    const samples = this.options.samples();
    const sum = (name: string): number =>
      samples.reduce((total, sample) => total + (sample.name === name ? sample.value : 0), 0);
    const elements = database.view((view) =>
      view.catalog
        .labels()
        .filter(({ type }) => isDeclared(database, type.kind, type.name))
        .map(({ id, kind, name }) => ({
          kind,
          type: name,
          count: view.count(id),
          ...(kind === 'vector' && { dimensions: view.dimension(id) }),
        })),
    );
    return {
      elements,
      bytes: {
        file: sum('file_bytes'),
        rss: process.memoryUsage.rss(),
        vectors: sum('vector_bytes'),
      },
      writer: { writes: sum('writes_total'), index_lag: sum('index_lag') },
      sessions: sum('sessions'),
      workers: sum('workers'),
    };
  }
}

function isDeclared({ program }: Database, kind: 'node' | 'edge' | 'vector', name: string) {
  return program.schema[`${kind}s`].some((type) => type.name === name);
}

function figuresOf(tally: Tally, before: TallyMark | undefined) {
  const { calls, errors, p50, p99 } = tally.since(before);
  return { calls, errors, p50_us: p50, p99_us: p99 };
}
