// A server's App in this process over a database in memory, spoken to by the Model Context Protocol:
// queries run in the real executor, requests go through real sockets.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile } from '../../engine/lang/compile.js';
import type { Database } from '../../engine/database/database.js';
import { loadConfig } from '../../server/config/config.js';
import { changeKeyFile, makeKey, type Role } from '../../server/auth/key-file.js';
import { createLog } from '../../server/observe/log.js';
import { App } from '../../server/process/app.js';
import { MemoryDatabase } from '../session/memory-database.js';
import { Client, type Reply } from '../support/server/http.js';

export const modern = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';

/** As the App wants it. */
class WholeDatabase extends MemoryDatabase {
  status() {
    return { phase: 'serving' as const, progress: 100, writes: true };
  }

  metrics() {
    return [];
  }
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
  app: App;
  database: MemoryDatabase;
  /** A request of the protocol, in one era or the other. */
  ask(method: string, params?: object, ask?: Ask): Promise<Told>;
  /** Any bytes to any path. */
  post(path: string, body: string | Buffer, headers?: Ask['headers']): Promise<Told>;
  client: Client;
  key(role: Role, queries?: string[]): string;
  close(): void;
}

let lastId = 0;

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
  const { program, diagnostics } = compile([{ path: 'main.hx', text: source }], { compat: false });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (program === undefined) throw new Error(JSON.stringify(errors));
  const database = new WholeDatabase(program);
  const log = createLog({ level: 'error', format: 'json', write: () => {} });
  const app = new App({ config, log, version: '1.0.0', actions: new Map() });
  const port = await app.listen();
  app.attach(database as unknown as Database);
  app.phase = 'serving';
  const client = new Client(port);
  const post: RunningMcp['post'] = async (path, body, headers = {}) => {
    const type = { 'Content-Type': 'application/json', ...headers };
    const reply = await client.request({ method: 'POST', path, body, headers: type });
    const isJson = /^[{[]/.test(reply.text);
    const json = isJson ? JSON.parse(reply.text) : undefined;
    return { status: reply.status, text: reply.text, reply, json };
  };
  return {
    app,
    database,
    post,
    client,
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
    close: () => {
      client.close();
      app.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
