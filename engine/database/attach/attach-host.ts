// The side of the thread that opened the database: hands out attachments, keeps the threads that took one
// equipped as reading lanes are, and makes the calls that they do not answer in place. Invariant: a
// thread that has ended is waited for by nobody.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { errorDataOf } from '../../base/errors.js';
import type { ConfigureLane } from '../lane/message.js';
import { SharedQueryMetrics } from '../metrics/shared-query-metrics.js';
import type { QueryMetrics } from '../metrics/query-metrics.js';
import type { Attachment, FromAttached, ToAttached } from './attachment.js';

export interface AttachHostOptions {
  /** The same for all threads. */
  setup: Omit<Attachment, 'port'>;
  /** What a thread must know to answer. */
  equip: () => ConfigureLane;
  call: (name: string, body: Uint8Array) => Uint8Array | Promise<Uint8Array>;
  /** Counts what is read in place. */
  tally: QueryMetrics;
}

/** At the end of the database: a thread that is busy for longer is not waited for. */
const releaseMs = 2_000;

export class AttachHost {
  /** What the thread behind each counts in. */
  readonly #ports = new Map<MessagePort, SharedQueryMetrics | undefined>();
  /** Threads that have yet to let go of the data file. */
  readonly #holding = new Set<MessagePort>();
  #onReleased: (() => void) | undefined;

  constructor(private readonly options: AttachHostOptions) {}

  attach(): Attachment {
    const { port1, port2 } = new MessageChannel();
    this.#ports.set(port1, undefined);
    port1.on('message', (message: FromAttached) => void this.#receive(port1, message));
    port1.on('close', () => {
      this.#count(port1, undefined);
      this.#ports.delete(port1);
      this.#released(port1);
    });
    // It is the other thread that decides how long it lives.
    port1.unref();
    send(port1, this.options.equip());
    return { ...this.options.setup, port: port2 };
  }

  async #receive(port: MessagePort, message: FromAttached): Promise<void> {
    switch (message.kind) {
      case 'released':
        return this.#released(port);
      case 'tally':
        return this.#count(port, new SharedQueryMetrics(message.names, message.buffer));
      case 'call': {
        const { id, name, body } = message;
        try {
          send(port, { kind: 'answer', id, body: await this.options.call(name, body) });
        } catch (error) {
          send(port, { kind: 'answer', id, error: errorDataOf(error).error });
        }
      }
    }
  }

  /** The thread counts here from now on, or nowhere. */
  #count(port: MessagePort, fresh: SharedQueryMetrics | undefined): void {
    const { tally } = this.options;
    const before = this.#ports.get(port);
    if (before !== undefined) tally.unfollow(before);
    if (fresh !== undefined) tally.follow(fresh);
    this.#ports.set(port, fresh);
  }

  broadcast(message: ToAttached): void {
    for (const port of this.#ports.keys()) send(port, message);
  }

  /** Resolves when no other thread has the data file open. */
  release(): Promise<void> {
    return new Promise((resolve) => {
      this.#onReleased = resolve;
      for (const port of this.#ports.keys()) this.#holding.add(port);
      this.broadcast({ kind: 'release' });
      if (this.#holding.size === 0) resolve();
    });
  }

  #released(port: MessagePort): void {
    if (this.#holding.delete(port) && this.#holding.size === 0) this.#onReleased?.();
  }

  /** Has the threads open the data file again. */
  reopen(): void {
    this.broadcast({ kind: 'reopen' });
    this.broadcast(this.options.equip());
  }

  /** From now on every call of another thread is told that the database is closed. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, releaseMs);
    });
    await Promise.race([this.release(), late]);
    clearTimeout(timer);
    for (const port of this.#ports.keys()) port.close();
  }
}

function send(port: MessagePort, message: ToAttached): void {
  port.postMessage(message);
}
