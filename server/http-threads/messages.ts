// What a front and the main thread tell each other. Everything that arises in one turn of the event loop
// goes as one message: a list of small tuples, and the bytes of all bodies end to end in one buffer that
// is handed over. Invariant: items keep their order, in both directions.
import type { MessagePort } from 'node:worker_threads';
import type { ErrorData } from '../../engine/index.js';
import type { KeyList } from '../auth/keys.js';
import type { HeaderList } from '../http/header-list.js';
import type { CallTemplate } from '../mcp/tool/call-template-cache.js';
import type { EndedRequest, Verdict } from '../telemetry/request-log.js';
import type { AnsweredCall } from '../pipeline/request-pipeline.js';

/** Where a body stands in the buffer of its message. */
type Span = [start: number, end: number];

/** About one request, by the number that its front gave it. */
export type FrontItem =
  /** A head with sound framing, as head-codec.ts writes it. */
  | ['head', id: number, head: string, startedAt: number, rated: number]
  /** The whole body. */
  | ['body', id: number, ...span: Span]
  | ['refuse', id: number, error: ErrorData, bytesIn: number]
  /** Its framing is not sound: nothing more is judged of it. */
  | ['unsound', id: number, head: string, startedAt: number, error: ErrorData]
  | ['gone', id: number];

export type MainItem =
  | ['answer', id: number, head: AnswerHead, close: boolean, micros: number, ...span: Span]
  | ['stream', id: number, head: AnswerHead]
  | ['write', id: number, text: string]
  | ['end', id: number]
  /** From now on a client that has stopped sending has gone. */
  | ['letGo', id: number];

/** `more`: the fields that were added before the answer was known. */
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

/** Where answers are counted. */
export interface FiguresAt {
  names: readonly string[];
  buffer: SharedArrayBuffer;
}

export type FromFront =
  | Batch<FrontItem>
  /** It may be dealt connections. */
  | { kind: 'ready'; descriptor: number }
  /** Where answers are counted from now on (telemetry/thread-metrics.ts). */
  | ({ kind: 'figures'; tools: FiguresAt } & FiguresAt)
  | { kind: 'ended'; request: EndedRequest; logDecision: Verdict }
  | { kind: 'answered'; call: AnsweredCall }
  /** It cannot go on, and ends when it is dealt no more connections. */
  | { kind: 'failed'; error: unknown }
  | { kind: 'defect'; error: unknown };

export type ToFront =
  | Batch<MainItem>
  | { kind: 'keys'; version: number; list: KeyList }
  /** Messages of which only id and arguments need be read from now on. */
  | { kind: 'calls'; patterns: readonly CallTemplate[] }
  /** Ends its connections, then itself. No more are dealt to it. */
  | { kind: 'close' };

/** Bytes that wait for the end of the turn at most. */
const waitingMax = 256 * 1024;

/** Collects items, and sends them when the turn ends. */
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

  /** Where in the buffer these bytes will stand: for the item that is added next. */
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
