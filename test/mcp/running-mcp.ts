// A server's App in this process over a database in memory, spoken to by the Model Context Protocol:
// queries run in the real executor, requests go through real sockets.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile } from '../../engine/lang/compile.js';
import type { Database } from '../../engine/database/database.js';
import type { Program } from '../../engine/plan/program.js';
import { loadConfig } from '../../server/config/config.js';
import { changeKeyFile } from '../../server/auth/key-file.js';
import { digestOf } from '../../server/auth/credential.js';
import { makeKey, type Role } from '../../server/auth/key-record.js';
import { SourceStatus } from '../../server/project/source-status.js';
import { createLog } from '../../server/telemetry/log.js';
import { HttpServer } from '../../server/lifecycle/http-server.js';
import { MemoryDatabase } from '../session/memory-database.js';
import { Client, type Reply } from '../support/server/http.js';

export const modern = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';

/** As the App wants it. */
function faceOf(database: MemoryDatabase): Database {
  const face = {
    get program() {
      return database.program;
    },
    call: database.call.bind(database),
    run: database.run.bind(database),
    embed: database.embed.bind(database),
    view: (look: (view: MemoryDatabase['view']) => unknown) => look(database.view),
    status: () => ({ phase: 'serving' as const, progress: 100, writes: true }),
    metrics: () => [],
    refusal: () => undefined,
  };
  return face as unknown as Database;
}

export interface Ask {
  headers?: Record<string, string | null>;
  key?: string;
  legacy?: boolean;
}

/** What came back, parsed; `text` as it came. */
export interface Told {
  status: number;
  text: string;
  reply: Reply;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks wherever it likes
  json: any;
}

export interface RunningMcp {
  app: HttpServer;
  database: MemoryDatabase;
  /** A request of the protocol, in one era or the other. */
  ask(method: string, params?: object, ask?: Ask): Promise<Told>;
  /** Any bytes to any path. */
  post(path: string, body: string | Buffer, headers?: Ask['headers']): Promise<Told>;
  client: Client;
  key(role: Role, queries?: string[]): string;
  /** As `trellis keys revoke`, and the server has noticed. */
  revoke(key: string): void;
  folder: string;
  port: number;
  /** Other sources take effect. */
  reload(source: string): void;
  close(): void;
}

const digestHex = (key: string): string => digestOf(key).toString('hex');

let lastId = 0;

function programOf(source: string): Program {
  const { program, diagnostics } = compile([{ path: 'main.hx', text: source }], { compat: false });
  if (program !== undefined) return program;
  throw new Error(JSON.stringify(diagnostics.filter(({ severity }) => severity === 'error')));
}

export async function startMcp(
  transport: 'uws' | 'node',
  source: string,
  settings: Record<string, string> = {},
): Promise<RunningMcp> {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-mcp-'));
  const keysFile = join(folder, 'keys.json');
  const all = {
    'server.port': '0',
    'server.transport': transport,
    'auth.keys_file': keysFile,
    ...settings,
  };
  const flags = new Map(Object.entries(all));
  const config = loadConfig({ projectDir: folder, flags, environment: {} });
  const database = new MemoryDatabase(programOf(source));
  const log = createLog({ level: 'error', format: 'json', write: () => {} });
  const app = new HttpServer({
    config,
    log,
    version: '1.0.0',
    actions: new Map(),
    sources: new SourceStatus(),
  });
  const port = await app.listen();
  app.attach(faceOf(database));
  app.phase = 'serving';
  const client = new Client(port);
  const post: RunningMcp['post'] = async (path, body, headers = {}) => {
    const type = { 'Content-Type': 'application/json', ...headers };
    const reply = await client.request({ method: 'POST', path, body, headers: type });
    // No session of the protocol is ever made, whoever asks for what [M02].
    if (reply.headers.has('mcp-session-id')) throw new Error(`a session was made: ${reply.text}`);
    const isJson = /^[{[]/.test(reply.text);
    const json = isJson ? JSON.parse(reply.text) : undefined;
    return { status: reply.status, text: reply.text, reply, json };
  };
  return {
    app,
    database,
    post,
    client,
    folder,
    port,
    reload: (source) => {
      database.program = programOf(source);
      app.applyProgram();
    },
    ask: (method, params = {}, { headers = {}, key, legacy } = {}) => {
      const name =
        (params as { name?: string; uri?: string }).name ?? (params as { uri?: string }).uri;
      const meta = { [`${prefix}protocolVersion`]: modern, [`${prefix}clientCapabilities`]: {} };
      const body = legacy ? params : { ...params, _meta: meta };
      const mirrored = {
        'MCP-Protocol-Version': modern,
        'Mcp-Method': method,
        ...(name !== undefined && { 'Mcp-Name': name }),
      };
      return post('mcp', JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params: body }), {
        ...(legacy ? {} : mirrored),
        ...(key !== undefined && { 'x-api-key': key }),
        ...headers,
      });
    },
    key: (role, queries) => {
      const name = `${role} ${(queries ?? []).join(' ')}`.trim();
      const made = makeKey({ name, role, ...(queries && { queries }) }, new Date());
      changeKeyFile(keysFile, (keys) => [...keys, made.record]);
      app.keys.refresh();
      return made.text;
    },
    revoke: (key) => {
      app.renew();
      changeKeyFile(keysFile, (keys) => keys.filter(({ digest }) => digest !== digestHex(key)));
      app.renew();
    },
    close: () => {
      client.close();
      app.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
