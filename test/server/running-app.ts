// An App over the fake database inside the test's own process, on a free port of a chosen
// transport.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpServer } from '../../server/lifecycle/http-server.js';
import { loadConfig } from '../../server/config/config.js';
import { SourceStatus } from '../../server/project/source-status.js';
import { createLog } from '../../server/telemetry/log.js';
import { hasUws } from '../support/server/has-uws.js';
import { FakeDatabase } from '../support/fake-database.js';
import {
  type Connection,
  Connection as Socket,
  type Reply,
  type Request,
} from '../support/server/http.js';

export const transports = (['uws', 'node'] as const).filter((name) => hasUws || name !== 'uws');
export type TransportName = (typeof transports)[number];

export interface RunningApp {
  app: HttpServer;
  port: number;
  database: FakeDatabase;
  folder: string;
  log: string[];
  connect(host?: string): Promise<Connection>;
  /** One request on a connection of its own. */
  request(request: Request): Promise<Reply>;
  /**
   * Sends bytes, gives everything that comes back until the peer closes or `ms` pass in silence.
   */
  raw(bytes: Buffer | string, ms?: number): Promise<{ text: string; closed: boolean }>;
  close(): void;
}

/** `settings`: configuration keys with their texts. `actions`: names under `/_admin/`, which do nothing. */
export async function startApp(
  transport: TransportName,
  settings: Record<string, string> = {},
  actions: readonly string[] = ['nothing'],
): Promise<RunningApp> {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-app-'));
  const flags = new Map(
    Object.entries({ 'server.port': '0', 'server.transport': transport, ...settings }),
  );
  const config = loadConfig({ projectDir: folder, flags, environment: {} });
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: (line) => lines.push(line) });
  const database = new FakeDatabase();
  const app = new HttpServer({
    config,
    log,
    version: '1.0.0',
    sources: new SourceStatus(),
    actions: new Map(actions.map((name) => [name, () => ({})])),
  });
  const port = await app.listen();
  app.attach(database);
  app.phase = 'serving';
  const connect = (host?: string) => Socket.open(port, host);
  return {
    app,
    port,
    database,
    folder,
    log: lines,
    connect,
    request: async (request) => {
      const connection = await connect();
      try {
        return await connection.request(request, 5_000);
      } finally {
        connection.close();
      }
    },
    raw: async (bytes, ms = 250) => {
      const connection = await connect();
      let text = '';
      connection.socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      connection.send(bytes);
      const closed = await connection.closed(ms);
      connection.close();
      return { text, closed };
    },
    close: () => {
      app.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
