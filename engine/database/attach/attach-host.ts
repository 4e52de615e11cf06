// The opening thread's side of attached threads. It creates attachments, keeps attached threads configured
// like reader lanes, and runs the calls that they do not run themselves.
// Invariant: nothing waits for a thread that has ended.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { toErrorData } from '../../base/errors.js';
import type { ConfigureLane } from '../lane/message.js';
import { SharedQueryMetrics } from '../metrics/shared-query-metrics.js';
import type { QueryMetrics } from '../metrics/query-metrics.js';
import type { Attachment, FromAttached, ToAttached } from './attachment.js';

export interface AttachHostOptions {
  /** Equal for all attached threads. */
  setup: Omit<Attachment, 'port'>;
  /** Returns the current configuration of a reading thread. */
  configuration: () => ConfigureLane;
  call: (name: string, body: Uint8Array) => Uint8Array | Promise<Uint8Array>;
  /** Counts reads that attached threads run. */
  queryMetrics: QueryMetrics;
}

/** Milliseconds to wait at close for a busy thread to release the data file. */
const releaseMs = 2_000;

export class AttachHost {
  /** Attached threads, each with the shared memory for its metrics. */
  readonly #ports = new Map<MessagePort, SharedQueryMetrics | undefined>();
  /** Threads that have not released the data file yet. */
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
    // The port must not keep this thread alive: the attached thread controls its own lifetime.
    port1.unref();
    send(port1, this.options.configuration());
    return { ...this.options.setup, port: port2 };
  }

  async #receive(port: MessagePort, message: FromAttached): Promise<void> {
    switch (message.kind) {
      case 'released':
        return this.#released(port);
      case 'metrics':
        return this.#count(port, new SharedQueryMetrics(message.names, message.buffer));
      case 'call': {
        const { id, name, body } = message;
        try {
          send(port, { kind: 'answer', id, body: ownBytes(await this.options.call(name, body)) });
        } catch (error) {
          send(port, { kind: 'answer', id, error: toErrorData(error).error });
        }
      }
    }
  }

  /** Replaces the shared metrics of a thread. Undefined means that the thread counts nothing. */
  #count(port: MessagePort, fresh: SharedQueryMetrics | undefined): void {
    const { queryMetrics } = this.options;
    const before = this.#ports.get(port);
    if (before !== undefined) queryMetrics.unfollow(before);
    if (fresh !== undefined) queryMetrics.follow(fresh);
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

  /** Makes the attached threads open the data file again. */
  reopen(): void {
    this.broadcast({ kind: 'reopen' });
    this.broadcast(this.options.configuration());
  }

  /** From now on, every call of an attached thread fails because the database is closed. */
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

/** A message copies the whole memory of a view, which small replies share with others. */
const ownBytes = (bytes: Uint8Array): Uint8Array =>
  bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice();

function send(port: MessagePort, message: ToAttached): void {
  port.postMessage(message);
}
