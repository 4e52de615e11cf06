// Assembles the running server: keys, security, routes, request pipeline and transport, around a database
// that may still be opening. Holds the phase of the server; server.ts sets it.
import { basename } from 'node:path';
import type { Database, Program } from '../../engine/internal.js';
import { HttpThreadPool } from '../http-threads/http-thread-pool.js';
import { DatabaseService } from '../database/database-service.js';
import type { Exchange } from '../http/exchange.js';
import { type TenantOptions, Tenants, unknownTenant } from '../database/tenant/tenant-databases.js';
import { type Member, readMembers } from '../cluster/placement.js';
import { tenantOnOtherNode } from '../cluster/forward/remote-tenant.js';
import { reasonOf } from '../database/pool/on-demand-database.js';
import { listenAddresses } from '../http/address.js';
import type { Action } from '../handlers/admin-handler.js';
import type { Config } from '../config/config.js';
import type { Readiness, ServerPhase } from '../handlers/health.js';
import type { Keyring } from '../auth/keys.js';
import type { NodeProof } from '../cluster/node-auth.js';
import type { Log } from '../telemetry/log.js';
import type { SourceStatus } from '../project/source-status.js';
import type { ServerSample } from '../telemetry/metric-definitions.js';
import type { Metrics } from '../telemetry/metrics.js';
import { type NodeClient, targetOf } from '../cluster/node-client.js';
import type { AnsweredCall } from '../pipeline/request-answerer.js';
import { type DatabaseRequestHandler, RequestPipeline } from '../pipeline/request-pipeline.js';
import { connectionsBelow, openFilesMax } from '../telemetry/open-files.js';
import { RuntimeMetrics } from '../telemetry/runtime-metrics.js';
import { OpenStreams } from '../mcp/subscriptions/subscriptions.js';
import { Authentication } from './authentication.js';
import { tlsFiles } from './tls.js';
import { openTransport } from './open-transport.js';
import {
  type SharedListener,
  type Transport,
  type TransportCounts,
  machineHasIpv6Loopback,
} from '../http/transport.js';

const housekeepingMs = 1_000;
/** Milliseconds between two log lines about the behavior of clients. */
const warnIntervalMs = 60_000;

export interface AppOptions {
  config: Config;
  log: Log;
  version: string;
  /** `POST /_admin/<name>`. */
  actions: ReadonlyMap<string, Action>;
  /** Called when no request has arrived for `server.exit_when_idle`. */
  onIdle?: () => void;
  /** Options for the databases of tenants, if the configuration names any. */
  tenants?: TenantOptions;
  /** Client for the other nodes, and the proof by which nodes identify themselves. */
  nodes?: { calls: NodeClient; proof: NodeProof | undefined };
  /** The sources in use, and the refused ones. */
  sources: SourceStatus;
  /** Set by `trellis dev`: pages of this machine may call, and this is called for each request. */
  onAnswered?: ((call: AnsweredCall) => void) | undefined;
}

export class HttpServer {
  #phase: ServerPhase = 'starting';
  readonly #authentication: Authentication;
  /** Serves the requests that name no database. */
  readonly #main: DatabaseService;
  readonly #tenants: Tenants | undefined;
  /** Other nodes, which may have a tenant that this node lacks. */
  readonly #otherMembers: readonly Member[];
  readonly #runtime = new RuntimeMetrics();
  #threadPool: HttpThreadPool | undefined;
  #reception!: RequestPipeline;
  #transport!: Transport;
  #maintenance: NodeJS.Timeout | undefined;
  #connectionsMax = 0;
  #pipelinedWarned = 0;
  #nextWarningAt = 0;

  constructor(private readonly options: AppOptions) {
    const { config } = options;
    this.#authentication = new Authentication({
      config,
      log: options.log,
      hasHttpThreads: this.#httpThreadCount > 1,
      loopbackOrigins: options.onAnswered !== undefined,
      isNode: (exchange) => this.#isNode(exchange, true),
      onKeys: () => this.#threadPool?.setKeys(this.keys.list),
      onRefused: (reason) => this.metrics.authFailures.add(reason),
    });
    const shared = {
      ...options,
      keys: this.keys,
      security: this.#authentication.security,
      streams: new OpenStreams(config.limits),
      isFresh: options.onAnswered !== undefined,
      phase: () => this.#phase,
      proof: options.nodes?.proof,
    };
    this.#main = new DatabaseService({
      ...shared,
      title: basename(config.projectDir),
      serverSamples: () => this.#samples(),
    });
    const { tenants } = options;
    if (tenants !== undefined && config.tenant === '')
      this.#tenants = new Tenants({ ...shared, ...tenants });
    const { members, node } = config.cluster;
    const isNode = options.nodes !== undefined && node !== '';
    this.#otherMembers = isNode ? readMembers(members).filter((one) => one.node !== node) : [];
  }

  get keys(): Keyring {
    return this.#authentication.keys;
  }

  get metrics(): Metrics {
    return this.#main.metrics;
  }

  noteOpening(step: string, progress: number): void {
    this.#main.opening = { step, progress };
  }

  get phase(): ServerPhase {
    return this.#phase;
  }

  set phase(phase: ServerPhase) {
    this.#phase = phase;
    if (this.#threadPool !== undefined) this.#threadPool.isOpen = phase === 'serving';
  }

  /** Opens the listener; health routes respond from now on. Returns the port. Fails PORT_IN_USE. */
  async listen(): Promise<number> {
    const { config, log } = this.options;
    this.#connectionsMax = this.#boundConnections();
    this.#reception = new RequestPipeline({
      security: this.#authentication.security,
      main: this.#main,
      servingFor: (exchange) => this.#servingFor(exchange),
      log,
      slowMs: config.log.slow_after,
      sampleRate: config.log.access_sample_rate,
      audit: this.#authentication.audit,
      onAnswered: this.options.onAnswered,
    });
    const tls = tlsFiles(config, log);
    const shared = {
      limits: { ...transportLimits(config), connections: this.#connectionsMax },
      idleMs: config.server.idle_time,
      ...(tls && { tls }),
    };
    const pool = this.#httpThreadCount > 1 ? this.#makeThreadPool(shared) : undefined;
    const counting = pool && {
      counts: pool.counts.of(0),
      total: (name: keyof TransportCounts) => pool.counts.total(name),
      shares: { buffer: pool.shares, row: 0 },
    };
    this.#transport = await openTransport(
      config.server.transport,
      { receiver: this.#reception, ...shared, ...counting },
      log,
      config.server.transport_sha256,
    );
    this.#runtime.start();
    this.#maintenance = setInterval(() => this.#runMaintenance(), housekeepingMs);
    this.#maintenance.unref();
    const { host, port } = config.server;
    return this.#transport.listen(listenAddresses(host, machineHasIpv6Loopback()), port);
  }

  #boundConnections(): number {
    const { config, log } = this.options;
    const { connections } = config.limits;
    const databases = 1 + (this.#tenants === undefined ? 0 : config.databases.size);
    const threads = config.server.workers + this.#httpThreadCount;
    const files = openFilesMax();
    const max = connectionsBelow(files, connections, { threads, databases });
    const fields = { open_files: files, connections: max };
    if (max < connections)
      log('warn', 'connections are bounded by the limit of open files', {
        ...fields,
        wanted: connections,
      });
    return max;
  }

  /**
   * Number of HTTP threads. `trellis dev` has one caller, so it uses one thread unless the configuration sets
   * a number.
   */
  get #httpThreadCount(): number {
    // Only the main thread knows the log position of a node and the tenant of a request.
    if (this.options.config.cluster.log !== '' || this.#hasTenants) return 1;
    const isDeveloping =
      this.options.onAnswered !== undefined && !this.#hasSet('server.http_threads');
    return isDeveloping ? 1 : this.options.config.server.http_threads;
  }

  get #hasTenants(): boolean {
    const { config, tenants } = this.options;
    return tenants !== undefined && config.tenant === '' && config.databases.size > 0;
  }

  #hasSet(key: string): boolean {
    return this.options.config.settings.get(key)!.source !== 'default';
  }

  #makeThreadPool(
    transport: ConstructorParameters<typeof HttpThreadPool>[0]['transport'],
  ): HttpThreadPool {
    const { config, log } = this.options;
    this.#threadPool = new HttpThreadPool({
      count: this.#httpThreadCount,
      receiver: this.#reception,
      security: this.#authentication.rules,
      accepted: this.#authentication.accepted,
      rates: this.#authentication.rates!,
      reporting: {
        slowMs: config.log.slow_after,
        sampleRate: config.log.access_sample_rate,
        values: config.log.parameters,
      },
      onAnswered: this.options.onAnswered,
      transport,
      metrics: this.metrics,
      mcp: this.#main.mcp.forHttpThreads,
      requestLog: this.#main.requestLog,
      log,
      failpoint: config.failpoint,
    });
    this.#threadPool.setKeys(this.keys.list);
    return this.#threadPool;
  }

  /**
   * Returns true if another node sent this request. `consume`: the proof is used up, and refused from now on.
   */
  #isNode(exchange: Exchange, consume: boolean): boolean {
    const { nodeProof, tenant, method } = exchange;
    const { proof } = this.options.nodes ?? {};
    if (proof === undefined || method !== 'POST') return false;
    const head = { path: targetOf(exchange), tenant };
    return consume ? proof.accept(nodeProof, head) : proof.isGood(nodeProof, head);
  }

  /** Resolves when all configured HTTP threads receive connections. */
  async startHttpThreads(): Promise<void> {
    const { log } = this.options;
    const database = this.#main.database();
    if (this.#threadPool === undefined) return;
    if (canShare(this.#transport)) {
      return this.#threadPool.start(this.#transport, () => database.attachment());
    }
    if (this.#hasSet('server.http_threads')) {
      log('warn', 'server.http_threads needs uWebSockets.js: one thread takes all connections');
    }
  }

  /** Attaches the opened database. Queries are served when `phase` is `serving`. */
  attach(database: Database): void {
    this.#main.attach(this.#tenants?.gathering(database) ?? database);
  }

  /** Updates the routes to the program of the database. */
  applyProgram(): void {
    this.#main.applyProgram();
  }

  /** Opens the tenants that must be open immediately; the others open on demand. */
  async beginTenants(port: number): Promise<void> {
    await this.#tenants?.begin(port);
  }

  /** The tenants of this server, or undefined if it serves the database of one tenant. */
  get tenants(): Tenants | undefined {
    return this.#tenants;
  }

  /** Fails SCHEMA_INCOMPATIBLE if a shard of a scattered type would refuse the program. */
  async tryShards(program: Program): Promise<void> {
    await this.#tenants?.tryShards(program);
  }

  /** Applies the new program of the project to the tenants. */
  async reloadTenants(program: Program): Promise<void> {
    await this.#tenants?.reload(program);
  }

  /** Gives up the leadership of databases that another node is better placed for. */
  async runPlacement(): Promise<void> {
    await this.#tenants?.runPlacement();
  }

  async closeTenants(options: { snapshot: boolean }): Promise<void> {
    await this.#tenants?.close(options);
  }

  /**
   * Returns the handler of the tenant that a request names by its header, else by its key. A caller without a
   * valid key gets the main database's handler, and so learns nothing about tenants.
   */
  #servingFor(exchange: Exchange): DatabaseRequestHandler {
    const main = this.#main;
    if (this.#tenants === undefined || this.#tenants.isEmpty) {
      const { tenant } = exchange;
      return tenant === '' || tenant === main.tenant ? main : this.#onOtherNode(exchange, tenant);
    }
    const isNode = exchange.nodeProof !== '' && this.#isNode(exchange, false);
    const caller = this.keys.active ? this.#authentication.security.know(exchange) : undefined;
    if (this.keys.active && caller === undefined && !isNode) return main;
    const name = exchange.tenant || caller?.tenant;
    return name ? (this.#tenants.find(name) ?? this.#onOtherNode(exchange, name)) : main;
  }

  /** Returns a handler that forwards to other members, or refuses the tenant if there are none. */
  #onOtherNode({ forwardedProgram, nodeProof }: Exchange, tenant: string): DatabaseRequestHandler {
    const { config, nodes } = this.options;
    const { wait_timeout: waitMs } = config.cluster;
    const main = this.#main;
    const members = this.#otherMembers;
    const hasMembers = members.length > 0 && forwardedProgram === '' && nodeProof === '';
    if (!hasMembers) return unknownTenant(main, tenant);
    return tenantOnOtherNode({ main, tenant, members, calls: nodes!.calls, waitMs });
  }

  /** Number of running calls. */
  get inFlight(): number {
    return this.#reception.inFlight;
  }

  /** Reads the project's prompts again. */
  reloadPrompts(): void {
    this.#main.mcp.reload();
    this.#tenants?.reloadPrompts();
  }

  readiness(): Readiness {
    return this.#main.readiness();
  }

  #runMaintenance(): void {
    const expired = this.#authentication.runMaintenance();
    this.#main.runMaintenance(expired);
    this.#tenants?.runMaintenance(expired);
    this.#warnPipelining();
    const { exit_when_idle: idleLimit } = this.options.config.server;
    if (this.#threadPool !== undefined)
      this.#reception.markActive(this.#threadPool.counts.lastRequestAt);
    const isNeeded = this.phase !== 'serving' || this.#listeners > 0;
    if (idleLimit > 0 && !isNeeded && this.#reception.idleMs > idleLimit) this.options.onIdle?.();
  }

  /** Number of MCP clients that wait for change notifications. */
  get #listeners(): number {
    return this.#main.mcp.listeners + (this.#tenants?.listeners ?? 0);
  }

  /** Logs how many connections were closed because of pipelining, at most once a minute. */
  #warnPipelining(): void {
    const { pipelinedClosed } = this.#counts;
    const now = performance.now();
    if (pipelinedClosed === this.#pipelinedWarned || now < this.#nextWarningAt) return;
    const connections = pipelinedClosed - this.#pipelinedWarned;
    this.#pipelinedWarned = pipelinedClosed;
    this.#nextWarningAt = now + warnIntervalMs;
    const reason =
      'connections were closed: their clients sent a request before the one before it was ' +
      'answered, which uWebSockets.js cannot keep; server.transport = "node" can';
    this.options.log('warn', reason, { connections });
  }

  /** Reads keys and TLS files again, on SIGHUP. */
  renew(): void {
    this.#runMaintenance();
    const { config, log } = this.options;
    if (config.tls.cert === '') return;
    try {
      tlsFiles(config, log);
      if (!this.#transport.renewTls()) log('warn', 'new TLS files take effect after a restart');
    } catch (error) {
      log('error', 'TLS files not reloaded; the previous certificate stays in use', {
        reason: reasonOf(error),
      });
    }
  }

  #buildLabels(): Record<string, string> {
    const { version, config } = this.options;
    const { name } = this.#transport;
    return { version, node: process.versions.node, transport: name, compat: config.compat };
  }

  /** Transport counts, summed over all threads that take connections. */
  get #counts(): TransportCounts {
    return this.#threadPool?.counts.totals() ?? this.#transport.counts;
  }

  #samples(): ServerSample[] {
    const counts = this.#counts;
    const samples: ServerSample[] = [
      { name: 'build_info', labels: this.#buildLabels(), value: 1 },
      { name: 'http_threads', value: this.#threadPool?.serving ?? 1 },
      { name: 'http_thread_restarts_total', value: this.#threadPool?.restarts ?? 0 },
      { name: 'requests_in_flight', value: this.inFlight },
      { name: 'connections', value: counts.connections },
      { name: 'connections_max', value: this.#connectionsMax },
      { name: 'requests_aborted_total', value: counts.aborted },
      { name: 'pipelined_closed_total', value: counts.pipelinedClosed },
      { name: 'buffered_body_bytes', value: counts.bufferedBodyBytes },
      { name: 'buffered_response_bytes', value: counts.bufferedResponseBytes },
    ];
    samples.push(
      ...this.#runtime.samples(),
      ...this.#authentication.audit.samples(),
      ...(this.#tenants?.samples() ?? []),
      limitHit('connections', counts.connectionsRefused),
      limitHit('connections_per_address', counts.sharesRefused),
      limitHit('receive_time', counts.receiveTimeouts),
      limitHit('buffered_response_bytes', counts.nonReadersClosed),
    );
    return samples;
  }

  /** Takes no new connections, and gives running calls `ms` milliseconds to finish. */
  async drain(ms: number): Promise<void> {
    this.phase = 'stopping';
    this.#transport.stopListening();
    this.#main.mcp.endStreams();
    this.#tenants?.endStreams();
    const latest = performance.now() + ms;
    await this.#reception.drain(ms);
    // Large responses may still be on their way to slow readers.
    while (this.#counts.bufferedResponseBytes > 0 && performance.now() < latest) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#maintenance);
    this.#runtime.stop();
    this.#authentication.close();
    // With one thread nothing is awaited: the listener is closed when this returns.
    if (this.#threadPool !== undefined) await this.#threadPool.close();
    this.#transport?.close();
  }

  /** Returns the warnings that are logged at start. */
  warnings(): string[] {
    return [...this.#deafWarnings(), ...this.#authentication.warnings()];
  }

  /** Warnings about configured keys that the transport in use ignores. */
  #deafWarnings(): string[] {
    if (!this.#hasSet('server.idle_time') || this.#transport?.name !== 'uws') return [];
    return [
      'server.idle_time has no effect on uWebSockets.js, which ends an idle connection after 10 s; ' +
        'server.transport = "node" keeps to it',
    ];
  }
}

/**
 * Returns the limits of the transport. All requests through a proxy come from one address, so that bound is
 * lifted.
 */
function transportLimits({ limits, server }: Config): Config['limits'] {
  return server.trust_proxy ? { ...limits, connections_per_address: 0 } : limits;
}

function limitHit(limit: string, value: number): ServerSample {
  return { name: 'limit_hits_total', labels: { limit }, value };
}

function canShare(transport: Transport): transport is SharedListener {
  return transport.name === 'uws';
}
