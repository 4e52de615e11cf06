// The fronts of a server: starts them, deals them connections, keeps them told, replaces one that has
// ended. Invariant: what all fronts share (keys, whether queries are answered) is changed in shared words
// before anybody is told; a front is dealt connections only while it can take them.
import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { type Attachment, startThread } from '../../engine/index.js';
import type { Accepted } from '../auth/accepted-credentials.js';
import type { KeyList } from '../auth/keys.js';
import type { SharedRates } from '../auth/rate-limiter.js';
import type { SecurityRules } from '../auth/request-guard.js';
import { forgetShares, shareBuffer } from '../http/byte-shares.js';
import type { SharedListener, Receiver, TransportOptions } from '../http/transport.js';
import { FrontFigures } from '../telemetry/thread-metrics.js';
import type { Log } from '../telemetry/log.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { RequestLog } from '../telemetry/request-log.js';
import type { AnsweredCall } from '../pipeline/request-pipeline.js';
import type { McpMetrics } from '../mcp/message/metrics.js';
import type { CallTemplateCache } from '../mcp/tool/call-template-cache.js';
import { ThreadLink } from './from-thread.js';
import type { ToolRules } from './mcp-tools.js';
import type { FrontSetup, FrontTelling } from './setup.js';
import { SharedCounts } from './shared-counts.js';
import { SharedState } from './shared-state.js';
import type { FromFront, ToFront } from './messages.js';

/** Between two starts of a front that ends at once; it doubles. */
const pauseMs = 50;
const pauseMsMax = 5_000;
/** A front that is busy for longer is not waited for. */
const closeMs = 2_000;

export interface FrontsOptions {
  /** The main thread is one of them. */
  count: number;
  receiver: Receiver;
  security: SecurityRules;
  accepted: Accepted;
  rates: SharedRates;
  telling: Omit<FrontTelling, 'answers'>;
  /** Told of every request that was answered, for whoever develops. */
  onAnswered: ((call: AnsweredCall) => void) | undefined;
  transport: Pick<TransportOptions, 'limits' | 'idleMs' | 'tls'>;
  metrics: Metrics;
  mcp: FrontMcp;
  requestLog: RequestLog;
  log: Log;
  failpoint: string | undefined;
}

/** What fronts have to do with tools. */
export interface FrontMcp {
  rules: ToolRules;
  familiar: CallTemplateCache;
  metrics: McpMetrics;
}

/** One front that has been started. */
interface HttpThreadHandle {
  worker: Worker;
  link: ThreadLink;
  /** While it is dealt connections. */
  descriptor: number | undefined;
  hasServed: boolean;
  /** Of queries, and of tools. */
  figures: [FrontFigures, FrontFigures] | undefined;
  ended: Promise<void>;
}

export class HttpThreadPool {
  readonly counts: SharedCounts;
  /** What each caller holds of bodies and answers. */
  readonly shares: SharedArrayBuffer;
  readonly #words = new SharedState();
  readonly #fronts = new Set<HttpThreadHandle>();
  #keys: { version: number; list: KeyList } = { version: 0, list: { keys: [], needed: false } };
  #listener: SharedListener | undefined;
  #attach: (() => Attachment) | undefined;
  #isClosing = false;
  restarts = 0;

  constructor(private readonly options: FrontsOptions) {
    this.counts = new SharedCounts(options.count);
    this.shares = shareBuffer(options.count);
    options.mcp.familiar.onLearned = (pattern) => {
      for (const { worker } of this.#fronts) post(worker, { kind: 'calls', patterns: [pattern] });
    };
  }

  /** Those that take connections, the main thread among them. */
  get serving(): number {
    let count = 1;
    for (const { descriptor } of this.#fronts) if (descriptor !== undefined) count++;
    return count;
  }

  set isOpen(isOpen: boolean) {
    this.#words.isOpen = isOpen;
  }

  /** When this resolves or before, no front answers by an older list. */
  adoptKeys(list: KeyList): void {
    this.#keys = { version: this.#words.countKeys(), list };
    for (const { worker } of this.#fronts) post(worker, { kind: 'keys', ...this.#keys });
  }

  /** Resolves when every front takes connections, or has ended and is being replaced. */
  async start(listener: SharedListener, attach: () => Attachment): Promise<void> {
    this.#listener = listener;
    this.#attach = attach;
    // Its own share: it stands in the row as the others do.
    listener.distributeTo(listener.descriptor);
    const rows = Array.from({ length: this.options.count - 1 }, (_, i) => i + 1);
    await Promise.all(rows.map((row) => this.#start(row, 0)));
  }

  #setupOf(row: number, attachment: Attachment): FrontSetup {
    const { count, security, accepted, rates, telling, transport } = this.options;
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
      telling: { ...telling, answers: this.options.onAnswered !== undefined },
      tools: this.options.mcp.rules,
      transport: { ...transport, ...placeOf(this.#listener!) },
      addOn: this.#listener!.addOn,
      attachment,
      // One row's alone: so that a test sees whom its end costs.
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

  /** `failures`: how often in a row a front of this row has ended before it took connections. */
  async #startOne(row: number, failures: number): Promise<void> {
    const attachment = this.#attach!();
    const worker = this.#thread(row, attachment);
    const link = new ThreadLink(this.options.receiver, worker);
    return new Promise((resolve) => {
      const ended = new Promise<void>((gone) => worker.once('exit', () => gone()));
      const fresh = { descriptor: undefined, hasServed: false, figures: undefined };
      const front: HttpThreadHandle = { worker, link, ended, ...fresh };
      this.#fronts.add(front);
      worker.on('message', (message: FromFront) => this.#receive(front, message, resolve));
      worker.on('error', (error) => this.options.log('error', 'HTTP thread failed', { error }));
      void ended.then(() => {
        this.#forget(front, row);
        resolve();
        if (!this.#isClosing) void this.#replace(row, front.hasServed ? 0 : failures + 1);
      });
    });
  }

  #receive(front: HttpThreadHandle, message: FromFront, onReady: () => void): void {
    const { log, metrics, mcp, requestLog } = this.options;
    switch (message.kind) {
      case 'batch':
        return front.link.receive(message);
      case 'figures': {
        const { names, buffer, tools } = message;
        this.#unfollow(front);
        front.figures = [
          new FrontFigures(names, buffer),
          new FrontFigures(tools.names, tools.buffer),
        ];
        metrics.follow(front.figures[0]);
        return mcp.metrics.follow(front.figures[1]);
      }
      case 'ended':
        return requestLog.tell(message.request, message.logDecision);
      case 'answered':
        return this.options.onAnswered?.(message.call);
      case 'ready':
        if (!this.#isClosing) this.#deal(front, message.descriptor);
        return onReady();
      case 'defect':
        return log('error', 'request failed: internal error', { error: message.error });
      case 'failed':
        log('error', 'HTTP thread failed', { error: message.error });
        return this.#close(front);
    }
  }

  #deal(front: HttpThreadHandle, descriptor: number): void {
    front.descriptor = descriptor;
    front.hasServed = true;
    this.#listener!.distributeTo(descriptor);
    // It may have been started before the last change of the keys.
    post(front.worker, { kind: 'keys', ...this.#keys });
    post(front.worker, { kind: 'calls', patterns: this.options.mcp.familiar.patterns });
  }

  #unfollow({ figures }: HttpThreadHandle): void {
    if (figures === undefined) return;
    this.options.metrics.unfollow(figures[0]);
    this.options.mcp.metrics.unfollow(figures[1]);
  }

  /** No more connections for a front, and then its end. */
  #close(front: HttpThreadHandle): void {
    if (front.descriptor !== undefined) this.#listener!.dealNoMore(front.descriptor);
    front.descriptor = undefined;
    post(front.worker, { kind: 'close' });
  }

  #forget(front: HttpThreadHandle, row: number): void {
    this.#fronts.delete(front);
    if (front.descriptor !== undefined) this.#listener!.dealNoMore(front.descriptor);
    this.#unfollow(front);
    this.counts.forget(row);
    forgetShares(this.shares, row);
    front.link.end();
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

  /** Resolves at the end of the first attempt; others follow by themselves. */
  async #start(row: number, failures: number): Promise<void> {
    if (this.#isClosing) return;
    try {
      await this.#startOne(row, failures);
    } catch (error) {
      // The database gives no attachment while it opens its file again, or when it has lost it.
      this.options.log('warn', 'HTTP thread could not be started', { error });
      void this.#pause(failures + 1).then(() => this.#start(row, failures + 1));
    }
  }

  /** Ends all fronts, and with them their connections. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.isOpen = false;
    const fronts = [...this.#fronts];
    for (const front of fronts) this.#close(front);
    const late = setTimeout(closeMs, undefined, { ref: false });
    await Promise.race([Promise.all(fronts.map(({ ended }) => ended)), late]);
  }
}

function post(worker: Worker, message: ToFront): void {
  worker.postMessage(message);
}

const placeOf = ({ onSocket, port }: SharedListener) => ({ onSocket, port });
