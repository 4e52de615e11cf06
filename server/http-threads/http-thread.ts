// An HTTP thread: accepts its share of the connections, answers short reads, and forwards all other
// requests to the main thread.
// Invariant: the thread closes its transport before it ends. Node aborts a process when a thread with open
// handles in its event loop is terminated, so no other thread terminates this one.
import type { MessagePort } from 'node:worker_threads';
import { Attached, armFailpoint, assert, failpoint } from '../../engine/internal.js';
import { Accepted } from '../auth/accepted-credentials.js';
import { SharedRate } from '../auth/rate-limiter.js';
import { loadUws } from '../http/native/uws-add-on.js';
import { openUwsTransport } from '../http/uws-transport.js';
import { Forwarder } from './to-main.js';
import { ThreadRequestHandler } from './thread-request-handler.js';
import { guardHeap } from './heap-guard.js';
import type { HttpThreadSetup } from './setup.js';
import { SharedCounts } from './shared-counts.js';
import { SharedState } from './shared-state.js';
import { type ThreadItem, type FromThread, Outbox, type ToThread } from './messages.js';

/** Serves HTTP until the main thread sends `close`, then ends the thread. */
export function runHttpThread(port: MessagePort, setup: HttpThreadSetup): void {
  void new HttpThread(port, setup).serve();
}

class HttpThread {
  readonly #attached: Attached;
  readonly #forwarder: Forwarder;
  readonly #handler: ThreadRequestHandler;
  readonly #counts: SharedCounts;
  #exitCode = 0;

  constructor(
    private readonly port: MessagePort,
    private readonly setup: HttpThreadSetup,
  ) {
    const { row, rows, attachment, rates } = setup;
    this.#counts = new SharedCounts(rows, setup.counts);
    this.#forwarder = new Forwarder(new Outbox<ThreadItem>(port), (query, micros) =>
      this.#attached.learn(query, micros),
    );
    this.#handler = new ThreadRequestHandler({
      words: new SharedState(setup.words),
      keys: setup.keys,
      security: {
        ...setup.security,
        accepted: new Accepted(setup.accepted),
        rateFor: (bound, limit) => new SharedRate(limit, rates[bound]),
      },
      reporting: setup.reporting,
      tools: setup.tools,
      forwarder: this.#forwarder,
      post: (message) => this.#post(message),
      markActive: (startedAt) => this.#counts.markActive(row, startedAt),
    });
    this.#attached = new Attached(attachment, {
      isIdle: () => this.#forwarder.waiting === 0,
      onProgram: (queries) => this.#handler.applyQueries(queries),
    });
  }

  #post(message: FromThread): void {
    this.port.postMessage(message);
  }

  async serve(): Promise<void> {
    const addOn = loadUws();
    assert(addOn, 'the main thread has loaded the same add-on');
    await this.#attached.ready;
    this.#handler.begin(this.#attached);
    const transport = openUwsTransport(addOn, {
      ...this.setup.transport,
      receiver: this.#handler,
      counts: this.#counts.of(this.setup.row),
      total: (name) => this.#counts.total(name),
      shares: { buffer: this.setup.shares, row: this.setup.row },
    });
    let isClosed = false;
    const closeTransport = (): void => {
      if (isClosed) return;
      isClosed = true;
      transport.close();
    };
    process.on('exit', closeTransport);
    process.on('uncaughtException', (error) => this.#giveUp(error));
    guardHeap((error) => this.#giveUp(error));
    armFailpoint(this.setup.failpoint);
    this.port.on('message', (message: ToThread) => this.#receive(message, closeTransport));
    this.#post({ kind: 'ready', descriptor: transport.descriptor });
  }

  #receive(message: ToThread, closeTransport: () => void): void {
    failpoint('httpThreadMessage');
    switch (message.kind) {
      case 'batch':
        return this.#forwarder.receive(message);
      case 'keys':
        return this.#handler.renewKeys(message.version, message.list);
      case 'close':
        return this.#close(closeTransport);
    }
  }

  /**
   * Waits two turns of the event loop, so that connections already assigned to this thread are accepted
   * first.
   */
  #close(closeTransport: () => void): void {
    setImmediate(() =>
      setImmediate(() => {
        closeTransport();
        void this.#attached.close().finally(() => process.exit(this.#exitCode));
      }),
    );
  }

  #giveUp(error: unknown): void {
    if (this.#exitCode !== 0) return;
    this.#exitCode = 1;
    this.#post({ kind: 'failed', error });
  }
}
