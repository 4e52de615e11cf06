// Receives every request that came to a front. A short read whose caller may make it is made here, and
// answered; all else is passed on to the main thread as it came, and so is every request that is to be
// refused for what its head says.
//
// Invariant: an answer is given here only while queries are answered at all, to a caller whose key is in
// force, within the rates of all threads together.
import {
  type Attached,
  type ErrorCode,
  type ErrorData,
  type Query,
  TrellisError,
} from '../../engine/index.js';
import { type Caller, type KeyList, KeyTable, type Keys } from '../auth/keys.js';
import { Security, type SecurityOptions } from '../auth/security.js';
import type { Exchange } from '../http/exchange.js';
import { declaredLength } from '../http/framing.js';
import { jsonHeaders } from '../http/header-list.js';
import { errorBody, errorHeaders, isServerFault, statusOf } from '../http/http-error.js';
import { okStatus } from '../http/status-line.js';
import type { Receiver } from '../http/transport.js';
import { FrontFigures } from '../observe/front-figures.js';
import { sentBody, verdictOn } from '../observe/request-log.js';
import { RequestIds } from '../request/request-id.js';
import type { Forwarder } from './forwarder.js';
import type { FrontTelling } from './setup.js';
import type { SharedWords } from './shared-words.js';
import type { FromFront } from './wire.js';

/** The body of a longer one is decoded in a lane, whatever it asks for. */
const shortBodyMax = 32_768;

const mains: ReadonlySet<ErrorCode> = new Set(['INTERNAL', 'QUERY_TIMEOUT']);

/** A query that may be answered here. */
interface ShortQuery {
  name: string;
  place: number;
}

/** What is remembered between the head and the body of a request that may be answered here. */
class Visit {
  constructor(
    readonly query: ShortQuery,
    readonly caller: Caller | undefined,
  ) {}
}

export interface FrontDeskOptions {
  words: SharedWords;
  keys: { version: number; list: KeyList };
  security: Omit<SecurityOptions, 'keys' | 'onAuthFailure'>;
  telling: FrontTelling;
  forwarder: Forwarder;
  post: (message: FromFront) => void;
  /** Hears of every request, with the time of its head. */
  hear: (startedAt: number) => void;
}

export class FrontDesk implements Receiver, Keys {
  readonly #security: Security;
  readonly #ids = new RequestIds();
  #keys: KeyTable;
  #keysVersion: number;
  /** By path. */
  #queries = new Map<string, ShortQuery>();
  #figures = new FrontFigures([]);
  #attached: Attached | undefined;
  #work: Exchange['work'];
  readonly #onWork = (cost: Exchange['work']): void => {
    this.#work = cost;
  };

  constructor(private readonly options: FrontDeskOptions) {
    const { keys, security } = options;
    this.#keys = new KeyTable(keys.list);
    this.#keysVersion = keys.version;
    // Who is refused here is passed on: the main thread counts.
    this.#security = new Security({ ...security, keys: this, onAuthFailure: () => undefined });
  }

  /** From now on reads are made there. */
  begin(attached: Attached): void {
    this.#attached = attached;
  }

  adopt(queries: readonly Query[]): void {
    this.#figures = new FrontFigures(queries.map(({ name }) => name));
    const { names, buffer } = this.#figures;
    this.options.post({ kind: 'figures', names, buffer });
    const short = queries.flatMap(({ name, plan }, place) =>
      plan.writes ? [] : [[`/${name}`, { name, place }] as const],
    );
    this.#queries = new Map(short);
  }

  renewKeys(version: number, list: KeyList): void {
    this.#keys = new KeyTable(list);
    this.#keysVersion = version;
  }

  get active(): boolean {
    return this.#keys.active;
  }

  find(text: string, now: number): Caller | undefined {
    return this.#keys.find(text, now);
  }

  open(exchange: Exchange): boolean {
    this.options.hear(exchange.startedAt);
    const query = this.#queryOf(exchange);
    if (query === undefined || !this.#admits(exchange, query)) {
      this.options.forwarder.open(exchange, query?.name);
    }
    return true;
  }

  /** The query of a request that may be answered here, by all that its head says. */
  #queryOf(exchange: Exchange): ShortQuery | undefined {
    const { words } = this.options;
    if (exchange.method !== 'POST' || !words.isOpen || !isPlain(exchange)) return undefined;
    if (words.keysVersion !== this.#keysVersion || exchange.tenant !== '') return undefined;
    return this.#queries.get(exchange.path);
  }

  #admits(exchange: Exchange, query: ShortQuery): boolean {
    const security = this.#security;
    try {
      security.checkHost(exchange);
      security.checkOrigin(exchange);
      security.checkProtectedMode(exchange);
      const caller = security.authenticate(exchange);
      security.checkAccess(exchange, caller, { access: 'read', query: query.name });
      exchange.memo = new Visit(query, caller);
      return true;
    } catch {
      return false;
    }
  }

  complete(exchange: Exchange, body: Uint8Array): void {
    const { memo } = exchange;
    if (memo instanceof Visit) {
      const { words } = this.options;
      const isSound = words.isOpen && words.keysVersion === this.#keysVersion;
      if (isSound && this.#readHere(exchange, memo, body)) return;
      this.options.forwarder.open(exchange, memo.query.name);
    }
    this.options.forwarder.complete(exchange, body);
  }

  /** Whether the read was made: false for one that the main thread is to make. */
  #readHere(exchange: Exchange, visit: Visit, body: Uint8Array): boolean {
    let answer: Uint8Array | undefined;
    this.#work = undefined;
    try {
      answer = this.#attached?.readShort(visit.query.name, body, this.#onWork);
    } catch (error) {
      // Defects are the main thread's to meet and to tell of, deadlines to keep and to count.
      if (!(error instanceof TrellisError) || mains.has(error.code)) return false;
      this.#fail(exchange, visit, body, error.data);
      return true;
    }
    if (answer === undefined) return false;
    this.#ids.give(exchange);
    this.#finish(exchange, visit, body, okStatus, answer.length);
    exchange.send(okStatus, jsonHeaders, answer, false);
    return true;
  }

  #fail(exchange: Exchange, visit: Visit, sent: Uint8Array, error: ErrorData): void {
    this.#ids.give(exchange);
    const status = statusOf(error.code);
    const body = errorBody(error, exchange.requestId);
    this.#figures.reject(error.code);
    this.#finish(exchange, visit, sent, status, body.length, error.code);
    exchange.addHeaders(errorHeaders(error));
    exchange.send(status, jsonHeaders, body, false);
  }

  #finish(
    exchange: Exchange,
    { query, caller }: Visit,
    sent: Uint8Array,
    status: string,
    bytesOut: number,
    code?: ErrorCode,
  ): void {
    const ms = performance.now() - exchange.startedAt;
    const { bytesIn, method, path } = exchange;
    this.#figures.at(query.place).record(status, ms / 1000, bytesIn, bytesOut);
    const { telling, post } = this.options;
    const work = this.#work;
    if (telling.answers) {
      const call = { method, path, status: status.slice(0, 3), code, ms, rows: work?.rows };
      post({ kind: 'answered', call });
    }
    const verdict = verdictOn(telling, ms, work, code, code && isServerFault(code));
    if (verdict === undefined) return;
    const request = {
      requestId: exchange.requestId,
      route: query.name,
      query: query.name,
      status,
      code,
      ms,
      work,
      bytesIn,
      bytesOut,
      keyId: caller?.keyId,
      peer: this.#security.peer(exchange),
      traceparent: exchange.traceparent,
      sent: telling.values ? sentBody(exchange, sent) : undefined,
    };
    post({ kind: 'ended', request, verdict });
  }

  refuse(exchange: Exchange, error: ErrorData): void {
    const { forwarder } = this.options;
    const { memo } = exchange;
    // Judged neither here nor there: its framing is not sound.
    if (memo === undefined) return forwarder.openUnsound(exchange, error);
    if (memo instanceof Visit) forwarder.open(exchange);
    forwarder.refuse(exchange, error);
  }

  fault(exchange: Exchange, error: unknown): void {
    this.options.post({ kind: 'defect', error });
    if (!exchange.settled) this.refuse(exchange, { code: 'INTERNAL', args: {} });
  }

  gone(exchange: Exchange): void {
    this.options.forwarder.gone(exchange);
  }
}

/** Whether a head asks for nothing but a query's answer. */
function isPlain(exchange: Exchange): boolean {
  const { contentType, idempotencyKey } = exchange;
  return (
    exchange.query === '' &&
    exchange.transferEncodingCount === 0 &&
    (contentType === 'application/json' || contentType === '') &&
    exchange.contentEncoding === '' &&
    exchange.timeoutHeader === '' &&
    exchange.accessHeader === '' &&
    idempotencyKey === undefined &&
    declaredLength(exchange) <= shortBodyMax
  );
}
