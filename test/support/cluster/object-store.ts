// A small S3-compatible store in the process of a test, with faults on demand. Invariant: what it has said
// is done; of two that create one object, one is refused.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogAddress } from '../../../engine/cluster/log/replicated-log.js';
import { makeFolder } from '../project.js';

/** lose: does it and never says so · refuse: does nothing, says 503 */
export type StoreFault = 'lose' | 'refuse' | undefined;

interface Stored {
  bytes: Buffer;
  id: string;
}

export class ObjectStore {
  readonly objects = new Map<string, Stored>();
  /** Decides about each request; by default none has a fault. */
  fault: (method: string, key: string) => StoreFault = () => undefined;
  /** A store that is not one: it lets later writers win. */
  ignoresConditions = false;
  /** Objects whose removal is said, and not done. */
  keeps = false;

  private constructor(
    private readonly server: Server,
    private readonly tokenFile: string,
  ) {
    server.on('request', (request, reply) => void this.#take(request, reply));
  }

  static async open(): Promise<ObjectStore> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const tokenFile = join(makeFolder(), 'token');
    writeFileSync(tokenFile, 'id:secret', { mode: 0o600 });
    return new ObjectStore(server, tokenFile);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** `port`: of a proxy before it. */
  place(name: string, { port = this.port, pollMs = 5 } = {}): LogAddress {
    const url = `s3://bucket/logs?endpoint=http://127.0.0.1:${port}&poll=${pollMs}`;
    return { url, name, tokenFile: this.tokenFile, keepBytes: 1 << 30 };
  }

  /** Names of objects that hold `part`. */
  keys(part: string): string[] {
    return [...this.objects.keys()].filter((key) => key.includes(part)).sort();
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  async #take(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { pathname, searchParams } = new URL(request.url!, 'http://store');
    const key = pathname.replace('/bucket/', '');
    const fault = this.fault(request.method!, key);
    if (fault === 'refuse') {
      reply.writeHead(503).end();
      return;
    }
    const answer =
      key === '' ? this.#list(searchParams) : this.#object(request, key, Buffer.concat(pieces));
    if (fault === 'lose') reply.destroy();
    else reply.writeHead(answer.status, answer.headers).end(answer.body);
  }

  #object(
    { method, headers }: IncomingMessage,
    key: string,
    body: Buffer,
  ): { status: number; headers?: Record<string, string>; body?: Buffer | string } {
    const there = this.objects.get(key);
    if (method === 'PUT') {
      const isFree = headers['if-none-match'] !== '*' || this.ignoresConditions;
      if (there !== undefined && !isFree) return { status: 412 };
      this.objects.set(key, { bytes: body, id: String(headers['x-amz-meta-id']) });
      return { status: 200 };
    }
    if (method === 'DELETE') {
      if (!this.keeps) this.objects.delete(key);
      return { status: 204 };
    }
    if (there === undefined) return { status: 404 };
    const meta = { 'x-amz-meta-id': there.id };
    return { status: 200, headers: meta, ...(method === 'GET' ? { body: there.bytes } : {}) };
  }

  #list(query: URLSearchParams): {
    status: number;
    headers?: Record<string, string>;
    body: string;
  } {
    const [prefix, after] = [query.get('prefix') ?? '', query.get('start-after') ?? ''];
    const all = [...this.objects].filter(([key]) => key.startsWith(prefix) && key > after).sort();
    const most = Number(query.get('max-keys'));
    const entries = all
      .slice(0, most)
      .map(
        ([key, { bytes }]) => `<Contents><Key>${key}</Key><Size>${bytes.length}</Size></Contents>`,
      );
    const more = `<IsTruncated>${all.length > most}</IsTruncated>`;
    return { status: 200, body: `<ListBucketResult>${more}${entries.join('')}</ListBucketResult>` };
  }
}
