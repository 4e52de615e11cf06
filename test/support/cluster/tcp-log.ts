// A replicated log for tests: one list of messages in the process of the test. The log threads of several
// databases reach it over a socket, each with its own name, and a test can inject errors for each. It
// implements replicated-log.ts, and is slow, lossy or wrong only on request.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { type Server, type Socket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../project.js';

interface Message {
  id: string;
  bytes: string;
}

interface Request {
  n: number;
  op: 'append' | 'read' | 'at' | 'first' | 'last' | 'size' | 'trim';
  after: number;
  id: string;
  bytes: string;
  from: number;
  upTo: number;
}

/** What happens to the requests of one node. */
export interface Fault {
  /** Nothing is done, and nothing is heard; `held`: it is done when the fault is over. */
  away?: 'lost' | 'held';
  /** Number of next appends that are done without a reply. */
  loseAnswers?: number;
  /** Number of next appends that fail because the log is full. */
  full?: number;
  /** Every append takes so long. */
  delayMs?: number;
}

const sizeOf = (message: Message | undefined): number => message?.bytes.length ?? 0;

const heartbeatMs = 40;

const driverText = (errors: string) => `
import net from 'node:net';
import { fail } from ${JSON.stringify(errors)};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
class Log {
  maxBytes = 1 << 20;
  #n = 0; #waiting = new Map(); #readers = new Set(); #closed = false; #socket;
  constructor(port, name) { this.port = port; this.name = name; this.#connect(); }
  #connect() {
    if (this.#closed) return;
    let rest = '';
    const socket = net.connect(this.port, '127.0.0.1');
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.write(this.name + '\\n');
    socket.on('data', (text) => {
      const lines = (rest + text).split('\\n');
      rest = lines.pop();
      for (const line of lines) this.#hear(JSON.parse(line));
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      for (const reader of this.#readers) reader.push({ gone: true });
      setTimeout(() => this.#connect(), 20).unref();
    });
  }
  #hear(message) { this.#waiting.get(message.n)?.(message); }
  #ask(request, ms) {
    const n = ++this.#n;
    return new Promise((resolve) => {
      const end = (answer) => {
        clearTimeout(timer);
        this.#waiting.delete(n);
        resolve(answer);
      };
      const timer = setTimeout(end, ms);
      this.#waiting.set(n, end);
      this.#socket.write(JSON.stringify({ n, ...request }) + '\\n');
    });
  }
  async append(bytes, after, id) {
    const text = Buffer.from(bytes).toString('base64');
    const answer = await this.#ask({ op: 'append', after, id, bytes: text }, 150);
    if (answer === undefined) return 'unknown';
    if (answer.result === 'full') fail('LOG_FULL', { what: 'a test says so' });
    return answer.result;
  }
  async *read(from, heard) {
    for (let next = from; !this.#closed; ) {
      const n = ++this.#n;
      const queue = [];
      let wake = () => {};
      const reader = { push(message) { queue.push(message); wake(); } };
      this.#readers.add(reader);
      this.#waiting.set(n, (message) => reader.push(message));
      this.#socket.write(JSON.stringify({ n, op: 'read', from: next }) + '\\n');
      try {
        reading: for (;;) {
          while (queue.length > 0) {
            const message = queue.shift();
            if (message.gone || this.#closed) break reading;
            heard(message.seq !== undefined);
            if (message.error) fail(message.error, message.args);
            if (message.seq === undefined) continue;
            next = message.seq + 1;
            yield { seq: message.seq, bytes: Buffer.from(message.bytes, 'base64') };
          }
          await new Promise((resolve) => { wake = resolve; });
        }
      } finally { this.#readers.delete(reader); this.#waiting.delete(n); }
      await pause(20);
    }
  }
  async at(from) {
    const answer = await this.#ask({ op: 'at', from }, 150);
    return answer?.bytes && Buffer.from(answer.bytes, 'base64');
  }
  async #number(op) { return (await this.#ask({ op }, 1000))?.result ?? 0; }
  first() { return this.#number('first'); }
  last() { return this.#number('last'); }
  size() { return this.#number('size'); }
  async trim(upTo) { await this.#ask({ op: 'trim', upTo }, 1000); }
  async close() {
    this.#closed = true;
    for (const reader of this.#readers) reader.push({ gone: true });
    this.#socket.destroy();
  }
}
export const driver = {
  open: async ({ url }) => {
    const [, port, name] = /#(\\d+)\\/(.*)$/.exec(url);
    return new Log(Number(port), name);
  },
  create: async () => {},
  look: async () => ({ exists: true, durable: true, note: '' }),
};
`;

export class TcpLog {
  #messages: (Message | undefined)[] = [];
  #first = 1;
  /** Bytes that it holds, and that were ever appended. */
  size = 0;
  written = 0;
  readonly #faults = new Map<string, Fault>();
  readonly #held = new Map<string, (() => void)[]>();
  readonly #readers = new Set<{ name: string; next: number; send: (message: object) => void }>();
  readonly #sockets = new Set<Socket>();
  readonly #timer: NodeJS.Timeout;
  #module = '';
  /** Answers to appends, per node: what was asked and said. */
  readonly appends: { name: string; after: number; result: string }[] = [];

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => this.#serve(socket));
    this.#timer = setInterval(() => this.#heartbeat(), heartbeatMs).unref();
  }

  static async start(): Promise<TcpLog> {
    const server = createServer();
    const log = new TcpLog(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    server.unref();
    const folder = mkdtempSync(join(tmpdir(), 'trellis-log-'));
    const file = join(folder, 'driver.mjs');
    const errors = pathToFileURL(join(root, 'dist/engine/base/errors.js')).href;
    writeFileSync(file, driverText(errors));
    log.#module = pathToFileURL(file).href;
    return log;
  }

  /** The address under which the node of that name reaches it. */
  urlOf(name: string): string {
    return `${this.#module}#${(this.server.address() as { port: number }).port}/${name}`;
  }

  get first(): number {
    return this.#first;
  }

  get last(): number {
    return this.#messages.length;
  }

  bytesAt(seq: number): Buffer {
    return Buffer.from(this.#messages[seq - 1]!.bytes, 'base64');
  }

  /** Puts other bytes into the place of a message, as a damaged disk would. */
  replace(seq: number, bytes: Uint8Array): void {
    this.#messages[seq - 1]!.bytes = Buffer.from(bytes).toString('base64');
  }

  /** Forgets everything behind `last`, as servers do that did not sync. */
  shorten(last: number): void {
    for (const message of this.#messages.splice(last)) this.size -= sizeOf(message);
    this.#first = Math.min(this.#first, last + 1);
  }

  fault(name: string, fault: Fault | undefined): void {
    if (fault) this.#faults.set(name, fault);
    else this.#faults.delete(name);
    if (fault?.away === undefined) {
      const held = this.#held.get(name) ?? [];
      this.#held.delete(name);
      for (const work of held) work();
      this.#spread();
    }
  }

  trim(upTo: number): void {
    for (; this.#first < upTo; this.#first++) {
      this.size -= sizeOf(this.#messages[this.#first - 1]);
      this.#messages[this.#first - 1] = undefined;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    let name: string | undefined;
    let rest = '';
    this.#sockets.add(socket);
    socket.setEncoding('latin1');
    const send = (message: object): void => void socket.write(`${JSON.stringify(message)}\n`);
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        if (name === undefined) name = line;
        else this.#receive(name, JSON.parse(line) as Request, send);
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#sockets.delete(socket);
      for (const reader of this.#readers) if (reader.send === send) this.#readers.delete(reader);
    });
  }

  #receive(name: string, request: Request, send: (message: object) => void): void {
    const fault = this.#faults.get(name);
    const work = (): void => this.#answer(name, request, send);
    if (fault?.away === 'lost' && request.op !== 'read') return;
    if (fault?.away === 'held') {
      this.#held.set(name, [...(this.#held.get(name) ?? []), work]);
    } else if (fault?.delayMs !== undefined && request.op === 'append')
      setTimeout(work, fault.delayMs).unref();
    else work();
  }

  #answer(name: string, request: Request, send: (message: object) => void): void {
    const { n, op } = request;
    switch (op) {
      case 'append': {
        const fault = this.#faults.get(name) ?? {};
        const result = (fault.full ?? 0) > 0 ? 'full' : this.#append(request);
        this.appends.push({ name, after: request.after, result });
        if (result === 'full') fault.full!--;
        if ((fault.loseAnswers ?? 0) > 0) return void fault.loseAnswers!--;
        return send({ n, result });
      }
      case 'read': {
        this.#readers.add({ name, next: request.from, send: (message) => send({ n, ...message }) });
        return this.#spread();
      }
      case 'at':
        return send({ n, bytes: this.#messages[request.from - 1]?.bytes });
      case 'trim':
        this.trim(request.upTo);
        return send({ n, result: 0 });
      case 'first':
        return send({ n, result: this.#first });
      case 'size':
        return send({ n, result: this.size });
      default:
        return send({ n, result: this.last });
    }
  }

  /** Positions of readers. There is no failover here: what the log does not have is lost. */
  #faultAt(from: number): object | undefined {
    if (from < this.#first)
      return { error: 'LOG_TRUNCATED', args: { first: this.#first, needed: from } };
    const what = `it ends at ${this.last}, this node has followed it to ${from - 1}`;
    return this.last < from - 1 ? { error: 'LOG_LOST', args: { what } } : undefined;
  }

  #append({ after, id, bytes }: Request): 'ok' | 'behind' {
    if (this.#messages[after]?.id === id) return 'ok';
    if (after !== this.last) return 'behind';
    this.#messages.push({ id, bytes });
    this.size += bytes.length;
    this.written += bytes.length;
    setImmediate(() => this.#spread());
    return 'ok';
  }

  #spread(): void {
    for (const reader of this.#readers) {
      if (this.#faults.get(reader.name)?.away !== undefined) continue;
      const fault = this.#faultAt(reader.next);
      if (fault !== undefined) {
        reader.send(fault);
        this.#readers.delete(reader);
      } else
        for (; reader.next <= this.last; reader.next++) {
          const { bytes } = this.#messages[reader.next - 1]!;
          reader.send({ seq: reader.next, bytes });
        }
    }
  }

  #heartbeat(): void {
    for (const reader of this.#readers)
      if (this.#faults.get(reader.name)?.away === undefined) reader.send({});
  }
}
