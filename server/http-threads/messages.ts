// Defines the messages between an HTTP thread and the main thread. All items of one turn of the event loop
// are one message: a list of small tuples, and one transferred buffer with the bytes of all bodies.
// Invariant: items keep their order, in both directions.
import type { MessagePort } from 'node:worker_threads';
import type { ErrorData } from '../../engine/internal.js';
import type { KeyList } from '../auth/keys.js';
import type { HeaderList } from '../http/header-list.js';
import type { EndedRequest, LogDecision } from '../telemetry/request-log.js';
import type { AnsweredCall } from '../pipeline/request-answerer.js';

/** Position of a body in the buffer of its message, in bytes. */
type Span = [start: number, end: number];

/** An item about one request. The HTTP thread numbers its requests. */
export type ThreadItem =
  /** A request header with valid framing, in the form of head-codec.ts. */
  | ['head', id: number, head: string, startedAt: number, rated: number]
  /** The complete body. */
  | ['body', id: number, ...span: Span]
  | ['refuse', id: number, error: ErrorData, bytesIn: number]
  /** A request header with invalid framing. The main thread refuses it with this error. */
  | ['unsound', id: number, head: string, startedAt: number, error: ErrorData]
  | ['gone', id: number];

export type MainItem =
  | ['answer', id: number, head: AnswerHead, close: boolean, micros: number, ...span: Span]
  | ['stream', id: number, head: AnswerHead]
  | ['write', id: number, text: string]
  | ['end', id: number]
  /** From now on, the end of the client's half of the connection cancels the request. */
  | ['allowDisconnect', id: number];

/** `more`: header fields that were added before the response was known. */
export type AnswerHead = [
  requestId: string,
  status: string,
  headers: HeaderList | 0,
  more: HeaderList | 0,
];

export interface Batch<Item> {
  kind: 'batch';
  items: Item[];
  bytes: ArrayBuffer;
}

/** Shared memory with the metrics of a thread, and the routes or tools that it counts. */
export interface FiguresAt {
  names: readonly string[];
  buffer: SharedArrayBuffer;
}

export type FromThread =
  | Batch<ThreadItem>
  /** The thread accepts connections on this descriptor. */
  | { kind: 'ready'; descriptor: number }
  /** The thread counts its responses here from now on (telemetry/thread-metrics.ts). */
  | ({ kind: 'figures'; tools: FiguresAt } & FiguresAt)
  | { kind: 'ended'; request: EndedRequest; logDecision: LogDecision }
  | { kind: 'answered'; call: AnsweredCall }
  /** The thread cannot continue. It ends when it gets no more connections. */
  | { kind: 'failed'; error: unknown }
  | { kind: 'defect'; error: unknown };

export type ToThread =
  | Batch<MainItem>
  | { kind: 'keys'; version: number; list: KeyList }
  /** The thread closes its connections and ends. It gets no new connections. */
  | { kind: 'close' };

/** Bytes of bodies that may wait for the end of the turn. */
const waitingMax = 256 * 1024;

/** Collects items and sends them at the end of the turn of the event loop. */
export class Outbox<Item> {
  #items: Item[] = [];
  #bodies: Uint8Array[] = [];
  #size = 0;
  #armed = false;

  constructor(private readonly port: Pick<MessagePort, 'postMessage'>) {}

  add(item: Item): void {
    this.#items.push(item);
    if (this.#armed) return;
    this.#armed = true;
    setImmediate(() => {
      this.#armed = false;
      this.flush();
    });
  }

  /** Adds a body to the next message. Returns its position in the buffer, for the item that is added next. */
  keep(body: Uint8Array): Span {
    if (this.#size > waitingMax) this.flush();
    const start = this.#size;
    this.#bodies.push(body);
    this.#size += body.length;
    return [start, this.#size];
  }

  flush(): void {
    if (this.#items.length === 0) return;
    const bytes = new ArrayBuffer(this.#size);
    const all = new Uint8Array(bytes);
    let at = 0;
    for (const body of this.#bodies) {
      all.set(body, at);
      at += body.length;
    }
    const batch: Batch<Item> = { kind: 'batch', items: this.#items, bytes };
    this.#items = [];
    this.#bodies = [];
    this.#size = 0;
    this.port.postMessage(batch, [bytes]);
  }
}
