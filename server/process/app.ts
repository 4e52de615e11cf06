// The running server put together: keys, security, routes, reception, transport, around a database
// that may still be opening. Owns the phase the server is in; serve.ts moves it from phase to
// phase.
import { basename } from 'node:path';
import { randomBytes } from 'node:crypto';
import { type Database, TrellisError, wallMs } from '../../engine/index.js';
import { isLoopback, listenAddresses } from '../http/address.js';
import { adHocEndpoint, adHocPaths } from '../endpoint/ad-hoc.js';
import { type Action, adminEndpoints } from '../endpoint/admin-handler.js';
import { exploreEndpoints } from '../endpoint/explore/endpoints.js';
import type { Config } from '../config/config.js';
import { type Readiness, type ServerPhase, refusalOf } from '../endpoint/health.js';
import { Keyring } from '../auth/keys.js';
import type { Log } from '../observe/log.js';
import type { SourceBook } from '../project/source-book.js';
import { type McpHandler, createMcpHandler } from '../endpoint/mcp-handler.js';
import { McpServer } from '../mcp/server.js';
import type { ServerSample } from '../observe/families.js';
import { Metrics } from '../observe/metrics.js';
import { type GuardPlans, queryEndpoints, toolRoutes } from '../endpoint/query-handler.js';
import { type Refusal, Reception } from '../request/reception.js';
import { RuntimeMetrics } from '../observe/runtime-metrics.js';
import { Routes } from '../request/routes.js';
import { Security } from '../auth/security.js';
import { SlowLog } from '../observe/slow-log.js';
import { tlsFiles } from './tls.js';
import { openTransport } from './open-transport.js';
import { type Transport, machineHasIpv6Loopback } from '../http/transport.js';

const storageReadMaxMs = 100;
const heartbeatMaxS = 5;
const housekeepingMs = 1_000;
/** A line about what clients do comes at most so often. */
const tellEveryMs = 60_000;

export interface AppOptions {
  config: Config;
  log: Log;
  version: string;
  /** `POST /_admin/<name>`. */
  actions: ReadonlyMap<string, Action>;
  /** Nobody has needed the server for `server.exit_when_idle`. */
  onIdle?: () => void;
  /** The sources in use, and those that were refused. */
  sources: SourceBook;
  /** For `trellis dev`: pages of this machine may call, and refused requests are told. */
  onRefusal?: ((request: Refusal) => void) | undefined;
}

export class App {
  phase: ServerPhase = 'starting';
  /** What the opening database is at, and how far: 0 to 100. */
  opening = { step: 'opening', progress: 0 };
  readonly metrics = new Metrics();
  readonly keys: Keyring;
  readonly #slowLog = new SlowLog();
  readonly #runtime = new RuntimeMetrics();
  #database: Database | undefined;
  #sessions: McpHandler | undefined;
  readonly #mcp: McpServer;
  readonly #security: Security;
  #routes!: Routes;
  #reception!: Reception;
  #transport!: Transport;
  #housekeeping: NodeJS.Timeout | undefined;
  #pipelinedTold = 0;
  #tellAgainAt = 0;

  constructor(private readonly options: AppOptions) {
    const { config } = options;
    this.keys = new Keyring(config.keysFile, config.auth.api_key);
    this.#security = this.#makeSecurity();
    this.#mcp = this.#makeMcp();
    this.#routes = this.#makeRoutes();
  }

  /** Opens the listener; health routes answer from now on. Fails PORT_IN_USE. Gives the port. */
  async listen(): Promise<number> {
    const { config, log } = this.options;
    this.#reception = new Reception({
      security: this.#security,
      routes: this.#routes,
      metrics: this.metrics,
      slowLog: this.#slowLog,
      log,
      slowMs: config.log.slow_ms,
      accessShare: config.log.access,
      closedBy: () => this.#refusal(),
      onRefusal: this.options.onRefusal,
    });
    const tls = tlsFiles(config, log);
    this.#transport = await openTransport(
      config.server.transport,
      {
        receiver: this.#reception,
        limits: config.limits,
        idleMs: config.server.idle_time,
        ...(tls && { tls }),
      },
      log,
    );
    this.#runtime.start();
    this.#housekeeping = setInterval(() => this.#keepHouse(), housekeepingMs);
    this.#housekeeping.unref();
    const { host, port } = config.server;
    return this.#transport.listen(listenAddresses(host, machineHasIpv6Loopback()), port);
  }

  /** Takes the opened database: queries are served once `phase` is `serving`. */
  attach(database: Database): void {
    const { config } = this.options;
    this.#database = database;
    this.#sessions = createMcpHandler({
      database,
      limits: config.limits,
      now: () => performance.now(),
      randomBytes,
      schemaFormat: config.sessions.schema_format,
      compat: config.compat === 'helix-2',
      textEnabled: config.text.enabled,
      enabled: config.sessions.enabled,
    });
    this.adoptProgram();
  }

  /** Makes the routes follow the database's program. */
  adoptProgram(): void {
    const { limits } = this.options.config;
    // Plans and counts are the operator's to see.
    const guard: GuardPlans = (exchange, caller, query) =>
      this.#security.checkAccess(exchange, caller, { access: 'admin', query });
    this.#routes.replaceQueries(queryEndpoints(this.#opened(), limits, this.metrics, guard));
    this.#mcp.adopt();
  }

  #makeRoutes(): Routes {
    const { config, version, actions, sources } = this.options;
    const shared = {
      version,
      title: basename(config.projectDir),
      hasKeys: () => this.keys.active,
      metrics: this.metrics,
      database: () => this.#opened(),
      readiness: () => this.readiness(),
      samples: () => this.#samples(),
    };
    const admin = adminEndpoints({
      ...shared,
      compat: config.compat === 'helix-2',
      explorer: config.server.explorer,
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
      limits: config.limits,
      metrics: this.metrics,
    });
    const adHoc = adHocEndpoint({
      enabled: config.server.adhoc,
      database: () => this.#opened(),
      limits: config.limits,
      strict: config.server.strict_members,
      metrics: this.metrics.route(adHocPaths[0]),
    });
    const fixed = new Map([...admin.fixed, ...explore.fixed]);
    const adHocs = adHocPaths.map((path) => [path, adHoc] as const);
    const all = new Map([...admin.actions, ...explore.actions, ...adHocs]);
    return new Routes(fixed, tools, all, this.#mcp.endpoint);
  }

  /** Calls under way. */
  get inFlight(): number {
    return this.#reception.inFlight;
  }

  /** Reads the project's prompts again. */
  adoptPrompts(): void {
    this.#mcp.adopt();
  }

  #makeMcp(): McpServer {
    const { config, version, log, onRefusal } = this.options;
    return new McpServer({
      version,
      config,
      isFresh: onRefusal !== undefined,
      warn: (line) => log('warn', line),
      database: () => {
        const refusal = this.#refusal();
        if (refusal !== undefined) throw new TrellisError(refusal);
        return this.#opened();
      },
      sessions: () => this.#sessions!,
      hasKeys: () => this.keys.active,
      metrics: this.metrics,
    });
  }

  #makeSecurity(): Security {
    const { config } = this.options;
    return new Security({
      keys: this.keys,
      host: config.server.host,
      allowedHosts: config.server.allowed_hosts,
      corsOrigins: config.cors.origins,
      loopbackOrigins: this.options.onRefusal !== undefined,
      insecureNoAuth: config.server.insecure_no_auth,
      trustProxy: config.server.trust_proxy,
      secure: config.tls.cert !== '',
      limits: config.limits,
      onAuthFailure: (reason) => this.metrics.authFailures.add(reason),
    });
  }

  #opened(): Database {
    if (this.#database === undefined) throw new TrellisError(this.#refusal()!);
    return this.#database;
  }

  #refusal() {
    const { phase } = this;
    // Asked for every request: nothing is allocated while all is well.
    const status = this.#database?.status();
    if (phase === 'serving' && status?.phase !== 'lost') return undefined;
    return refusalOf({ phase, status, checks: {}, opening: this.opening });
  }

  readiness(): Readiness {
    const database = this.#database;
    const status = database?.status();
    const checks: Record<string, boolean> = { replayed: this.phase !== 'starting' };
    if (database !== undefined && status?.phase === 'serving') {
      checks.storage_read = readsInTime(database);
      checks.writer = (status.heartbeatAge ?? 0) < heartbeatMaxS;
      checks.data_file = true;
    }
    return { phase: this.phase, status, checks, opening: this.opening };
  }

  #keepHouse(): void {
    this.#sessions?.sweep(performance.now());
    try {
      if (this.keys.refresh()) this.options.log('info', 'the key file was read again');
    } catch (error) {
      this.options.log('error', 'the key file was not read; the old keys stay', { error });
    }
    for (const keyId of this.keys.lapsed(wallMs())) {
      this.#sessions?.dropKey(keyId);
      this.#mcp.dropKey(keyId);
    }
    this.#tellPipelining();
    const { exit_when_idle: most } = this.options.config.server;
    const isNeeded = this.phase !== 'serving' || this.#mcp.listeners > 0;
    if (most > 0 && !isNeeded && this.#reception.idleMs > most) this.options.onIdle?.();
  }

  /** Says how clients lost their connections, at most once a minute. */
  #tellPipelining(): void {
    const { pipelinedClosed } = this.#transport.counts;
    const now = performance.now();
    if (pipelinedClosed === this.#pipelinedTold || now < this.#tellAgainAt) return;
    const connections = pipelinedClosed - this.#pipelinedTold;
    this.#pipelinedTold = pipelinedClosed;
    this.#tellAgainAt = now + tellEveryMs;
    const reason =
      'connections were closed: their clients sent a request before the one before it was ' +
      'answered, which uWebSockets.js cannot keep; server.transport = "node" can';
    this.options.log('warn', reason, { connections });
  }

  /** SIGHUP: keys and TLS files are read again. */
  renew(): void {
    this.#keepHouse();
    if (this.options.config.tls.cert !== '' && !this.#transport.renewTls()) {
      this.options.log('warn', 'new TLS files take effect after a restart');
    }
  }

  #buildLabels(): Record<string, string> {
    const { version, config } = this.options;
    const { name } = this.#transport;
    return { version, node: process.versions.node, transport: name, compat: config.compat };
  }

  #samples(): ServerSample[] {
    const { counts } = this.#transport;
    const samples: ServerSample[] = [
      { name: 'build_info', labels: this.#buildLabels(), value: 1 },
      { name: 'in_flight', value: this.inFlight },
      { name: 'connections', value: counts.connections },
      { name: 'aborted_total', value: counts.aborted },
      { name: 'pipelined_closed_total', value: counts.pipelinedClosed },
      { name: 'buffered_body_bytes', value: counts.bufferedBodyBytes },
      { name: 'buffered_response_bytes', value: counts.bufferedResponseBytes },
    ];
    samples.push(
      ...this.#runtime.samples(),
      ...this.#mcp.samples(),
      limitHit('connections', counts.connectionsRefused),
      limitHit('receive_time', counts.receiveTimeouts),
      limitHit('buffered_response_bytes', counts.nonReadersClosed),
    );
    return [...samples, ...(this.#sessions?.metrics() ?? []), ...(this.#database?.metrics() ?? [])];
  }

  /** No new connections; calls in flight get `ms` to end. */
  async drain(ms: number): Promise<void> {
    this.phase = 'stopping';
    this.#transport.stopListening();
    this.#mcp.endStreams();
    const latest = performance.now() + ms;
    await this.#reception.drain(ms);
    // Large answers are still on their way to slow readers.
    while (this.#transport.counts.bufferedResponseBytes > 0 && performance.now() < latest) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  close(): void {
    clearInterval(this.#housekeeping);
    this.#runtime.stop();
    this.#transport?.close();
  }

  /** What deserves a warning at start (http.md 8). */
  warnings(): string[] {
    const { config } = this.options;
    const warnings = this.#deafWarnings();
    if (this.keys.closed) {
      return [
        ...warnings,
        `nobody is answered: ${config.keysFile} holds no key; add one, or remove the file`,
      ];
    }
    if (isLoopback(config.server.host)) return warnings;
    if (!this.keys.active) {
      const open = config.server.insecure_no_auth;
      if (open) return [...warnings, 'everyone may do everything: there are no keys'];
      return [
        ...warnings,
        'protected mode: there are no API keys, so only this machine is answered',
      ];
    }
    if (config.tls.cert === '') warnings.push('API keys travel in clear text: TLS is off');
    return warnings;
  }

  /** Keys of the configuration that the transport in use does not hear. */
  #deafWarnings(): string[] {
    const set = this.options.config.settings.get('server.idle_time')!.source !== 'default';
    if (!set || this.#transport?.name !== 'uws') return [];
    return [
      'server.idle_time has no effect on uWebSockets.js, which ends an idle connection after 10 s; ' +
        'server.transport = "node" keeps to it',
    ];
  }
}

function limitHit(limit: string, value: number): ServerSample {
  return { name: 'limit_hits_total', labels: { limit }, value };
}

const nobody = new Uint8Array(16);

function readsInTime(database: Database): boolean {
  const before = performance.now();
  try {
    database.view((view) => view.idOf(nobody));
  } catch {
    return false;
  }
  return performance.now() - before < storageReadMaxMs;
}
