// A server with three HTTP threads, and connections dealt out to them in turn, for the tests of HTTP threads.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection, type Reply } from '../support/server/http.js';
import { type Server, startServer } from '../support/server/server.js';

const source = (version: number) => `
N::Cell { UNIQUE INDEX name: String, value: I64 }
QUERY start() => c <- AddN<Cell>({name: "c", value: 0}) RETURN c::{value}
QUERY set(value: I64) => c <- N<Cell>({name: "c"})::UPDATE({value: value}) RETURN c::{value}
QUERY value() => c <- N<Cell>({name: "c"}) RETURN c::{value}
QUERY cell(name: String) => c <- N<Cell>({name: name}) RETURN c::{value}
QUERY version() => RETURN ${version}
`;

export const admin = { 'x-api-key': 'root-of-the-tests' };
export const connectionsMax = 40;

export class HttpThreadServer {
  private constructor(
    readonly server: Server,
    /** More than there are HTTP threads. */
    public open: Connection[],
  ) {}

  static async start(failpoint?: string): Promise<HttpThreadServer> {
    const server = await startServer({
      sources: { 'main.hx': source(1) },
      config: {
        'server.http_threads': 3,
        'limits.connections': connectionsMax,
        'server.watch': false,
      },
      env: {
        TRELLIS_API_KEY: 'root-of-the-tests',
        ...(failpoint && { TRELLIS_FAILPOINT: failpoint }),
      },
    });
    const subject = new HttpThreadServer(server, []);
    subject.open = await subject.connect(6);
    await subject.call(subject.at(0), 'start');
    return subject;
  }

  connect(count: number): Promise<Connection[]> {
    return Promise.all(Array.from({ length: count }, () => Connection.open(this.server.port)));
  }

  call(to: Connection, path: string, body: object = {}, headers = admin): Promise<Reply> {
    return to.request({ path, headers, body: JSON.stringify(body) });
  }

  at(place: number): Connection {
    return this.open[place % this.open.length]!;
  }

  async figures(lines: readonly RegExp[]): Promise<number[]> {
    const { text } = await this.server.client.request({
      method: 'GET',
      path: 'metrics',
      headers: admin,
    });
    return lines.map((line) => Number(line.exec(text)?.[1] ?? 0));
  }

  async figure(line: RegExp): Promise<number> {
    return (await this.figures([line]))[0]!;
  }

  /** Another program, in which `version` answers with its number. */
  async change(version: number): Promise<void> {
    writeFileSync(join(this.server.project, 'main.hx'), source(version));
    const reply = await this.server.client.request({ path: '_admin/reload', headers: admin });
    if (!reply.text.includes('"reloaded":true')) throw new RangeError(reply.text);
  }

  async dispose(): Promise<void> {
    for (const connection of this.open) connection.close();
    await this.server.dispose();
  }
}
