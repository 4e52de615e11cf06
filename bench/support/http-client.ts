// A small HTTP load generator, used in addition to autocannon. It measures latencies in microseconds, can
// send each body exactly once, and can send at a fixed rate, with latencies from the time at which a request
// was due.
import { type Socket, connect } from 'node:net';
import { percentile } from './sample-times.js';

export interface HttpTiming {
  perSecond: number;
  /** Microseconds. */
  p50: number;
  p99: number;
  longest: number;
  failed: number;
  count: number;
}

interface Connection {
  socket: Socket;
  from: number;
  isBusy: boolean;
  rest: Buffer;
}

/** The bytes of a request. */
export function requestBytes(path: string, body: string | undefined): Buffer {
  const method = body === undefined ? 'GET' : 'POST';
  const length = body === undefined ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  const type = 'Content-Type: application/json';
  return Buffer.from(
    `${method} /${path} HTTP/1.1\r\nHost: localhost\r\n${type}\r\n${length}\r\n${body ?? ''}`,
  );
}

/** Length of the answer at the start of `bytes`, with its head; undefined while it is not whole. */
function answerLength(bytes: Buffer): number | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const size = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1];
  return end + 4 + Number(size ?? 0);
}

export interface Schedule {
  connections: number;
  /** Requests to send; by default each of `requests` once. */
  count?: number;
  seconds?: number;
  /** Requests per second; without it every connection sends its next when its last is answered. */
  rate?: number;
  /** Sees every answer's bytes, head and body. */
  onAnswer?: (bytes: Buffer) => void;
}

/** Sends `requests` in turn over keep-alive connections. */
export async function sendHttp(
  url: string,
  requests: readonly Buffer[],
  schedule: Schedule,
): Promise<HttpTiming> {
  const { hostname, port } = new URL(url);
  const connections = await Promise.all(
    Array.from({ length: schedule.connections }, async (): Promise<Connection> => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      await new Promise((resolve, reject) => {
        socket.once('connect', resolve);
        socket.once('error', reject);
      });
      return { socket, from: 0, isBusy: false, rest: Buffer.alloc(0) };
    }),
  );
  try {
    return await new Sender(connections, requests, schedule).run();
  } finally {
    for (const { socket } of connections) socket.destroy();
  }
}

class Sender {
  readonly #times: number[] = [];
  #failed = 0;
  #sent = 0;
  #ended = false;
  #started = 0;
  #due: number[] = [];
  readonly #open: Set<Connection>;
  #finish!: () => void;
  readonly #countMax: number;
  readonly #msMax: number;

  constructor(
    connections: readonly Connection[],
    private readonly requests: readonly Buffer[],
    private readonly schedule: Schedule,
  ) {
    const { count, seconds } = schedule;
    this.#open = new Set(connections);
    this.#countMax = count ?? (seconds === undefined ? requests.length : Infinity);
    this.#msMax = (seconds ?? Infinity) * 1000;
  }

  async run(): Promise<HttpTiming> {
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    for (const connection of this.#open) this.#listen(connection);
    this.#started = performance.now();
    if (this.schedule.rate === undefined) for (const each of this.#open) this.#send(each);
    else this.#tick(this.schedule.rate, 0);
    await finished;
    const seconds = (performance.now() - this.#started) / 1000;
    return {
      perSecond: this.#times.length / seconds,
      p50: percentile(this.#times, 0.5),
      p99: percentile(this.#times, 0.99),
      longest: percentile(this.#times, 1),
      failed: this.#failed,
      count: this.#times.length,
    };
  }

  #listen(connection: Connection): void {
    connection.socket.on('data', (chunk) => {
      connection.rest =
        connection.rest.length === 0 ? chunk : Buffer.concat([connection.rest, chunk]);
      const length = answerLength(connection.rest);
      if (length !== undefined && connection.rest.length >= length) this.#answered(connection);
    });
    connection.socket.once('close', () => {
      if (this.#ended) return;
      // A server can close an idle connection. A request without a response is a failure.
      if (connection.isBusy) this.#failed++;
      this.#open.delete(connection);
      if (this.#open.size === 0) this.#end();
      else this.#endIfDone();
    });
  }

  #answered(connection: Connection): void {
    this.#times.push((performance.now() - connection.from) * 1000);
    if (connection.rest[9] !== 0x32) this.#failed++;
    this.schedule.onAnswer?.(connection.rest);
    connection.rest = noBytes;
    connection.isBusy = false;
    if (this.schedule.rate === undefined) this.#send(connection);
    else if (this.#due.length > 0) this.#send(connection, this.#due.shift());
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (!this.#isOver()) return;
    for (const { isBusy } of this.#open) if (isBusy) return;
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.#finish();
  }

  #isOver(): boolean {
    return this.#sent >= this.#countMax || performance.now() - this.#started >= this.#msMax;
  }

  #send(connection: Connection, from = performance.now()): void {
    if (this.#isOver()) return;
    connection.from = from;
    connection.isBusy = true;
    connection.socket.write(this.requests[this.#sent++ % this.requests.length]!);
  }

  /**
   * What has become due since the last tick goes to idle connections, the rest waits for one. A
   * timer fires about every millisecond: requests come in small bursts.
   */
  #tick(rate: number, planned: number): void {
    if (this.#ended) return;
    const now = performance.now();
    const due = Math.floor(((now - this.#started) / 1000) * rate);
    const idle = [...this.#open].filter(({ isBusy }) => !isBusy);
    for (let i = planned; i < due; i++) {
      const connection = idle.pop();
      if (connection) this.#send(connection, now);
      else this.#due.push(now);
    }
    if (!this.#isOver()) setTimeout(() => this.#tick(rate, due), 1);
    else this.#endIfDone();
  }
}

const noBytes = Buffer.alloc(0);
