// A plain HTTP/1.1 client over a raw socket. It sends exactly the bytes it is given and reads one
// reply after another, so that tests see framing, pipelining and closed connections as they are.
import { connect, type Socket } from 'node:net';

export interface Reply {
  status: number;
  /** Names in lower case. */
  headers: Map<string, string>;
  body: Buffer;
  text: string;
}

export interface Request {
  method?: string;
  path: string;
  headers?: Record<string, string | null>;
  body?: Buffer | string;
}

/** The connection ended before a whole reply arrived. */
export class ConnectionClosed extends Error {
  override readonly name = 'ConnectionClosed';
}

/**
 * The bytes of one request. Default headers can be replaced, or removed with null; letter case is
 * kept.
 */
export function requestBytes(request: Request): Buffer {
  const body = Buffer.from(request.body ?? '');
  const headers = new Map<string, [string, string | null]>([
    ['host', ['Host', 'localhost']],
    ['content-type', ['Content-Type', 'application/json']],
    ['content-length', ['Content-Length', String(body.length)]],
  ]);
  for (const [name, value] of Object.entries(request.headers ?? {}))
    headers.set(name.toLowerCase(), [name, value]);
  const lines = [...headers.values()].filter(([, value]) => value !== null);
  const path = request.path.startsWith('/') ? request.path : `/${request.path}`;
  const head = [
    `${request.method ?? 'POST'} ${path} HTTP/1.1`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

function parseHead(head: string): { status: number; headers: Map<string, string> } {
  const lines = head.split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3})/.exec(lines[0] ?? '')?.[1];
  if (status === undefined) throw new Error(`no status line: ${lines[0]}`);
  const headers = new Map<string, string>();
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status: Number(status), headers };
}

/** One socket. Replies are taken in the order in which they arrive. */
export class Connection {
  /** The server has said that this connection ends. */
  last = false;
  private chunks: Buffer[] = [];
  private size = 0;
  private wake: (() => void) | undefined;
  ended = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk);
      this.size += chunk.length;
      this.wake?.();
    });
    const end = () => {
      this.ended = true;
      this.wake?.();
    };
    socket.on('close', end);
    socket.on('end', end);
    socket.on('error', end);
  }

  static open(port: number, host = '127.0.0.1'): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  send(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  close(): void {
    this.socket.destroy();
  }

  /** Resolves when the peer has closed, false when `timeoutMs` pass before. */
  async closed(timeoutMs: number): Promise<boolean> {
    const deadline = Date.now() + timeoutMs;
    while (!this.ended) if (!(await this.arrival(deadline))) return false;
    return true;
  }

  private arrival(deadline: number): Promise<boolean> {
    const left = deadline - Date.now();
    if (left <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), left);
      this.wake = () => {
        clearTimeout(timer);
        this.wake = undefined;
        resolve(true);
      };
    });
  }

  private buffered(): Buffer {
    if (this.chunks.length !== 1) this.chunks = [Buffer.concat(this.chunks)];
    return this.chunks[0]!;
  }

  private async fill(enough: () => boolean, deadline: number): Promise<void> {
    while (!enough()) {
      if (this.ended) throw new ConnectionClosed('closed before a whole reply');
      if (!(await this.arrival(deadline))) throw new Error('no reply in time');
    }
  }

  /** The next reply. `head`: it answers a HEAD request and has no body. */
  async reply(options: { timeoutMs?: number; head?: boolean } = {}): Promise<Reply> {
    const deadline = Date.now() + (options.timeoutMs ?? 60_000);
    await this.fill(() => this.size > 0 && this.buffered().includes('\r\n\r\n'), deadline);
    const all = this.buffered();
    const end = all.indexOf('\r\n\r\n');
    const { status, headers } = parseHead(all.toString('latin1', 0, end));
    this.consume(end + 4);
    if (status === 100) return this.reply(options);
    const body = await this.body(status, headers, options.head === true, deadline);
    this.last = headers.get('connection') === 'close';
    return { status, headers, body, text: body.toString('utf8') };
  }

  private async body(
    status: number,
    headers: Map<string, string>,
    head: boolean,
    deadline: number,
  ): Promise<Buffer> {
    if (head || status === 204 || status === 304) return Buffer.alloc(0);
    if (headers.has('transfer-encoding')) throw new Error('an answer is never chunked');
    const length = headers.get('content-length');
    if (length !== undefined) {
      await this.fill(() => this.size >= Number(length), deadline);
      return this.consume(Number(length));
    }
    // Only the transport's own error pages come without a length; they end with the connection.
    if (!(await this.closed(deadline - Date.now()))) throw new Error('no Content-Length');
    return this.consume(this.size);
  }

  private consume(count: number): Buffer {
    const all = this.chunks.length === 0 ? Buffer.alloc(0) : this.buffered();
    const taken = Buffer.from(all.subarray(0, count));
    this.chunks = [all.subarray(count)];
    this.size -= count;
    return taken;
  }

  async request(request: Request, timeoutMs?: number): Promise<Reply> {
    this.send(requestBytes(request));
    return this.reply({ timeoutMs, head: request.method === 'HEAD' });
  }
}

/** Keeps one connection to a server and opens another when it was closed. */
export class Client {
  private connection: Connection | undefined;
  constructor(
    readonly port: number,
    readonly host = '127.0.0.1',
  ) {}

  async open(): Promise<Connection> {
    if (this.connection === undefined || this.connection.ended || this.connection.last)
      this.connection = await Connection.open(this.port, this.host);
    return this.connection;
  }

  async request(request: Request, timeoutMs?: number): Promise<Reply> {
    const connection = await this.open();
    try {
      const reply = await connection.request(request, timeoutMs);
      return reply;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Posts a JSON value and gives the parsed answer; fails on another status than 200. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes.
  async post(path: string, body: unknown = {}, headers?: Record<string, string>): Promise<any> {
    const reply = await this.request({ path, headers, body: JSON.stringify(body) });
    if (reply.status !== 200) throw new Error(`POST ${path}: ${reply.status} ${reply.text}`);
    return JSON.parse(reply.text);
  }

  close(): void {
    this.connection?.close();
    this.connection = undefined;
  }
}
