// Endpoints that are not queries: health, version, metrics, slow requests, introspection, explorer, and
// operator actions. Functions give them access to the running server.
import { type Database, fail, lookPlan, storageFormat } from '../../engine/internal.js';
import { explorerRoutes } from './helix-dashboard.js';
import { liveBody, type Readiness, readyReply } from './health.js';
import { type HeaderList, okStatus } from '../http/header-list.js';
import { introspection } from './introspect.js';
import { openApiReplies } from './openapi.js';
import type { ServerSample } from '../telemetry/metric-definitions.js';
import { type Metrics, printMetrics } from '../telemetry/metrics.js';
import { refuseIdempotencyKey } from '../pipeline/idempotency-key.js';
import { budgetOf } from '../pipeline/timeout.js';
import type { Endpoint, Result } from '../pipeline/router.js';
import type { Access } from '../auth/request-guard.js';
import type { SlowLog } from '../telemetry/slow-log.js';
import { indexesBody } from './indexes.js';

/**
 * An operator action. It receives the query string, the body, and the holder whose share it uses. Returns the
 * value of the response, or bytes.
 */
export type Action = (request: URLSearchParams, body: Uint8Array, holder: string) => unknown;

export interface AdminOptions {
  version: string;
  /** Title of the project. */
  title: string;
  /** Whether callers need a key. */
  hasKeys: () => boolean;
  compat: boolean;
  explorer: boolean;
  /** Whether this is a node of a cluster. */
  isNode: boolean;
  metrics: Metrics;
  slowLog: SlowLog;
  /** Fails NOT_READY before the database is open. */
  database: () => Database;
  readiness: () => Readiness;
  /** Metrics of the process, the transport and the database. */
  samples: () => ServerSample[];
  /** Actions of `POST /_admin/<name>`. */
  actions: ReadonlyMap<string, Action>;
}

const metricsHeaders: HeaderList = [
  ['Content-Type', 'text/plain; version=0.0.4; charset=utf-8'],
  ['Cache-Control', 'no-store'],
];

const jsonText = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

/**
 * Access rights of the requests between nodes. Some need no proof of identity, or come with the key of a
 * client.
 */
const nodeAccess: Readonly<Record<string, Access>> = {
  'cluster-hello': 'open',
  'cluster-beat': 'any',
  'cluster-keys': 'node',
  'cluster-checked': 'node',
  'cluster-claim': 'node',
  'cluster-mark': 'node',
  'cluster-self': 'node',
};

/**
 * Actions that only the leader runs: they change the data or the program of a cluster, or the retention of
 * its log.
 */
const ofLeader: ReadonlySet<string> = new Set([
  'import',
  'import-files',
  'reembed',
  'reload',
  'cluster-check',
  'cluster-leave',
  'cluster-forget',
]);

const bytesHeaders: HeaderList = [
  ['Content-Type', 'application/octet-stream'],
  ['Cache-Control', 'no-store'],
];

/** Milliseconds that an operator action may take: a snapshot or backup of a large database. */
const actionBudgetMs = 3_600_000;
const readBudgetMs = 30_000;

export function adminEndpoints(options: AdminOptions): {
  fixed: Map<string, Endpoint>;
  actions: Map<string, Endpoint>;
} {
  const fixed = new Map<string, Endpoint>();
  const add = (path: string, access: Access, handle: Endpoint['handle'], always = false): void => {
    fixed.set(path, {
      metrics: options.metrics.route(path),
      access,
      writes: false,
      reads: access === 'read',
      availableDuringStartup: always,
      budgetMs: readBudgetMs,
      handle,
    });
  };
  addHealth(options, add);
  addObservation(options, add);
  for (const [path, explore] of explorerRoutes) {
    add(path, 'read', (exchange) => {
      if (!options.explorer) {
        const hint = 'Set `server.explorer` to true.';
        fail('FEATURE_DISABLED', { feature: 'The explorer' }, { hint });
      }
      const parameters = new URLSearchParams(exchange.query);
      const result = options.database().run(lookPlan(explore(parameters)), [], undefined, {
        budgetMs: budgetOf(exchange, readBudgetMs),
        caller: exchange,
        onCancellable: (cancel) => {
          exchange.cancel = cancel;
        },
        onWork: (cost) => {
          exchange.work = cost;
        },
      });
      return result instanceof Promise ? result.then(({ body }) => body) : result.body;
    });
  }
  return { fixed, actions: actionEndpoints(options) };
}

type Add = (path: string, access: Access, handle: Endpoint['handle'], always?: boolean) => void;

function addHealth({ readiness }: AdminOptions, add: Add): void {
  add('/livez', 'open', () => liveBody, true);
  add('/healthz', 'open', () => liveBody, true);
  add('/readyz', 'open', () => readyReply(readiness()), true);
}

function addObservation(options: AdminOptions, add: Add): void {
  const version = jsonText({
    name: 'trellisdb',
    version: options.version,
    interface: 1,
    compat: options.compat ? 'helix-2' : 'trellis',
    format: storageFormat,
  });
  add('/version', 'any', () => version);
  add('/introspect', 'any', (_exchange, _body, caller) =>
    Buffer.from(introspection(options.database().program, caller?.queries)),
  );
  const contract = openApiReplies(options);
  add('/openapi.json', 'any', (exchange, _body, caller) => contract(exchange, caller));
  add('/slowlog', 'admin', () => jsonText(options.slowLog.list()));
  add('/_admin/indexes', 'admin', () => jsonText(indexesBody(options.database())));
  add('/metrics', 'metrics', () => ({
    status: okStatus,
    headers: metricsHeaders,
    body: printMetrics([...options.metrics.samples(), ...options.samples()]),
  }));
}

function actionEndpoints(options: AdminOptions): Map<string, Endpoint> {
  const endpoints = new Map<string, Endpoint>();
  for (const [name, act] of options.actions) {
    const path = `/_admin/${name}`;
    endpoints.set(path, {
      metrics: options.metrics.route(path),
      access: (options.isNode && nodeAccess[name]) || 'admin',
      // As for a write, no timeout ends the action with a response.
      writes: true,
      availableDuringStartup: false,
      budgetMs: actionBudgetMs,
      ndjson: name === 'import',
      leaderOnly: ofLeader.has(name),
      handle: async (exchange, body): Promise<Result> => {
        if (name === 'import') refuseIdempotencyKey(exchange, 'imports have names instead');
        const request = new URLSearchParams(exchange.query);
        const value = (await act(request, body, exchange.holder)) ?? {};
        if (!(value instanceof Uint8Array)) return jsonText(value);
        return { status: okStatus, headers: bytesHeaders, body: value };
      },
    });
  }
  return endpoints;
}
