// Receives every request: runs the checks of http.md 3.1 in their order, starts the endpoint,
// answers, counts and logs. Invariant: an exchange that came in is answered exactly once, or its
// client has gone.
import {
  type ErrorCode,
  type ErrorData,
  type LimitName,
  TrellisError,
  excerpt,
  fail,
  wallMs,
} from '../../engine/index.js';
import { type Exchange, hasBody } from '../http/exchange.js';
import { declaredLength } from '../http/framing.js';
import { jsonHeaders } from '../http/header-list.js';
import { errorBody, errorHeaders, isServerFault, statusOf } from '../http/http-error.js';
import { noContentStatus, okStatus } from '../http/status-line.js';
import type { Caller } from '../auth/keys.js';
import type { Log } from '../observe/log.js';
import type { Metrics, RouteMetrics } from '../observe/metrics.js';
import type { Endpoint, Result, Routes } from './routes.js';
import type { Security } from '../auth/security.js';
import type { SlowLog } from '../observe/slow-log.js';
import type { Receiver } from '../http/transport.js';

export interface ReceptionOptions {
  security: Security;
  routes: Routes;
  metrics: Metrics;
  slowLog: SlowLog;
  log: Log;
  /** Requests slower than this are logged. */
  slowMs: number;
  /** Share of requests that get a log line, 0 to 1. */
  accessShare: number;
  /** Why ordinary requests are refused at the moment, if they are. */
  closedBy: () => ErrorData | undefined;
  /** Told of every request that was refused, for whoever develops. */
  onRefusal?: ((request: Refusal) => void) | undefined;
}

export interface Refusal {
  method: string;
  path: string;
  status: string;
  code: ErrorCode;
  ms: number;
}

const requestIdForm = /^[A-Za-z0-9._-]{1,64}$/;
/** A refused body up to this size is read and forgotten; a larger one ends the connection. */
const forgottenBodyMax = 64 * 1024;
/** The engine stops calls by itself; this much later the client is answered for it. */
const graceMs = 10;
/** A call that visits more elements is logged, however quick it was. */
const quietVisitsMax = 100_000;
const sweepMs = 10;
/**
 * A read that takes longer is given up when its client has sent the end of its stream. Most who do
 * have left; a few wait for the answer, and most answers are there by then.
 */
const holdMs = 500;

/** What is remembered of an exchange between its head and its answer. */
interface Visit {
  endpoint: Endpoint;
  caller: Caller | undefined;
}

/** What is thought of a request that ended. */
interface Verdict {
  ms: number;
  slow: boolean;
  /** It gets a line of the log in any case. */
  isChosen: boolean;
  code: ErrorCode | undefined;
}

export class Reception implements Receiver {
  /** Calls whose answer is to come. */
  readonly #pending = new Set<Exchange>();
  readonly #other: RouteMetrics;
  readonly #idPrefix = `${randomText()}-`;
  #lastId = 0;
  #sweep: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;
  /** When the last request came. */
  #heardAt = performance.now();

  constructor(private readonly options: ReceptionOptions) {
    this.#other = options.metrics.route('other');
  }

  /** Calls that have been started and not answered. */
  get inFlight(): number {
    return this.#pending.size;
  }

  /** Milliseconds for which nobody has asked for anything. */
  get idleMs(): number {
    return this.#pending.size > 0 ? 0 : performance.now() - this.#heardAt;
  }

  open(exchange: Exchange): boolean {
    this.#heardAt = exchange.startedAt;
    const { security, routes } = this.options;
    this.#giveId(exchange);
    const route = routes.find(exchange.path);
    const endpoint = route && routes.endpointFor(route, exchange.method);
    const caller = this.#admit(exchange, endpoint);
    if (exchange.settled) return false;
    if (route === undefined) return routes.failUnknown(exchange.path, caller);
    if (endpoint === undefined) return routes.failMethod(route, exchange);
    exchange.memo = { endpoint, caller } satisfies Visit;
    security.checkAccess(exchange, caller, endpoint);
    if (exchange.method !== 'POST') {
      this.#run(exchange, endpoint, noBody, caller);
      return false;
    }
    checkEncoding(exchange);
    if (exchange.transferEncodingCount > 0) return true;
    const length = declaredLength(exchange);
    checkMediaType(exchange, length, endpoint);
    // A large body is read all the same: to refuse it unread would end the connection.
    const refusal = length <= forgottenBodyMax ? endpoint.refusal?.(exchange, length) : undefined;
    if (refusal !== undefined) this.#answerError(exchange, refusal, false);
    return refusal === undefined;
  }

  complete(exchange: Exchange, body: Uint8Array): void {
    const visit = exchange.memo as Visit;
    // Only now is it known whether a chunked body is empty.
    if (exchange.transferEncodingCount > 0) {
      checkMediaType(exchange, body.length, visit.endpoint);
    }
    this.#run(exchange, visit.endpoint, body, visit.caller);
  }

  /**
   * Whether the client may come to this endpoint at all, and who it is. The endpoint decides, not
   * the path: a query may stand at the path of an open page. Where none is found a key is needed
   * before it is told.
   */
  #admit(exchange: Exchange, endpoint: Endpoint | undefined): Caller | undefined {
    const { security } = this.options;
    const always = endpoint?.always === true;
    security.checkHost(exchange);
    security.checkOrigin(exchange);
    if (!always) security.checkProtectedMode(exchange);
    if (security.isPreflight(exchange)) {
      exchange.send(noContentStatus, jsonHeaders, '', false);
      return undefined;
    }
    const caller = endpoint?.access === 'open' ? undefined : security.authenticate(exchange);
    // Before the route is judged: while the server starts, it does not know its queries yet.
    if (!always && endpoint?.tellsState !== true) this.#checkState();
    return caller;
  }

  #giveId(exchange: Exchange): void {
    const given = exchange.requestIdHeader;
    exchange.requestId =
      given !== '' && requestIdForm.test(given)
        ? given
        : this.#idPrefix + (++this.#lastId).toString(36).padStart(8, '0');
  }

  #checkState(): void {
    const closed = this.options.closedBy();
    if (closed !== undefined) throw new TrellisError(closed);
  }

  #run(exchange: Exchange, endpoint: Endpoint, body: Uint8Array, caller: Caller | undefined): void {
    const result = endpoint.handle(exchange, body, caller);
    if (result instanceof Promise) this.#await(exchange, endpoint, result);
    else this.#answer(exchange, endpoint, result);
  }

  #await(exchange: Exchange, endpoint: Endpoint, result: Promise<Result>): void {
    // A write is never answered for by the clock: only the writer knows whether it was rolled back.
    exchange.deadline =
      endpoint.writes || exchange.called?.writes
        ? Number.POSITIVE_INFINITY
        : exchange.startedAt + budgetOf(exchange, endpoint.budgetMs) + graceMs;
    if (endpoint.endCancels === true) exchange.letGo();
    else exchange.hold();
    this.#pending.add(exchange);
    this.#sweep ??= setInterval(() => this.#answerLate(), sweepMs);
    result.then(
      (result) => {
        this.#settle(exchange);
        this.#answer(exchange, endpoint, result);
      },
      (error: unknown) => {
        this.#settle(exchange);
        this.fault(exchange, error);
      },
    );
  }

  #settle(exchange: Exchange): void {
    exchange.cancel = undefined;
    this.#pending.delete(exchange);
    if (this.#pending.size === 0) this.#onIdle?.();
  }

  #answerLate(): void {
    if (this.#pending.size === 0) {
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }
    const now = performance.now();
    for (const exchange of this.#pending) {
      if (exchange.settled) continue;
      if (exchange.deadline < Infinity && now - exchange.startedAt > holdMs) exchange.letGo();
      if (now < exchange.deadline) continue;
      exchange.cancel?.();
      const ms = Math.round(exchange.deadline - graceMs - exchange.startedAt);
      this.fault(exchange, new TrellisError({ code: 'QUERY_TIMEOUT', args: { ms } }));
    }
  }

  #answer(exchange: Exchange, endpoint: Endpoint, result: Result): void {
    if (exchange.settled) return;
    if (result instanceof Uint8Array) {
      this.#finish(exchange, endpoint.metrics, okStatus, result.length);
      exchange.send(okStatus, jsonHeaders, result, false);
    } else if ('begin' in result) {
      this.#finish(exchange, endpoint.metrics, result.status, 0);
      result.begin(exchange.stream(result.status, result.headers));
    } else {
      this.#finish(exchange, endpoint.metrics, result.status, result.body.length);
      exchange.send(result.status, result.headers, result.body, false);
    }
  }

  refuse(exchange: Exchange, error: ErrorData): void {
    if (exchange.requestId === '') this.#giveId(exchange);
    this.#answerError(exchange, error, true);
  }

  fault(exchange: Exchange, error: unknown): void {
    if (exchange.settled) return;
    if (error instanceof TrellisError) {
      this.#answerError(exchange, error.data, false);
      return;
    }
    const args = { request_id: exchange.requestId };
    this.options.log('error', 'a request failed by a defect', { ...args, error });
    this.#answerError(exchange, { code: 'INTERNAL', args }, false);
  }

  #answerError(exchange: Exchange, error: ErrorData, close: boolean): void {
    if (exchange.settled) return;
    const status = statusOf(error.code);
    const body = errorBody(error, exchange.requestId);
    const visit = exchange.memo as Visit | undefined;
    this.#count(error.code, visit?.endpoint.query);
    this.#finish(exchange, visit?.endpoint.metrics ?? this.#other, status, body.length, error);
    exchange.addHeaders(errorHeaders(error));
    exchange.send(status, jsonHeaders, body, close || leavesLargeBody(exchange));
  }

  #count(code: ErrorCode, query: string | undefined): void {
    const { rejected, limitHits, timeouts } = this.options.metrics;
    rejected.add(code);
    if (code === 'QUERY_TIMEOUT' && query !== undefined) timeouts.add(query);
    const limit = limitOf[code];
    if (limit !== undefined) limitHits.add(limit);
  }

  gone(exchange: Exchange): void {
    exchange.cancel?.();
  }

  #finish(
    exchange: Exchange,
    metrics: RouteMetrics,
    status: string,
    bytesOut: number,
    error?: ErrorData,
  ): void {
    const ms = performance.now() - exchange.startedAt;
    metrics.record(status, ms / 1000, exchange.bytesIn, bytesOut);
    const { accessShare, onRefusal } = this.options;
    if (onRefusal !== undefined && error !== undefined) {
      const { method, path } = exchange;
      onRefusal({ method, path, status: status.slice(0, 3), code: error.code, ms });
    }
    const slow = this.#isSlow(exchange, ms, error?.code);
    const broken = error !== undefined && isServerFault(error.code);
    const isChosen = broken || (accessShare > 0 && Math.random() < accessShare);
    if (!slow && !isChosen) return;
    this.#record(exchange, metrics, status, bytesOut, { ms, slow, isChosen, code: error?.code });
  }

  /** Slow, cancelled, or a lot of work though it was quick (operations.md 9.3). */
  #isSlow({ work }: Exchange, ms: number, code?: ErrorCode): boolean {
    if (ms >= this.options.slowMs || code === 'QUERY_TIMEOUT') return true;
    return work !== undefined && work.visits > quietVisitsMax;
  }

  #record(
    exchange: Exchange,
    metrics: RouteMetrics,
    status: string,
    bytesOut: number,
    { ms, slow, isChosen, code }: Verdict,
  ): void {
    const { log, slowLog, security } = this.options;
    const visit = exchange.memo as Visit | undefined;
    const { work } = exchange;
    const entry = {
      request_id: exchange.requestId,
      route: metrics.label,
      query: visit?.endpoint.query ?? exchange.called?.query,
      status: status.slice(0, 3),
      code,
      ms: inMicros(ms),
      queue_ms: work && inMicros(Math.max(0, ms - work.micros / 1000)),
      rows: work?.rows,
      visits: work?.visits,
      bytes_in: exchange.bytesIn,
      bytes_out: bytesOut,
    };
    if (slow) slowLog.add({ ts: new Date(wallMs()).toISOString(), ...entry });
    const leftOut = isChosen ? 0 : slowLog.takeLine(exchange.startedAt + ms);
    if (leftOut === undefined) return;
    log(code === 'INTERNAL' ? 'error' : 'info', slow ? 'slow request' : 'request', {
      ...entry,
      key_id: visit?.caller?.keyId || undefined,
      peer: security.peer(exchange),
      traceparent: exchange.traceparent ? excerpt(exchange.traceparent) : undefined,
      left_out: leftOut || undefined,
    });
  }

  /** Resolves when no call is in flight, or after `ms`. */
  async drain(ms: number): Promise<void> {
    if (this.#pending.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The limit behind a refusal, where the code names exactly one. */
const limitOf: Partial<Record<ErrorCode, LimitName>> = {
  BODY_TOO_LARGE: 'body_bytes',
  JSON_TOO_DEEP: 'json_depth',
  JSON_TOO_MANY_MEMBERS: 'json_members',
  INDEX_KEY_TOO_LONG: 'index_key_bytes',
  VALUE_TOO_LARGE: 'value_bytes',
  VECTOR_TOO_LONG: 'vector_dimensions',
  TEXT_TOO_LONG: 'text_bytes',
  RESULT_TOO_LARGE: 'result_items',
  QUERY_MEMORY: 'query_memory',
  QUERY_WORK: 'query_visits',
  QUERY_TIMEOUT: 'query_time',
  TXN_TOO_LARGE: 'txn_writes',
  FILTER_TOO_DEEP: 'filter_depth',
  FILTER_TOO_LARGE: 'filter_predicates',
  TOO_MANY_SESSIONS: 'sessions',
  SESSION_BUSY: 'session_queue',
};

const noBody = new Uint8Array(0);

/** The time a call may take: the endpoint's, lowered by the request's header (http.md 3.8). */
export function budgetOf(exchange: Exchange, budgetMs: number): number {
  const text = exchange.timeoutHeader;
  if (text === '' || !/^[1-9][0-9]{0,14}$/.test(text)) return budgetMs;
  return Math.min(budgetMs, Number(text));
}

function checkEncoding(exchange: Exchange): void {
  const { contentEncoding } = exchange;
  if (contentEncoding === '' || contentEncoding.toLowerCase() === 'identity') return;
  fail('UNSUPPORTED_ENCODING', { encoding: excerpt(contentEncoding) });
}

function checkMediaType(exchange: Exchange, length: number, { ndjson }: Endpoint): void {
  const { contentType } = exchange;
  if (ndjson === true && contentType === 'application/x-ndjson') return;
  if (contentType === 'application/json' || contentType === '' || length === 0) return;
  if (!isJsonType(contentType)) fail('UNSUPPORTED_MEDIA_TYPE', { type: excerpt(contentType) });
}

/** `application/json` in any letter case, with any parameters but a charset other than UTF-8. */
function isJsonType(value: string): boolean {
  const [type, ...parameters] = value.toLowerCase().split(';');
  if (type!.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name, charset = ''] = parameter.split('=');
    return name!.trim() !== 'charset' || /^"?utf-8"?$/.test(charset.trim());
  });
}

/** Whether a body is still to come that is too large to be read for nothing. */
function leavesLargeBody(exchange: Exchange): boolean {
  if (!hasBody(exchange)) return false;
  if (exchange.transferEncodingCount > 0) return exchange.bytesIn === 0;
  const left = declaredLength(exchange) - exchange.bytesIn;
  return left > forgottenBodyMax;
}

const inMicros = (ms: number): number => Math.round(ms * 1000) / 1000;

function randomText(): string {
  return Math.floor(Math.random() * 2 ** 40).toString(36);
}
