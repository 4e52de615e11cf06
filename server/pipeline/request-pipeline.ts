// Receives every request: runs the checks in their order, starts the endpoint, sends the answer, counts and
// logs. Invariant: every exchange is answered exactly once, or its client has disconnected.
import {
  type ErrorCode,
  type ErrorData,
  TrellisError,
  toErrorData,
  excerpt,
  fail,
} from '../../engine/internal.js';
import { type Exchange, hasBody } from '../http/exchange.js';
import { declaredLength } from '../http/framing.js';
import { jsonHeaders, noContentStatus, okStatus } from '../http/header-list.js';
import { errorBody, errorHeaders, isServerFault, statusOf } from '../http/http-error.js';
import type { Caller } from '../auth/keys.js';
import type { Audit } from '../telemetry/audit.js';
import type { Log } from '../telemetry/log.js';
import type { Metrics, RouteMetrics } from '../telemetry/metrics.js';
import { budgetOf } from './timeout.js';
import { RequestIds } from './request-id.js';
import type { Endpoint, Result, Routes } from './router.js';
import type { RequestGuard } from '../auth/request-guard.js';
import { type RequestLog, type SentBody, sentBody, shouldLog } from '../telemetry/request-log.js';
import type { Receiver } from '../http/transport.js';

/**
 * What a node of a cluster decides about each request: which node answers it, and how fresh the answer is.
 */
export interface RequestPlacement {
  /** Whether another node authenticates and answers this request. */
  passesOn(exchange: Exchange, endpoint: Endpoint): boolean;
  /** The client's part of a body that may have come through another node. */
  received(exchange: Exchange, body: Uint8Array): Uint8Array;
  /**
   * Answers in place of the endpoint, or waits before it. Returns undefined if the endpoint may answer
   * immediately.
   */
  before(
    exchange: Exchange,
    endpoint: Endpoint,
    body: Uint8Array,
    answer: () => Result | Promise<Result>,
  ): Promise<Result> | undefined;
  /** The consistency token of an answer that begins now. */
  tokenOf(exchange: Exchange): string;
}

/** Handles the requests of one database. */
export interface DatabaseRequestHandler {
  /** Name of the database; empty for the main one. */
  readonly tenant: string;
  readonly routes: Pick<Routes, 'find' | 'endpointFor' | 'failUnknown' | 'failMethod'>;
  readonly metrics: Metrics;
  readonly requestLog: RequestLog;
  /** Forwarding and freshness, on a node of a cluster. */
  readonly consistency: RequestPlacement | undefined;
  /** Error with which ordinary requests are refused at the moment, or undefined. */
  unavailableReason(): ErrorData | undefined;
  /**
   * Opens a database that is closed while idle. The promise resolves when it is open; undefined if it is open
   * already.
   */
  wake?(): Promise<void> | undefined;
}

export interface RequestPipelineOptions {
  security: RequestGuard;
  /** Handler of the requests that name no database. */
  main: DatabaseRequestHandler;
  /** The handler for the head of a request, on a server with several databases; never fails. */
  servingFor?: ((exchange: Exchange) => DatabaseRequestHandler) | undefined;
  log: Log;
  /** Requests that take longer than this are logged. */
  slowMs: number;
  /** Share of requests that get a log line, from 0 to 1. */
  accessShare: number;
  audit: Audit;
  /** Called after every answered request, in development mode. */
  onAnswered?: ((call: AnsweredCall) => void) | undefined;
}

export interface AnsweredCall {
  method: string;
  path: string;
  status: string;
  /** Code of the error, if the request failed. */
  code?: ErrorCode | undefined;
  ms: number;
  rows?: number | undefined;
}

/** A refused body up to this size is read and discarded. A larger one ends the connection. */
const forgottenBodyMax = 64 * 1024;
/** The engine stops calls itself. If it does not, the client gets its answer this many milliseconds later. */
const graceMs = 10;
const sweepMs = 10;
/**
 * After this many milliseconds, a read is cancelled if its client has ended its stream. Most such clients
 * have disconnected, a few still wait for the answer. Most answers are sent earlier.
 */
const holdMs = 500;

/** State of an exchange between its head and its answer. */
interface RequestContext {
  serving: DatabaseRequestHandler;
  endpoint: Endpoint;
  caller: Caller | undefined;
  /** The request body, for the log. */
  sent?: SentBody | undefined;
}

export class RequestPipeline implements Receiver {
  /** Calls that are not answered yet. */
  readonly #pending = new Set<Exchange>();
  readonly #ids = new RequestIds();
  #sweep: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;
  /** Time of the last request, in milliseconds of performance.now(). */
  #lastRequestAt = performance.now();

  constructor(private readonly options: RequestPipelineOptions) {}

  /** Number of calls that were started and not answered. */
  get inFlight(): number {
    return this.#pending.size;
  }

  /** Records a request that another thread received at this time of performance.now(). */
  markActive(at: number): void {
    this.#lastRequestAt = Math.max(this.#lastRequestAt, at);
  }

  /** Milliseconds since the last request; 0 while a call runs. */
  get idleMs(): number {
    return this.#pending.size > 0 ? 0 : performance.now() - this.#lastRequestAt;
  }

  open(exchange: Exchange): boolean {
    this.#lastRequestAt = exchange.startedAt;
    const { security, main, servingFor } = this.options;
    this.#ids.give(exchange);
    const serving = servingFor === undefined ? main : servingFor(exchange);
    const { routes, consistency } = serving;
    const route = routes.find(exchange.path);
    const endpoint = route && routes.endpointFor(route, exchange.method);
    const caller = this.#admit(exchange, endpoint, serving);
    if (exchange.settled) return false;
    if (route === undefined) return routes.failUnknown(exchange.path, caller);
    if (endpoint === undefined) return routes.failMethod(route, exchange);
    const visit: RequestContext = { serving, endpoint, caller };
    exchange.context = visit;
    security.checkAccess(exchange, caller, endpoint);
    if (exchange.method !== 'POST') {
      this.#run(exchange, visit, noBody);
      return false;
    }
    checkEncoding(exchange);
    if (exchange.transferEncodingCount > 0) return true;
    const length = declaredLength(exchange);
    checkMediaType(exchange, length, endpoint);
    // A large body is read in any case, because a refusal before would end the connection.
    const isJudgedHere = length <= forgottenBodyMax && !consistency?.passesOn(exchange, endpoint);
    const refusal = isJudgedHere ? endpoint.reject?.(exchange, length) : undefined;
    if (refusal !== undefined) this.#answerError(exchange, refusal, false);
    return refusal === undefined;
  }

  complete(exchange: Exchange, whole: Uint8Array): void {
    const visit = exchange.context as RequestContext;
    this.options.security.checkBody(exchange, whole);
    const body = visit.serving.consistency?.received(exchange, whole) ?? whole;
    // Only now is it known whether a chunked body is empty.
    if (exchange.transferEncodingCount > 0) {
      checkMediaType(exchange, body.length, visit.endpoint);
    }
    // The rows of an import are not parameters.
    if (exchange.contentType !== 'application/x-ndjson') {
      visit.sent = visit.serving.requestLog.hasValues ? sentBody(exchange, body) : undefined;
    }
    this.#run(exchange, visit, body);
  }

  /**
   * Checks whether the client may use this endpoint at all, and returns the caller. The checks depend on the
   * endpoint, not on the path: a query may have the path of a public page. If no endpoint exists, the client
   * needs a key before it gets the 404.
   */
  #admit(
    exchange: Exchange,
    endpoint: Endpoint | undefined,
    serving: DatabaseRequestHandler,
  ): Caller | undefined {
    const { security } = this.options;
    const always = endpoint?.availableDuringStartup === true;
    security.checkHost(exchange);
    security.checkOrigin(exchange);
    if (!always) security.checkProtectedMode(exchange);
    if (security.isPreflight(exchange)) {
      exchange.send(noContentStatus, jsonHeaders, '', false);
      return undefined;
    }
    const caller =
      endpoint?.access === 'open' ? undefined : security.authenticate(exchange, serving.tenant);
    // Runs before the route is checked: a server that starts does not know its queries yet.
    const closed =
      always || endpoint?.reportsStartup === true ? undefined : serving.unavailableReason();
    if (closed !== undefined) throw new TrellisError(closed);
    return caller;
  }

  #run(exchange: Exchange, { serving, endpoint, caller }: RequestContext, body: Uint8Array): void {
    const answer = () => endpoint.handle(exchange, body, caller);
    const fresh = () => serving.consistency?.before(exchange, endpoint, body, answer) ?? answer();
    const waking = endpoint.availableDuringStartup ? undefined : serving.wake?.();
    const result = waking === undefined ? fresh() : waking.then(fresh);
    if (result instanceof Promise) this.#await(exchange, endpoint, result);
    else this.#answer(exchange, endpoint, result);
  }

  #await(exchange: Exchange, endpoint: Endpoint, result: Promise<Result>): void {
    // The timeout never answers a write: only the writer thread knows whether the write was rolled back.
    exchange.deadline =
      endpoint.writes || exchange.called?.writes
        ? Number.POSITIVE_INFINITY
        : exchange.startedAt + budgetOf(exchange, endpoint.budgetMs) + graceMs;
    if (endpoint.cancelOnHalfClose === true) exchange.allowDisconnect();
    else exchange.keepAlive();
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
      if (exchange.deadline < Infinity && now - exchange.startedAt > holdMs)
        exchange.allowDisconnect();
      if (now < exchange.deadline) continue;
      exchange.cancel?.();
      const ms = Math.round(exchange.deadline - graceMs - exchange.startedAt);
      this.fault(exchange, new TrellisError({ code: 'QUERY_TIMEOUT', args: { ms } }));
    }
  }

  #answer(exchange: Exchange, endpoint: Endpoint, result: Result): void {
    if (exchange.settled) return;
    this.#addPosition(exchange);
    if (result instanceof Uint8Array) {
      this.#finish(exchange, endpoint.metrics, okStatus, result.length);
      exchange.send(okStatus, jsonHeaders, result, false);
    } else if ('begin' in result) {
      this.#finish(exchange, endpoint.metrics, result.status, 0);
      result.begin(exchange.stream(result.status, result.headers));
    } else {
      this.#finish(exchange, endpoint.metrics, result.status, Buffer.byteLength(result.body));
      exchange.send(result.status, result.headers, result.body, false);
    }
  }

  /** Adds the position of this node of a cluster, to every answer for callers with access to the database. */
  #addPosition(exchange: Exchange): void {
    const consistency = (exchange.context as RequestContext | undefined)?.serving.consistency;
    if (consistency !== undefined)
      exchange.addHeaders([['Trellis-Position', consistency.tokenOf(exchange)]]);
  }

  refuse(exchange: Exchange, error: ErrorData): void {
    if (exchange.requestId === '') this.#ids.give(exchange);
    this.#answerError(exchange, error, true);
  }

  fault(exchange: Exchange, error: unknown): void {
    if (exchange.settled) return;
    const { error: data, stack } = toErrorData(error);
    if (stack === undefined) return this.#answerError(exchange, data, false);
    const args = { request_id: exchange.requestId };
    this.options.log('error', 'request failed: internal error', { ...args, error });
    this.#answerError(exchange, { code: 'INTERNAL', args }, false);
  }

  #answerError(exchange: Exchange, error: ErrorData, close: boolean): void {
    if (exchange.settled) return;
    const status = statusOf(error.code);
    const body = errorBody(error, exchange.requestId);
    const visit = exchange.context as RequestContext | undefined;
    const { metrics } = visit?.serving ?? this.options.main;
    metrics.reject(error.code);
    if (error.code === 'SHARE_EXCEEDED') metrics.shares.add(String(error.args.what));
    const query = visit?.endpoint.query;
    if (error.code === 'QUERY_TIMEOUT' && query !== undefined) metrics.timeouts.add(query);
    const route = visit?.endpoint.metrics ?? metrics.route('other');
    this.#finish(exchange, route, status, body.length, error);
    this.#addPosition(exchange);
    exchange.addHeaders(errorHeaders(error));
    exchange.send(status, jsonHeaders, body, close || leavesLargeBody(exchange));
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
    const { onAnswered } = this.options;
    const { work } = exchange;
    const code = error?.code;
    if (onAnswered !== undefined) {
      const { method, path } = exchange;
      onAnswered({ method, path, status: status.slice(0, 3), code, ms, rows: work?.rows });
    }
    if (exchange.asksAdmin) this.#audit(exchange, metrics.label, ms, code);
    const verdict = shouldLog(this.options, ms, work, code, code && isServerFault(code));
    if (verdict === undefined) return;
    const visit = exchange.context as RequestContext | undefined;
    const ended = {
      requestId: exchange.requestId,
      route: metrics.label,
      query: visit?.endpoint.query ?? exchange.called?.query,
      status,
      code,
      ms,
      work,
      bytesIn: exchange.bytesIn,
      bytesOut,
      keyId: visit?.caller?.keyId,
      peer: this.options.security.peer(exchange),
      traceparent: exchange.traceparent,
      sent: visit?.sent,
    };
    const { requestLog } = visit?.serving ?? this.options.main;
    requestLog.tell(ended, verdict);
  }

  #audit(exchange: Exchange, route: string, ms: number, code: ErrorCode | undefined): void {
    const { caller, serving } = exchange.context as RequestContext;
    this.options.audit.note({
      event: code === 'FORBIDDEN' ? 'refused' : 'admin',
      keyId: caller?.keyId,
      isNode: caller?.isNode,
      tenant: serving.tenant,
      peer: this.options.security.peer(exchange),
      path: exchange.path,
      route,
      outcome: code ?? 'ok',
      rows: exchange.work?.rows,
      ms,
      requestId: exchange.requestId,
    });
  }

  /** Resolves when no call is running, or after `ms`. */
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

const noBody = new Uint8Array(0);

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

/**
 * Whether the type is `application/json` in any letter case. A charset parameter must be UTF-8; others are
 * ignored.
 */
function isJsonType(value: string): boolean {
  const [type, ...parameters] = value.toLowerCase().split(';');
  if (type!.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name, charset = ''] = parameter.split('=');
    return name!.trim() !== 'charset' || /^"?utf-8"?$/.test(charset.trim());
  });
}

/** Whether the unread rest of the body is too large to be read and discarded. */
function leavesLargeBody(exchange: Exchange): boolean {
  if (!hasBody(exchange)) return false;
  if (exchange.transferEncodingCount > 0) return exchange.bytesIn === 0;
  const left = declaredLength(exchange) - exchange.bytesIn;
  return left > forgottenBodyMax;
}
