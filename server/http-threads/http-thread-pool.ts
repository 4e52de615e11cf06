// Starts the HTTP threads of a server, distributes connections to them, sends them new keys, and replaces a
// thread that has ended. Runs on the main thread.
// Invariant: a change of shared state (the keys, whether queries are answered) is written to shared memory
// before it is reported to anyone. A thread gets connections only while it accepts them.
import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { type Attachment, startThread } from '../../engine/internal.js';
import type { Accepted } from '../auth/accepted-credentials.js';
import type { KeyList } from '../auth/keys.js';
import type { SharedRates } from '../auth/rate-limiter.js';
import type { SecurityRules } from '../auth/request-guard.js';
import { forgetShares, shareBuffer } from '../http/byte-shares.js';
import type { SharedListener, Receiver, TransportOptions } from '../http/transport.js';
import { ThreadMetrics } from '../telemetry/thread-metrics.js';
import type { Log } from '../telemetry/log.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { RequestLog } from '../telemetry/request-log.js';
import type { AnsweredCall } from '../pipeline/request-answerer.js';
import type { McpMetrics } from '../mcp/message/metrics.js';
import { ThreadLink } from './from-thread.js';
import type { ToolRules } from './mcp-tools.js';
import type { HttpThreadSetup, ReportingRules } from './setup.js';
import { SharedCounts } from './shared-counts.js';
import { SharedState } from './shared-state.js';
import type { FromThread, ToThread } from './messages.js';

/** Delay before the restart of a thread that ended during its start. The delay doubles with each failure. */
const pauseMs = 50;
const pauseMsMax = 5_000;
/** `close` waits this long for the threads. */
const closeMs = 2_000;

export interface HttpThreadPoolOptions {
  /** Number of threads that serve HTTP, including the main thread. */
  count: number;
  receiver: Receiver;
  security: SecurityRules;
  accepted: Accepted;
  rates: SharedRates;
  reporting: Omit<ReportingRules, 'answers'>;
  /** Called after every answered request. Set by `trellis dev`. */
  onAnswered: ((call: AnsweredCall) => void) | undefined;
  transport: Pick<TransportOptions, 'limits' | 'idleMs' | 'tls'>;
  metrics: Metrics;
  mcp: HttpThreadMcp;
  requestLog: RequestLog;
  log: Log;
  failpoint: string | undefined;
}

/** What the HTTP threads need to answer MCP tool calls. */
export interface HttpThreadMcp {
  rules: ToolRules;
  metrics: McpMetrics;
}

/** A started HTTP thread. */
interface HttpThreadHandle {
  worker: Worker;
  link: ThreadLink;
  /** Descriptor of its listener while the thread gets connections. */
  descriptor: number | undefined;
  hasServed: boolean;
  /** Metrics of queries, and of tools. */
  figures: [ThreadMetrics, ThreadMetrics] | undefined;
  ended: Promise<void>;
}

export class HttpThreadPool {
  readonly counts: SharedCounts;
  /** Buffered bytes of bodies and responses by caller, shared by all threads. */
  readonly shares: SharedArrayBuffer;
  readonly #words = new SharedState();
  readonly #threads = new Set<HttpThreadHandle>();
  #keys: { version: number; list: KeyList } = { version: 0, list: { keys: [], needed: false } };
  #listener: SharedListener | undefined;
  #attach: (() => Attachment) | undefined;
  #isClosing = false;
  restarts = 0;

  constructor(private readonly options: HttpThreadPoolOptions) {
    this.counts = new SharedCounts(options.count);
    this.shares = shareBuffer(options.count);
  }

  /** Number of threads that accept connections, including the main thread. */
  get serving(): number {
    let count = 1;
    for (const { descriptor } of this.#threads) if (descriptor !== undefined) count++;
    return count;
  }

  set isOpen(isOpen: boolean) {
    this.#words.isOpen = isOpen;
  }

  /** Publishes a new list of keys. After this call no thread answers by an older list. */
  setKeys(list: KeyList): void {
    this.#keys = { version: this.#words.countKeys(), list };
    for (const { worker } of this.#threads) post(worker, { kind: 'keys', ...this.#keys });
  }

  /** Resolves when every thread accepts connections, or has ended and is being replaced. */
  async start(listener: SharedListener, attach: () => Attachment): Promise<void> {
    this.#listener = listener;
    this.#attach = attach;
    // The main thread gets its share of the connections, too.
    listener.distributeTo(listener.descriptor);
    const rows = Array.from({ length: this.options.count - 1 }, (_, i) => i + 1);
    await Promise.all(rows.map((row) => this.#start(row, 0)));
  }

  #setupOf(row: number, attachment: Attachment): HttpThreadSetup {
    const { count, security, accepted, rates, reporting, transport } = this.options;
    return {
      row,
      rows: count,
      counts: this.counts.buffer,
      shares: this.shares,
      words: this.#words.buffer,
      rates: {
        rate_per_key: rates.rate_per_key.buffer,
        rate_per_address: rates.rate_per_address.buffer,
      },
      accepted: accepted.buffer,
      keys: this.#keys,
      security,
      reporting: { ...reporting, answers: this.options.onAnswered !== undefined },
      tools: this.options.mcp.rules,
      transport: { ...transport, ...listenerOf(this.#listener!) },
      attachment,
      // Only one thread has the failpoint, so a test can tell which connections are lost with it.
      failpoint: row === 1 ? this.options.failpoint : undefined,
    };
  }

  #thread(row: number, attachment: Attachment): Worker {
    try {
      return startThread(new URL('./http-thread-entry.js', import.meta.url), {
        workerData: this.#setupOf(row, attachment),
        transferList: [attachment.port],
      });
    } catch (error) {
      attachment.port.close();
      throw error;
    }
  }

  /** `failures`: number of consecutive threads of this row that ended before they accepted connections. */
  async #startOne(row: number, failures: number): Promise<void> {
    const attachment = this.#attach!();
    const worker = this.#thread(row, attachment);
    const link = new ThreadLink(this.options.receiver, worker);
    return new Promise((resolve) => {
      const ended = new Promise<void>((resolveEnd) => worker.once('exit', () => resolveEnd()));
      const fresh = { descriptor: undefined, hasServed: false, figures: undefined };
      const thread: HttpThreadHandle = { worker, link, ended, ...fresh };
      this.#threads.add(thread);
      worker.on('message', (message: FromThread) => this.#receive(thread, message, resolve));
      worker.on('error', (error) => this.options.log('error', 'HTTP thread failed', { error }));
      void ended.then(() => {
        this.#forget(thread, row);
        resolve();
        if (!this.#isClosing) void this.#replace(row, thread.hasServed ? 0 : failures + 1);
      });
    });
  }

  #receive(thread: HttpThreadHandle, message: FromThread, onReady: () => void): void {
    const { log, metrics, mcp, requestLog } = this.options;
    switch (message.kind) {
      case 'batch':
        return thread.link.receive(message);
      case 'figures': {
        const { names, buffer, tools } = message;
        this.#unfollow(thread);
        thread.figures = [
          new ThreadMetrics(names, buffer),
          new ThreadMetrics(tools.names, tools.buffer),
        ];
        metrics.follow(thread.figures[0]);
        return mcp.metrics.follow(thread.figures[1]);
      }
      case 'ended':
        return requestLog.write(message.request, message.logDecision);
      case 'answered':
        return this.options.onAnswered?.(message.call);
      case 'ready':
        if (!this.#isClosing) this.#distribute(thread, message.descriptor);
        return onReady();
      case 'defect':
        return log('error', 'request failed: internal error', { error: message.error });
      case 'failed':
        log('error', 'HTTP thread failed', { error: message.error });
        return this.#close(thread);
    }
  }

  #distribute(thread: HttpThreadHandle, descriptor: number): void {
    thread.descriptor = descriptor;
    thread.hasServed = true;
    this.#listener!.distributeTo(descriptor);
    // The keys may have changed since the thread was started.
    post(thread.worker, { kind: 'keys', ...this.#keys });
  }

  #unfollow({ figures }: HttpThreadHandle): void {
    if (figures === undefined) return;
    this.options.metrics.unfollow(figures[0]);
    this.options.mcp.metrics.unfollow(figures[1]);
  }

  /** Stops new connections for a thread and ends it. */
  #close(thread: HttpThreadHandle): void {
    if (thread.descriptor !== undefined) this.#listener!.stopDistributing(thread.descriptor);
    thread.descriptor = undefined;
    post(thread.worker, { kind: 'close' });
  }

  #forget(thread: HttpThreadHandle, row: number): void {
    this.#threads.delete(thread);
    if (thread.descriptor !== undefined) this.#listener!.stopDistributing(thread.descriptor);
    this.#unfollow(thread);
    this.counts.forget(row);
    forgetShares(this.shares, row);
    thread.link.end();
  }

  async #replace(row: number, failures: number): Promise<void> {
    this.restarts++;
    this.options.log('error', 'HTTP thread restarted', { row });
    await this.#pause(failures);
    await this.#start(row, failures);
  }

  async #pause(failures: number): Promise<void> {
    if (failures === 0) return;
    await setTimeout(Math.min(pauseMs * 2 ** failures, pauseMsMax), undefined, { ref: false });
  }

  /**
   * Starts a thread. Resolves after the first attempt; after a failure further attempts follow in the
   * background.
   */
  async #start(row: number, failures: number): Promise<void> {
    if (this.#isClosing) return;
    try {
      await this.#startOne(row, failures);
    } catch (error) {
      // `attach` fails while the database reopens its file, and when the file is gone.
      this.options.log('warn', 'HTTP thread could not be started', { error });
      void this.#pause(failures + 1).then(() => this.#start(row, failures + 1));
    }
  }

  /** Ends all threads and closes their connections. Waits at most `closeMs`. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.isOpen = false;
    const threads = [...this.#threads];
    for (const thread of threads) this.#close(thread);
    const late = setTimeout(closeMs, undefined, { ref: false });
    await Promise.race([Promise.all(threads.map(({ ended }) => ended)), late]);
  }
}

function post(worker: Worker, message: ToThread): void {
  worker.postMessage(message);
}

const listenerOf = ({ onSocket, port }: SharedListener) => ({ onSocket, port });
