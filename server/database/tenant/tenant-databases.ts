// The databases of tenants. Each has its own service. It is opened at the first request, and closed after a
// long idle time or when another database needs its slot (admission-queue.ts). Invariant: at most
// `tenants.max_open` are open at the same time. In a cluster all are always open, because they follow their
// logs.
import {
  type Database,
  Gatherer,
  Histogram,
  type OpenDatabase,
  type Program,
  type Shard,
  excerpt,
  fail,
} from '../../../engine/internal.js';
import type { Action } from '../../handlers/admin-handler.js';
import { type Config, shardName } from '../../config/config.js';
import { databaseOptions } from '../../config/database-options.js';
import {
  isConfiguredTenant,
  programFor,
  shardsOf,
  tenantConfig,
} from '../../config/tenant-config.js';
import {
  addToTenantFile,
  checkMayDrop,
  dropFromTenantFile,
  tenantFolder,
} from '../../config/tenant-file.js';
import type { ServerSample } from '../../telemetry/metric-definitions.js';
import type { Log } from '../../telemetry/log.js';
import type { DatabaseRequestHandler } from '../../pipeline/request-pipeline.js';
import type { NodeClient } from '../../cluster/node-client.js';
import { Routes } from '../../pipeline/router.js';
import { type Member, handOver, ranked, readMembers } from '../../cluster/placement.js';
import { gatheringDatabase } from '../../cluster/shard/scatter-gather.js';
import { DatabaseService, type DatabaseServiceOptions } from '../database-service.js';
import { shardReplicas } from '../../cluster/shard/shard-replicas.js';
import { OnDemandDatabase, reasonOf } from '../pool/on-demand-database.js';
import { AdmissionQueue } from '../pool/admission-queue.js';

export interface TenantOptions {
  /** Program of the project. */
  program: Program;
  openDatabase: OpenDatabase;
  /** Returns the cluster tasks of one tenant; absent outside a cluster. */
  nodesFor?: (config: Config) => TenantNodes;
  /** Returns the operator actions on one database. */
  actionsFor: (
    config: Config,
    database: () => Database,
    nodes: TenantNodes | undefined,
  ) => ReadonlyMap<string, Action>;
}

/** The cluster tasks of one tenant's database. */
export interface TenantNodes {
  readonly calls: NodeClient;
  /** Fetches the data of another node if there are none. */
  prepare(wanted: { onProgress: (progress: number) => void; isOver: () => boolean }): Promise<void>;
  /** Starts the tasks when the database is open. */
  begin(database: Database): void;
  close(): void;
}

/** A tenant as `trellis tenants list` shows it. */
export interface TenantState {
  name: string;
  state: 'open' | 'closed';
  /** Whether the tenant is configured, or was added to the server. */
  source: 'configuration' | 'added';
}

/** Milliseconds between two checks whether another node is better placed to lead. */
const placementIntervalMs = 10_000;

interface Tenant {
  /** Whether it stays open as long as the server runs: in a cluster, or as a shard. */
  stays: boolean;
  service: TenantService;
  nodes: TenantNodes | undefined;
  database: OnDemandDatabase;
}

/** The service of a database that may be closed. */
class TenantService extends DatabaseService {
  constructor(
    options: DatabaseServiceOptions,
    private readonly onDemand: OnDemandDatabase,
  ) {
    super(options);
  }

  ensureOpen(): Promise<void> | undefined {
    return this.onDemand.ensureOpen();
  }
}

export class Tenants {
  readonly #tenants = new Map<string, Tenant>();
  readonly #seconds = new Histogram();
  readonly #admission: AdmissionQueue;
  #port = 0;
  #isOver = false;
  readonly #members: Member[];
  #placing: NodeJS.Timeout | undefined;
  /** Data directories by name: the configured ones, and the changes since the start. */
  readonly #databases: Map<string, string>;
  /** The newest program of the project. */
  #program: Program;
  /** Names that are being dropped. They take no requests. */
  readonly #dropping = new Set<string>();

  constructor(
    private readonly options: Omit<DatabaseServiceOptions, 'title' | 'serverSamples' | 'actions'> &
      TenantOptions,
  ) {
    this.#members = readMembers(options.config.cluster.members);
    const { max_open: max } = options.config.tenants;
    this.#admission = new AdmissionQueue(max, (name) => this.#tenants.get(name)!.database);
    this.#databases = new Map(options.config.databases);
    this.#program = options.program;
    for (const name of this.#databases.keys()) this.#tenants.set(name, this.#make(name));
  }

  #make(name: string): Tenant {
    const { options } = this;
    const config = tenantConfig({ ...options.config, databases: this.#databases }, name);
    const log: Log = (level, message, fields) =>
      options.log(level, message, { tenant: name, ...fields });
    const nodes = config.cluster.log === '' ? undefined : options.nodesFor?.(config);
    const isFixed = config.cluster.log !== '' || config.shard !== undefined;
    const applyProgram = (): void => service.applyProgram();
    const database: OnDemandDatabase = new OnDemandDatabase({
      tenant: name,
      program: programFor(config, this.#program),
      open: async (program) => {
        await nodes?.prepare({ onProgress: () => undefined, isOver: () => this.#isOver });
        const opened = await this.#open({
          ...databaseOptions(config, this.#program, log, service.metrics.embedding),
          program,
          onProgram: applyProgram,
        });
        nodes?.begin(opened);
        return opened;
      },
      acquireSlot: async () => (isFixed ? undefined : this.#admission.take(name)),
      onSlotFree: () => this.#admission.releaseSlot(name),
      onProgram: applyProgram,
      warn: (message, reason) => log('warn', message, { reason }),
    });
    const actions = options.actionsFor(config, () => database, nodes);
    const service: TenantService = new TenantService(
      {
        ...options,
        config,
        log,
        actions,
        title: name,
        serverSamples: () => [],
        ...(nodes && { nodes }),
      },
      database,
    );
    return {
      service,
      nodes,
      database,
      stays: isFixed,
    };
  }

  async #open(options: Parameters<OpenDatabase>[0]): Promise<Database> {
    const started = performance.now();
    const database = await this.options.openDatabase(options);
    this.#seconds.observe((performance.now() - started) / 1000);
    if (this.#port > 0) database.notePort(this.#port);
    return database;
  }

  get #all(): Tenant[] {
    return [...this.#tenants.values()];
  }

  find(name: string): DatabaseRequestHandler | undefined {
    return this.#dropping.has(name) ? undefined : this.#tenants.get(name)?.service;
  }

  get isEmpty(): boolean {
    return this.#tenants.size === 0;
  }

  /** Returns every tenant, without the shards of scattered types. */
  list(): TenantState[] {
    const { config } = this.options;
    return this.#all
      .filter(({ service }) => service.config.shard === undefined)
      .map(({ service: { tenant }, database }) => ({
        name: tenant,
        state: database.isOpen ? 'open' : 'closed',
        source: isConfiguredTenant(config, tenant) ? 'configuration' : 'added',
      }));
  }

  /** Adds a tenant without a restart. Fails PARAM_VALUE if the name is invalid or in use. */
  async add(name: string): Promise<void> {
    const { dataDir } = this.options.config;
    await addToTenantFile(dataDir, name, this.#databases);
    this.#databases.set(name, tenantFolder(dataDir, name));
    const tenant = this.#make(name);
    this.#tenants.set(name, tenant);
    tenant.service.attach(tenant.database);
  }

  /**
   * Waits for the calls of an added tenant, closes its database and deletes its data. Fails TENANT_UNKNOWN,
   * PARAM_VALUE for a configured tenant, or OVERLOADED during a bulk load.
   */
  async drop(name: string): Promise<void> {
    const { dataDir } = this.options.config;
    checkMayDrop(dataDir, name, this.#databases);
    const { service, database } = this.#tenants.get(name)!;
    if (database.isLoading) fail('OVERLOADED', { queue: `The import into ${name}` });
    this.#dropping.add(name);
    try {
      service.mcp.endStreams();
      if (!(await database.drain())) fail('OVERLOADED', { queue: `The import into ${name}` });
      await database.close({ snapshot: false });
      this.#admission.releaseSlot(name);
      await dropFromTenantFile(dataDir, name, this.#databases);
      this.#tenants.delete(name);
      this.#databases.delete(name);
    } finally {
      this.#dropping.delete(name);
    }
  }

  /** Resolves when all databases that must stay open are open. */
  async begin(port: number): Promise<void> {
    this.#port = port;
    for (const { service, database, stays } of this.#all) {
      // `attach` needs the node of the cluster, which exists when the database is open.
      if (stays) await database.ensureOpen();
      service.attach(database);
    }
    if (this.#members.length === 0 || this.options.config.cluster.log === '') return;
    this.#placing = setInterval(() => void this.runPlacement(), placementIntervalMs).unref();
  }

  /** Hands over leadership to nodes that are better placed. */
  async runPlacement(): Promise<void> {
    for (const { service, database, nodes } of this.#all) {
      const { cluster: node } = database;
      if (node === undefined || nodes === undefined) continue;
      await handOver(service.tenant, node, this.#members, nodes.calls);
    }
  }

  get #follows(): boolean {
    return this.options.config.cluster.log !== '';
  }

  /**
   * Checks that all shards of scattered types accept a program, since either all of them use it or none.
   * Fails SCHEMA_INCOMPATIBLE.
   */
  async tryShards(program: Program): Promise<void> {
    for (const { service, database } of this.#follows ? [] : this.#all) {
      // A closed shard checks the program when it is opened.
      if (service.config.shard === undefined || !database.isOpen) continue;
      const { refusal } = await database.preview(programFor(service.config, program));
      if (refusal === undefined) continue;
      const what = `${service.tenant}: ${refusal.message}`;
      fail(
        'SCHEMA_INCOMPATIBLE',
        { what },
        refusal.hint === undefined ? {} : { hint: refusal.hint },
      );
    }
  }

  /** Applies the program. A tenant whose data refuse it keeps its previous one. */
  async reload(program: Program): Promise<void> {
    this.#program = program;
    for (const { service, database } of this.#follows ? [] : this.#all) {
      try {
        await database.reload(programFor(service.config, program));
      } catch (error) {
        const reason = reasonOf(error);
        this.options.log('warn', 'tenant keeps its previous schema and queries', {
          tenant: service.tenant,
          reason,
        });
      }
    }
  }

  /** Returns the main database with its queries about scattered types sent to their shards. */
  gathering(main: Database): Database {
    const { cluster, limits, scatter, sharding } = this.options.config;
    if (scatter.size === 0) return main;
    const shards = new Map<string, Shard[]>();
    for (const { type, at } of shardsOf(this.options.config)) {
      const name = shardName(type, at);
      const { database, nodes } = this.#tenants.get(name)!;
      const others = ranked(name, this.#members).filter(({ node }) => node !== cluster.node);
      const options = { name, database, others, waitMs: cluster.wait_timeout };
      const replicas =
        nodes === undefined ? [database] : shardReplicas({ ...options, calls: nodes.calls });
      shards.set(type, [...(shards.get(type) ?? []), replicas]);
    }
    const gatherer = new Gatherer({
      shards: (type) => shards.get(type)!,
      limits,
      // The options of the main database name the models of all types.
      embed: (...args) => main.embed(...args),
      claim: (name, body, options) => main.call(name, body, options),
      hedgeMs: sharding.hedge_after,
      waitMs: cluster.wait_timeout,
    });
    return gatheringDatabase(main, gatherer);
  }

  runMaintenance(expiredKeys: readonly string[]): void {
    const { idle_timeout: idleMaxMs } = this.options.config.tenants;
    for (const { service, database, stays } of this.#all) {
      service.runMaintenance(expiredKeys);
      if (!stays && database.idleMs > idleMaxMs) void this.#admission.evict(service.tenant);
    }
  }

  reloadPrompts(): void {
    for (const { service } of this.#all) service.mcp.reload();
  }

  endStreams(): void {
    for (const { service } of this.#all) service.mcp.endStreams();
  }

  get listeners(): number {
    return this.#all.reduce((sum, { service }) => sum + service.mcp.listeners, 0);
  }

  samples(): ServerSample[] {
    if (this.isEmpty) return [];
    const open = this.#all.filter(({ database }) => database.isOpen).length;
    const closed = this.#tenants.size - open;
    return [
      { name: 'tenants', labels: { state: 'open' }, value: open },
      { name: 'tenants', labels: { state: 'closed' }, value: closed },
      ...this.#seconds.samples('tenant_open_seconds', {}),
    ];
  }

  async close(options: { snapshot: boolean }): Promise<void> {
    this.#isOver = true;
    this.#admission.close();
    clearInterval(this.#placing);
    for (const { nodes } of this.#all) nodes?.close();
    await Promise.all(this.#all.map(({ database }) => database.close(options)));
  }
}

/**
 * Returns the handler for a missing tenant: it refuses every request, after the same checks of the caller.
 */
export function unknownTenant(
  main: DatabaseRequestHandler,
  tenant: string,
): DatabaseRequestHandler {
  return {
    tenant,
    routes: noRoutes,
    metrics: main.metrics,
    requestLog: main.requestLog,
    consistency: undefined,
    unavailableReason: () => ({ code: 'TENANT_UNKNOWN', args: { tenant: excerpt(tenant) } }),
  };
}

const noRoutes = new Routes(
  new Map(),
  { find: () => undefined, failUnknown: () => fail('NOT_FOUND', { name: '', kind: 'MCP' }) },
  new Map(),
);
