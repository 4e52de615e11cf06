// Serves one database: its routes, sessions, MCP server, counters and list of slow requests. A server has one
// service for its main database, and one for each tenant. Invariant: two databases share no state here; the
// responses, counters and stored data of a service belong to its own database.
import { randomBytes } from 'node:crypto';
import { type Database, type ErrorData, TrellisError } from '../../engine/internal.js';
import type { Keyring } from '../auth/keys.js';
import type { RequestGuard } from '../auth/request-guard.js';
import { type Config, shardName } from '../config/config.js';
import { secretsOf } from '../config/secrets.js';
import { shardsOf } from '../config/tenant-config.js';
import { adHocEndpoint, adHocPaths } from '../handlers/ad-hoc.js';
import { type Action, adminEndpoints } from '../handlers/admin-handler.js';
import { clusterStatus } from '../cluster/cluster-status.js';
import { exploreEndpoints } from '../handlers/explorer/endpoints.js';
import { type Readiness, type ServerPhase, refusalOf } from '../handlers/health.js';
import { type SessionService, createSessionService } from '../handlers/sessions.js';
import { type GuardPlans, queryEndpoints, toolRoutes } from '../handlers/query-handler.js';
import type { OpenStreams } from '../mcp/subscriptions/subscriptions.js';
import { McpServer } from '../mcp/server.js';
import { ClusterCounts } from '../cluster/cluster-counts.js';
import type { ServerSample } from '../telemetry/metric-definitions.js';
import type { Log } from '../telemetry/log.js';
import { Metrics } from '../telemetry/metrics.js';
import { RequestLog } from '../telemetry/request-log.js';
import { SentValues } from '../telemetry/logged-parameters.js';
import { SlowLog } from '../telemetry/slow-log.js';
import type { SourceStatus } from '../project/source-status.js';
import { type CallOnLeader, Consistency } from '../cluster/forward/consistency.js';
import type { NodeProof } from '../cluster/node-auth.js';
import type { NodeClient } from '../cluster/node-client.js';
import type { Exchange } from '../http/exchange.js';
import { fitInHeader } from '../cluster/read/consistency-token.js';
import type { DatabaseRequestHandler } from '../pipeline/request-pipeline.js';
import { Routes } from '../pipeline/router.js';
import { readMembers } from '../cluster/placement.js';

const storageReadMaxMs = 100;
const heartbeatMaxS = 5;

export interface DatabaseServiceOptions {
  /** Configuration of this database; it names the tenant. */
  config: Config;
  /** Title of its pages and its API document. */
  title: string;
  log: Log;
  version: string;
  /** Actions of `POST /_admin/<name>`. */
  actions: ReadonlyMap<string, Action>;
  sources: SourceStatus;
  keys: Keyring;
  /** Client for the other nodes of a cluster. */
  nodes?: { calls: NodeClient };
  /** Checks the identity of other nodes. */
  proof?: NodeProof | undefined;
  security: RequestGuard;
  /** Set by `trellis dev`: clients may cache no MCP response. */
  isFresh: boolean;
  /** Open streams of all databases of the server. */
  streams?: OpenStreams;
  /** Phase of the server. */
  phase: () => ServerPhase;
  /** Metrics of the server, if this service shows them. */
  serverSamples: () => ServerSample[];
}

export class DatabaseService implements DatabaseRequestHandler {
  readonly tenant: string;
  /** Current step of opening the database, and its progress from 0 to 100. */
  opening = { step: 'opening', progress: 0 };
  readonly metrics = new Metrics();
  readonly requestLog: RequestLog;
  readonly routes: Routes;
  readonly mcp: McpServer;
  consistency: Consistency | undefined;
  readonly #slowLog = new SlowLog();
  readonly #clusterCounts = new ClusterCounts();
  #database: Database | undefined;
  #sessions: SessionService | undefined;

  constructor(private readonly options: DatabaseServiceOptions) {
    const { config } = options;
    this.tenant = config.tenant;
    const values = config.log.parameters ? new SentValues(secretsOf(config)) : undefined;
    this.requestLog = new RequestLog(options.log, this.#slowLog, values);
    this.mcp = this.#makeMcp();
    this.routes = this.#makeRoutes();
  }

  get config(): Config {
    return this.options.config;
  }

  /** Attaches the opened database. Queries are served when the server's phase is `serving`. */
  attach(database: Database): void {
    const { config, nodes } = this.options;
    const { cluster } = database;
    this.#database = database;
    this.#sessions = createSessionService({
      database,
      limits: config.limits,
      now: () => performance.now(),
      randomBytes,
      schemaFormat: config.sessions.schema_format,
      compat: config.compat === 'helix-2',
      textEnabled: config.text.enabled,
      enabled: config.sessions.enabled,
      ...(cluster && { node: cluster.node }),
    });
    if (cluster !== undefined && nodes !== undefined) {
      const { wait_timeout: waitMs, read_consistency: read } = config.cluster;
      const members = readMembers(config.cluster.members);
      const { calls } = nodes;
      const counts = this.#clusterCounts;
      const bodyMax = config.limits.body_bytes;
      const shardNames = shardsOf(config).map(({ type, at }) => shardName(type, at));
      this.consistency = new Consistency({
        ...{ node: cluster, waitMs, read, calls, members, counts, bodyMax },
        database: () => this.database(),
        reportsShards: fitInHeader(shardNames, config.limits.header_bytes),
        proof: this.options.proof,
      });
    }
    this.applyProgram();
  }

  /** Updates the routes to the program of the database. */
  applyProgram(): void {
    const { limits } = this.options.config;
    // Only administrators may see plans and counts.
    const guard: GuardPlans = (exchange, caller, query) =>
      this.options.security.checkAccess(exchange, caller, { access: 'admin', query });
    this.routes.replaceQueries(queryEndpoints(this.database(), limits, this.metrics, guard));
    this.mcp.reload();
  }

  #makeRoutes(): Routes {
    const { config, version, actions, sources, title, keys, serverSamples } = this.options;
    const shared = {
      version,
      title,
      hasKeys: () => keys.active,
      metrics: this.metrics,
      database: () => this.database(),
      readiness: () => this.readiness(),
      samples: () => [...serverSamples(), ...this.#samples()],
    };
    const admin = adminEndpoints({
      ...shared,
      compat: config.compat === 'helix-2',
      explorer: config.server.explorer,
      isNode: config.cluster.log !== '',
      slowLog: this.#slowLog,
      actions,
    });
    const explore = exploreEndpoints({
      ...shared,
      enabled: config.server.explorer,
      limits: config.limits,
      sources: () => sources.list(),
      refusedSources: () => sources.refusal,
    });
    const tools = toolRoutes({
      program: () => this.#database?.program,
      handler: () => this.#sessions!,
      onOtherNode: (node, exchange, body) => this.consistency?.sendTo(node, exchange, body),
      callOnLeader: this.#callOnLeader,
      limits: config.limits,
      metrics: this.metrics,
    });
    const adHoc = adHocEndpoint({
      enabled: config.server.ad_hoc_queries,
      database: () => this.database(),
      limits: config.limits,
      strict: config.server.strict_members,
      metrics: this.metrics.route(adHocPaths[0]),
      onLeader: (...args) => this.consistency?.onLeader(...args),
      fresh: this.#fresh,
    });
    const fixed = new Map([...admin.fixed, ...explore.fixed]);
    const adHocs = adHocPaths.map((path) => [path, adHoc] as const);
    const all = new Map([...admin.actions, ...explore.actions, ...adHocs]);
    return new Routes(fixed, tools, all, this.mcp.endpoint);
  }

  #makeMcp(): McpServer {
    const { version, config, log, isFresh, keys, streams } = this.options;
    return new McpServer({
      version,
      config,
      isFresh,
      warn: (line) => log('warn', line),
      database: () => {
        const refusal = this.unavailableReason();
        if (refusal !== undefined) throw new TrellisError(refusal);
        return this.database();
      },
      sessions: () => this.#sessions!,
      callOnLeader: this.#callOnLeader,
      fresh: this.#fresh,
      hasKeys: () => keys.active,
      metrics: this.metrics,
      streams,
    });
  }

  readonly #fresh = (exchange: Exchange) => this.consistency?.fresh(exchange);
  readonly #callOnLeader: CallOnLeader = (...args) => this.consistency?.callOnLeader(...args);

  /** Fails NOT_READY before the database is attached. */
  database(): Database {
    if (this.#database === undefined) throw new TrellisError(this.unavailableReason()!);
    return this.#database;
  }

  unavailableReason(): ErrorData | undefined {
    const phase = this.options.phase();
    // Runs for every request, so nothing is allocated in the normal case.
    const database = this.#database;
    if (phase === 'serving' && database?.isLost?.() === false) return undefined;
    const status = database?.status();
    if (phase === 'serving' && status?.phase !== 'lost') return undefined;
    return refusalOf({ phase, status, checks: {}, opening: this.opening });
  }

  readiness(): Readiness {
    const phase = this.options.phase();
    const database = this.#database;
    const status = database?.status();
    const checks: Record<string, boolean> = { replayed: phase !== 'starting' };
    if (database !== undefined && status?.phase === 'serving') {
      checks.storage_read = readsInTime(database);
      checks.writer = (status.heartbeatAge ?? 0) < heartbeatMaxS;
      checks.data_file = true;
      checks.readers = status.readers ?? true;
    }
    const node = database?.cluster;
    if (node !== undefined) checks.cluster = node.isReady;
    const cluster = node && clusterStatus(node);
    return { phase, status, checks, opening: this.opening, ...(cluster && { cluster }) };
  }

  /** Ends idle sessions, and the sessions of expired keys. */
  runMaintenance(expiredKeys: readonly string[]): void {
    this.#sessions?.sweep(performance.now());
    for (const keyId of expiredKeys) {
      this.#sessions?.dropKey(keyId);
      this.mcp.dropKey(keyId);
    }
  }

  #samples(): ServerSample[] {
    const sessions = this.#sessions?.metrics() ?? [];
    const database = this.#database?.metrics() ?? [];
    return [...this.mcp.samples(), ...sessions, ...database, ...this.#clusterSamples()];
  }

  /** Every sample has the name of the node as a label. */
  #clusterSamples(): ServerSample[] {
    const cluster = this.#database?.cluster;
    if (cluster === undefined) return [];
    const { node } = cluster;
    const samples: ServerSample[] = [...cluster.metrics(), ...this.#clusterCounts.samples()];
    return samples.map(({ labels, ...rest }) => ({ ...rest, labels: { node, ...labels } }));
  }
}

const absentId = new Uint8Array(16);

function readsInTime(database: Database): boolean {
  const before = performance.now();
  try {
    database.view((view) => view.idOf(absentId));
  } catch {
    return false;
  }
  return performance.now() - before < storageReadMaxMs;
}
