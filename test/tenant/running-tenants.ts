// A server with databases of tenants inside the test's process: real ones in a temporary folder, or fakes
// that record which of them was called.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, type OpenDatabase, type Program, compile } from '../../engine/internal.js';
import { writeKeyFile } from '../../server/auth/key-file.js';
import { digestOf } from '../../server/auth/credential.js';
import { type KeyRecord, idIn } from '../../server/auth/key-record.js';
import { type Config, loadConfig } from '../../server/config/config.js';
import { databaseOptions } from '../../server/config/database-options.js';
import { createLog } from '../../server/telemetry/log.js';
import { HttpServer } from '../../server/lifecycle/http-server.js';
import { ClusterNodeService } from '../../server/cluster/membership/cluster-node.js';
import { ConsistencyChecks } from '../../server/cluster/membership/consistency-check.js';
import { Roster } from '../../server/cluster/membership/known-nodes.js';
import { ClusterSettings } from '../../server/cluster/membership/settings.js';
import { databaseActions } from '../../server/lifecycle/database-actions.js';
import { SourceStatus } from '../../server/project/source-status.js';
import { NodeClient } from '../../server/cluster/node-client.js';
import { Client, type Reply } from '../support/server/http.js';

export interface RunningTenants {
  app: HttpServer;
  port: number;
  config: Config;
  log: string[];
  send(path: string, body: string, headers: Record<string, string>): Promise<Reply>;
  post(path: string, body: object, headers?: Record<string, string>): Promise<Reply>;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  close(): Promise<void>;
}

const keyOf = (text: string): KeyRecord => ({
  id: idIn(text)!,
  name: text,
  role: 'admin',
  created: '2026-01-01T00:00:00Z',
  digest: digestOf(text).toString('hex'),
});

/** What nodes of a cluster need besides. */
export interface MoreOfServer {
  nodesFor?: (config: Config) => ClusterNodeService;
  /** Before anything is opened. */
  prepare?: (config: Config, program: Program) => Promise<void>;
}

/** Keys by their text; `tenant`: whose. */
export interface GivenKey {
  text: string;
  tenant?: string;
}

export async function startTenants(
  source: string,
  openDatabase: OpenDatabase,
  settings: Record<string, string>,
  keys: readonly GivenKey[] = [],
  more: MoreOfServer = {},
): Promise<RunningTenants> {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-tenants-'));
  const flags = new Map(Object.entries({ 'server.port': '0', ...settings }));
  const config = loadConfig({ projectDir: folder, flags, environment: {} });
  if (keys.length > 0) {
    const records = keys.map(({ text, tenant }) => ({ ...keyOf(text), ...(tenant && { tenant }) }));
    writeKeyFile(config.keysFile, records);
  }
  const { program, diagnostics } = compile([{ path: 'main.hx', text: source }], {
    compat: false,
    ...(config.scatter.size > 0 && { scattered: new Set(config.scatter.keys()) }),
  });
  if (program === undefined) throw new Error(JSON.stringify(diagnostics));
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'json', write: (line) => lines.push(line) });
  await more.prepare?.(config, program);
  const nodes = more.nodesFor?.(config);
  const database = await openDatabase(databaseOptions(config, program as Program, log));
  const calls = nodes?.calls ?? new NodeClient({ secure: false });
  /** `part`: of whose database it is, as a node of its cluster. */
  const waysOf = (of: () => Database, part: ClusterNodeService | undefined) => ({
    proof: nodes?.proof,
    calls: part?.calls ?? calls,
    checks: part?.checks ?? new ConsistencyChecks({ calls, log, members: [] }),
    roster: part?.roster ?? new Roster({}, calls),
    settings: new ClusterSettings(() => of().cluster),
  });
  const app = new HttpServer({
    config,
    log,
    version: '1.0.0',
    actions: databaseActions(
      config,
      () => database,
      waysOf(() => database, nodes),
    ),
    sources: new SourceStatus(),
    ...(nodes && { nodes }),
    tenants: {
      program,
      openDatabase,
      actionsFor: (one, database, given) => {
        const part = given instanceof ClusterNodeService ? given : undefined;
        return databaseActions(one, database, waysOf(database, part));
      },
      ...(more.nodesFor && { nodesFor: more.nodesFor }),
    },
  });
  const port = await app.listen();
  app.attach(database);
  await app.beginTenants(port);
  app.phase = 'serving';
  const ask = async (
    method: string,
    path: string,
    body: string,
    headers: Record<string, string>,
  ): Promise<Reply> => {
    // Calls may be made at once: each has a connection of its own.
    const client = new Client(port);
    try {
      return await client.request({ method, path, body, headers });
    } finally {
      client.close();
    }
  };
  return {
    app,
    port,
    config,
    log: lines,
    send: (path, body, headers) => ask('POST', path, body, headers),
    post: (path, body, headers = {}) => ask('POST', path, JSON.stringify(body), headers),
    get: (path, headers = {}) => ask('GET', path, '', headers),
    close: async () => {
      await app.drain(1_000);
      await app.closeTenants({ snapshot: false });
      await database.close({ snapshot: false });
      await app.close();
      nodes?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
