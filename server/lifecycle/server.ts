// Runs `trellis serve`: the order of start and stop, the signals, and reloads. Controls the process while it
// serves. Invariant: the ready line is printed one time, after /readyz would respond with 200.
import { join, relative } from 'node:path';
import {
  type Database,
  type OpenDatabase,
  type Query,
  TrellisError,
  armFailpoint,
  fail,
} from '../../engine/internal.js';
import type { Action } from '../handlers/admin-handler.js';
import { HttpServer } from './http-server.js';
import { ClusterKeys } from '../cluster/membership/keys.js';
import { ClusterNodeService } from '../cluster/membership/cluster-node.js';
import { ClusterSettings } from '../cluster/membership/settings.js';
import type { Config, Environment } from '../config/config.js';
import { databaseOptions } from '../config/database-options.js';
import { programFor } from '../config/tenant-config.js';
import { databaseActions } from './database-actions.js';
import { readKeyChange } from '../cluster/membership/shared-keys.js';
import { changeTenants } from './tenant-actions.js';
import type { TenantOptions } from '../database/tenant/tenant-databases.js';
import { exitCodes, reportFailure } from './exit-code.js';
import { socketPathOf } from '../http/listen-socket.js';
import { type Log, createLog, printErrorLine, printLine } from '../telemetry/log.js';
import type { Metrics } from '../telemetry/metrics.js';
import { checkOpenFiles } from '../telemetry/open-files.js';
import { credentialLine, modelWarnings } from '../project/embedding-warnings.js';
import type { AnsweredCall } from '../pipeline/request-answerer.js';
import { Development } from './dev-mode.js';
import { countErrors, loadProgram, codeFrameOf, programOptions } from '../project/program.js';
import { createReloader, inBackground, type ReloadResult } from './reload.js';
import { ignoreInGit } from '../project/git-ignore.js';
import { playSeed } from '../project/seed.js';
import { SourceStatus } from '../project/source-status.js';
import { counted } from '../terminal/format.js';
import { notifySystemd } from './systemd-notify.js';
import { packageVersion } from './program-file.js';
import { type ProjectWatch, watchSources } from './file-watcher.js';

export interface ServeOptions {
  config: Config;
  environment: Environment;
  allowPreload: boolean;
  openDatabase: OpenDatabase;
  /** Set by `trellis dev`. `reread` returns the configuration as the files have it now. */
  dev?: { reread: () => Config };
}

/** Refuses process settings that make storage unsafe, before anything is opened. */
function checkEnvironment({ environment, allowPreload }: ServeOptions): void {
  if (environment.LMDB_RESTORE) {
    const what = 'LMDB_RESTORE is set: it makes storage open older data.';
    fail('CONFIG_INVALID', { what }, { hint: 'Unset it.' });
  }
  if (environment.LD_PRELOAD && !allowPreload) {
    const what = 'LD_PRELOAD is set: foreign code would run inside the server.';
    fail('CONFIG_INVALID', { what }, { hint: 'Unset it, or start with --allow-preload.' });
  }
  checkOpenFiles();
}

function compileSources(config: Config, log: Log, book: SourceStatus) {
  const compiled = loadProgram(programOptions(config));
  const { program, diagnostics } = compiled;
  for (const one of diagnostics) printErrorLine(codeFrameOf(one, compiled, process.stderr));
  if (program === undefined) {
    const errors = counted(countErrors(diagnostics), 'error');
    return fail('SOURCE_INVALID', { what: `The sources have ${errors}.` });
  }
  if (compiled.sources.length === 0)
    log('warn', 'the project has no .hx files; `trellis init` creates a project', {
      folder: config.projectDir,
    });
  else if (program.queries.length === 0) log('warn', 'the project has no queries');
  book.use(compiled);
  return program;
}

function formatOf({ log: { format } }: Config): 'json' | 'text' {
  return format === 'auto' ? (process.stderr.isTTY ? 'text' : 'json') : format;
}

/** Runs a server until it is stopped. Returns the exit code. */
export async function serve(options: ServeOptions): Promise<number> {
  const { config } = options;
  checkEnvironment(options);
  const log = createLog({ level: config.log.level, format: formatOf(config) });
  for (const note of config.notes) log('info', note);
  for (const line of config.renamed) log('warn', line);
  armFailpoint(config.failpoint);
  const started = performance.now();
  const sources = new SourceStatus();
  const program = compileSources(config, log, sources);
  const credentials = credentialLine(config, program);
  if (credentials !== undefined) log('info', credentials);
  const development = options.dev && new Development(config, log, options.dev.reread);
  const { openDatabase, environment } = options;
  const tenants = { program, openDatabase };
  const server = new Server(config, log, environment, sources, tenants, development);
  server.metrics.compileSeconds.observe((performance.now() - started) / 1000);
  const opening = server.open(() =>
    openDatabase({
      ...databaseOptions(config, program, log, server.metrics.embedding),
      onProgress: (progress, step) => server.noteProgress(step, progress),
      onProgram: () => server.applyProgram(),
    }),
  );
  // A bad or locked directory is reported before the port is opened.
  await Promise.race([opening, new Promise((resolve) => setImmediate(resolve))]);
  try {
    const port = await server.listen();
    const database = await opening;
    await server.begin(database, port);
  } catch (error) {
    await server.close();
    const database = await opening.catch(() => undefined);
    await database?.close({ snapshot: false });
    if (server.isStopping) return exitCodes.ok;
    throw error;
  }
  return server.ended;
}

/** One running server and the process around it. */
class Server {
  readonly #app: HttpServer;
  #database: Database | undefined;
  readonly #watches: ProjectWatch[] = [];
  #reload: (() => Promise<ReloadResult>) | undefined;
  #reloadSoon: () => void = () => undefined;
  #stopping = false;
  #snapshot = true;
  readonly #cluster: ClusterNodeService;
  readonly #clusterKeys: ClusterKeys;
  #open!: () => Promise<Database>;
  #end!: (code: number) => void;
  readonly ended = new Promise<number>((resolve) => {
    this.#end = resolve;
  });

  constructor(
    private readonly config: Config,
    private readonly log: Log,
    private readonly environment: Environment,
    private readonly sources: SourceStatus,
    tenants: Omit<TenantOptions, 'actionsFor'>,
    private readonly dev?: Development,
  ) {
    this.#cluster = new ClusterNodeService(config, log);
    const settings = new ClusterSettings(() => this.#database?.cluster);
    const { proof, calls, checks, roster } = this.#cluster;
    const services = { proof, calls, settings, checks, roster };
    const actions = databaseActions(config, () => this.#database, services);
    actions.set('reload', () => {
      checkLeads(this.#database);
      return this.#reload?.();
    });
    actions.set('tenants', (_, body) => changeTenants(config, this.#app.tenants, body));
    actions.set('cluster-keys', (_, body) => settings.changeKeys(readKeyChange(body)));
    this.#clusterKeys = new ClusterKeys({
      path: config.keysFile,
      settings,
      calls,
      log,
      onKeys: () => void this.#app.keys.refresh(),
    });
    const onAnswered = dev && ((call: AnsweredCall) => dev.noteCall(call));
    const onIdle = (): void => {
      log('info', 'exiting: no requests for server.exit_when_idle');
      this.#onStopSignal();
    };
    const version = packageVersion();
    const shared = { config, log, version, sources, nodes: this.#cluster, onAnswered, onIdle };
    this.#app = new HttpServer({
      ...shared,
      actions,
      tenants: {
        ...tenants,
        nodesFor: (one) => new ClusterNodeService(one, log),
        actionsFor: (one, database, nodes) =>
          this.#tenantActions(
            one,
            database,
            nodes instanceof ClusterNodeService ? nodes : this.#cluster,
          ),
      },
    });
    this.#installHandlers();
  }

  /**
   * Returns the actions of a tenant. In a cluster, its program comes through its log, so the leader of the
   * tenant reloads it.
   */
  #tenantActions(
    config: Config,
    database: () => Database,
    { calls, checks, roster }: Pick<ClusterNodeService, 'calls' | 'checks' | 'roster'>,
  ): Map<string, Action> {
    const settings = new ClusterSettings(() => database().cluster);
    const { proof } = this.#cluster;
    const actions = databaseActions(config, database, {
      proof,
      calls,
      settings,
      checks,
      roster,
    });
    if (config.cluster.log === '') return actions;
    const reload = (): Promise<ReloadResult> => {
      checkLeads(database());
      return createReloader({
        ...programOptions(config),
        database: database(),
        log: this.log,
        sources: new SourceStatus(),
        narrow: (program) => programFor(config, program),
        onApplied: () => undefined,
        onResult: () => undefined,
        onCompiled: () => undefined,
      })();
    };
    return actions.set('reload', reload);
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  get metrics(): Metrics {
    return this.#app.metrics;
  }

  /**
   * Opens the database with `open`. A node that needs the data of another node fetches them first.
   */
  async open(open: () => Promise<Database>): Promise<Database> {
    this.#open = open;
    await this.#cluster.prepare(this.#wanted);
    // If an empty directory were opened now, it would become a separate database.
    if (this.#stopping) fail('SHUTTING_DOWN');
    return open();
  }

  /** Callbacks while the node waits for a copy of another node's data. */
  get #wanted() {
    return {
      onProgress: (progress: number) => this.noteProgress('copying', progress),
      isOver: () => this.#stopping,
    };
  }

  /** Replaces the data with the copy that this node fetched from another one, and serves again. */
  async #takeCopy(keepAs: string | undefined, port: number): Promise<void> {
    if (this.#stopping) return;
    try {
      this.log('warn', 'this node continues with the data of another node', { keepAs });
      this.#app.phase = 'starting';
      for (const watch of this.#watches.splice(0)) watch.close();
      this.#clusterKeys.close();
      await this.#database?.close({ snapshot: false });
      this.#database = undefined;
      await this.#cluster.install(keepAs);
      const database = await this.#open();
      await this.#serve(database, port);
      this.#prepareReload(database);
      this.#app.phase = 'serving';
    } catch (error) {
      this.#end(reportFailure(error));
    }
  }

  /** Attaches an open database as the served one. */
  async #serve(database: Database, port: number): Promise<void> {
    this.#database = database;
    ignoreInGit(this.config.dataDir);
    if (this.#stopping) return this.#stop();
    if (port > 0) database.notePort(port);
    this.#app.attach(database);
    this.#clusterKeys.attach(database);
    this.#cluster.attach(database, this.#wanted, (keepAs) => void this.#takeCopy(keepAs, port));
  }

  /** Called when the cluster's log has delivered another program. */
  applyProgram(): void {
    this.#app.applyProgram();
    this.log('info', "applied the cluster's schema and queries");
  }

  listen(): Promise<number> {
    return this.#app.listen();
  }

  noteProgress(step: string, progress: number): void {
    this.#app.noteOpening(step, progress);
  }

  /** Goes from an open database to the ready line. */
  async begin(database: Database, port: number): Promise<void> {
    const { config, log } = this;
    await this.#serve(database, port);
    if (this.#stopping) return;
    // In a cluster, the data at its creation are the first data, so no seed is played.
    const calls = database.cluster ? 0 : await playSeed(config.projectDir, database);
    this.#prepareReload(database);
    const { program } = database;
    const warnings = [...this.#app.warnings(), ...modelWarnings(config, program)];
    for (const warning of warnings) log('warn', warning);
    this.dev?.writeTypes(program, this.sources.list().used.length);
    await this.#app.beginTenants(port);
    await this.#app.startHttpThreads();
    if (this.#stopping) return;
    this.#app.phase = 'serving';
    const url = urlOf(config, port);
    void notifySystemd('READY=1', this.environment);
    const { queries } = program;
    const tried = sample(queries, url);
    const isShown = this.dev?.showReady(program, url, tried, {
      reload: () => this.#reloadSoon(),
      types: () => this.dev?.writeTypes(database.program, this.sources.list().used.length, true),
      quit: () => this.#onStopSignal(),
    });
    if (!isShown) printLine(`trellis ready ${url}`);
    // At the first start, the address comes before this line.
    if (calls > 0) log('info', 'the empty database was filled from seed.ndjson', { calls });
    log('info', 'serving', { port, queries: queries.length, try: `curl -s ${tried}` });
  }

  #prepareReload(database: Database): void {
    const { config, log } = this;
    const { projectDir, queriesDir } = config;
    let credentials = credentialLine(config, database.program);
    const reload = createReloader({
      ...programOptions(config),
      database,
      log,
      show: formatOf(config) === 'text' ? printErrorLine : undefined,
      sources: this.sources,
      narrow: (program) => programFor(config, program),
      validate: (program) => this.#app.tryShards(program),
      onApplied: (program) => {
        this.#app.applyProgram();
        void this.#app.reloadTenants(program);
        this.dev?.writeTypes(database.program, this.sources.list().used.length);
        for (const line of modelWarnings(config, database.program)) log('warn', line);
        const credential = credentialLine(config, program);
        if (credential !== undefined && credential !== credentials) log('info', credential);
        credentials = credential;
      },
      onResult: (result) => this.#app.metrics.reloads.add(result),
      onCompiled: (seconds) => this.metrics.compileSeconds.observe(seconds),
    });
    this.#reload = reload;
    this.#reloadSoon = inBackground(reload);
    if (!config.server.watch) return;
    // Without a separate queries directory, only the project's own files are sources.
    const queries = join(projectDir, queriesDir);
    const folders = relative(projectDir, queries) === '' ? [projectDir] : [projectDir, queries];
    this.#watches.push(
      watchSources(folders, this.#reloadSoon),
      watchSources([join(projectDir, 'prompts')], () => this.#app.reloadPrompts(), '.md'),
    );
  }

  #installHandlers(): void {
    const { log } = this;
    process.on('SIGTERM', () => this.#onStopSignal());
    process.on('SIGINT', () => this.#onStopSignal());
    process.on('SIGHUP', () => {
      this.#app.renew();
      this.#reloadSoon();
    });
    process.on('SIGUSR2', () => {
      log('info', 'state', { ...this.#app.readiness() });
    });
    process.on('unhandledRejection', (error) => {
      // Storage also raises errors this way that it has already reported.
      this.#app.metrics.unhandledRejections++;
      log('error', 'unhandled rejection', { error });
    });
    process.on('uncaughtException', (error) => {
      log('error', 'uncaught exception: exiting', { error });
      void this.#endFatally();
    });
  }

  #onStopSignal(): void {
    if (this.#stopping) {
      this.#snapshot = false;
      return;
    }
    this.#stopping = true;
    // While the database still opens, `begin` stops it as soon as it is open.
    if (this.#database) void this.#stop();
  }

  async #stop(): Promise<void> {
    const { log, config } = this;
    log('info', 'stopping');
    const notified = notifySystemd('STOPPING=1', this.environment);
    try {
      for (const watch of this.#watches) watch.close();
      this.#clusterKeys.close();
      this.dev?.close();
      await this.#app.drain(config.server.drain_time);
      await this.#app.closeTenants({ snapshot: this.#snapshot });
      await this.#database?.close({ snapshot: this.#snapshot });
      await this.close();
      await notified;
      this.#end(exitCodes.ok);
    } catch (error) {
      this.#end(reportFailure(error));
    }
  }

  /**
   * Gives the writer `fatalMs` to end its transaction. Then SIGKILL ends the process, which cannot harm
   * storage.
   */
  async #endFatally(): Promise<void> {
    const timer = setTimeout(() => process.kill(process.pid, 'SIGKILL'), fatalMs);
    await this.#database?.close({ snapshot: false }).catch(() => undefined);
    await this.close();
    clearTimeout(timer);
    printErrorLine('INTERNAL: a defect ended the server. Report it with the lines above.');
    this.#end(exitCodes.internal);
  }

  async close(): Promise<void> {
    this.#clusterKeys.close();
    this.#cluster.close();
    await this.#app.closeTenants({ snapshot: false });
    await this.#app.close();
  }
}

/** In a cluster, the sources of the leader apply. Fails NOT_LEADER. */
function checkLeads(database: Database | undefined): void {
  const refusal = database?.cluster?.refusal;
  if (refusal !== undefined) throw new TrellisError(refusal);
}

const fatalMs = 2_000;

function urlOf({ server: { host }, tls }: Config, port: number): string {
  const scheme = tls.cert === '' ? 'http' : 'https';
  if (socketPathOf(host) !== undefined) return host;
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Returns a call that a new user can try immediately: a read without parameters, else `/introspect`.
 */
function sample(queries: readonly Query[], prefix: string): string {
  const socket = socketPathOf(prefix);
  const url = socket === undefined ? prefix : `--unix-socket ${socket} http://localhost`;
  const query = queries.find(({ plan }) => plan.parameters.length === 0 && !plan.writes);
  return query === undefined ? `${url}/introspect` : `-X POST ${url}/${query.name}`;
}
