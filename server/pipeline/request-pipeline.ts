// Receives every request of the main thread: runs the checks in their order, starts the endpoint and answers
// (request-answerer.ts). Invariant: every exchange is answered exactly once, or its client has disconnected.
import {
  type ErrorCode,
  type ErrorData,
  TrellisError,
  toErrorData,
  excerpt,
  fail,
} from '../../engine/internal.js';
import { type Exchange, RequestContext, hasBody } from '../http/exchange.js';
import { declaredLength } from '../http/framing.js';
import { jsonHeaders, noContentStatus, okStatus } from '../http/header-list.js';
import type { Caller } from '../auth/keys.js';
import type { Audit } from '../telemetry/audit.js';
import type { Log } from '../telemetry/log.js';
import type { Metrics, RouteMetrics } from '../telemetry/metrics.js';
import { budgetOf } from './timeout.js';
import { type AnswererOptions, RequestAnswerer } from './request-answerer.js';
import { isOAuthPath } from './oauth-path.js';
import type { Endpoint, Result, Routes } from './router.js';
import type { RequestGuard } from '../auth/request-guard.js';
import {
  type EndedRequest,
  type LogDecision,
  type RequestLog,
  type SentBody,
  sentBody,
} from '../telemetry/request-log.js';
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
  readonly routes: Pick<Routes, 'find' | 'endpointFor' | 'unknownError' | 'failMethod'>;
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
  ensureOpen?(): Promise<void> | undefined;
}

export interface RequestPipelineOptions extends AnswererOptions {
  security: RequestGuard;
  /** Handler of the requests that name no database. */
  main: DatabaseRequestHandler;
  /** The handler for the head of a request, on a server with several databases; never fails. */
  servingFor?: ((exchange: Exchange) => DatabaseRequestHandler) | undefined;
  log: Log;
  audit: Audit;
}

/** A refused body up to this size is read and discarded. A larger one ends the connection. */
const forgottenBodyMax = 64 * 1024;
/**
 * The engine stops calls at their deadline. If it does not, the server responds this many milliseconds later.
 */
const lateAnswerMs = 10;
const sweepMs = 10;
/**
 * After this many milliseconds, a read is cancelled if its client has ended its stream. Most such clients
 * have disconnected, a few still wait for the answer. Most answers are sent earlier.
 */
const holdMs = 500;

interface Admission {
  endpoint: Endpoint | undefined;
  serving: DatabaseRequestHandler;
  /** Whether the request needs no key. */
  isOpen: boolean;
}

class DatabaseRequestContext extends RequestContext {
  /** The request body, for the log. */
  sent: SentBody | undefined;

  constructor(
    readonly serving: DatabaseRequestHandler,
    readonly endpoint: Endpoint,
    readonly caller: Caller | undefined,
  ) {
    super();
  }

  get query(): string | undefined {
    return this.endpoint.query;
  }

  get keyId(): string | undefined {
    return this.caller?.keyId;
  }
}

/** Returns undefined before the endpoint is known. */
function contextOf({ context }: Exchange): DatabaseRequestContext | undefined {
  return context instanceof DatabaseRequestContext ? context : undefined;
}

export class RequestPipeline extends RequestAnswerer implements Receiver {
  /** Calls that are not answered yet. */
  readonly #pending = new Set<Exchange>();
  #sweep: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;
  /** Time of the last request, in milliseconds of performance.now(). */
  #lastRequestAt = performance.now();

  protected readonly guard: RequestGuard;

  constructor(private readonly options: RequestPipelineOptions) {
    super(options);
    this.guard = options.security;
  }

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
    const { main, servingFor } = this.options;
    this.ids.give(exchange);
    const serving = servingFor === undefined ? main : servingFor(exchange);
    const { routes, consistency } = serving;
    const route = routes.find(exchange.path);
    const endpoint = route && routes.endpointFor(route, exchange.method);
    const isOpen =
      endpoint?.access === 'open' || (route === undefined && isOAuthPath(exchange.path));
    const caller = this.#admit(exchange, { endpoint, serving, isOpen });
    if (exchange.settled) return false;
    if (route === undefined) {
      this.answerError(exchange, routes.unknownError(exchange.path, caller), false);
      return false;
    }
    if (endpoint === undefined) return routes.failMethod(route, exchange);
    const context = new DatabaseRequestContext(serving, endpoint, caller);
    exchange.context = context;
    this.guard.checkAccess(exchange, caller, endpoint);
    if (exchange.method !== 'POST') {
      this.#run(exchange, context, noBody);
      return false;
    }
    checkEncoding(exchange);
    if (exchange.transferEncodingCount > 0) return true;
    const length = declaredLength(exchange);
    checkMediaType(exchange, length, endpoint);
    // A large body is read in any case, because a refusal before would end the connection.
    const isCheckedHere = length <= forgottenBodyMax && !consistency?.passesOn(exchange, endpoint);
    const refusal = isCheckedHere ? endpoint.reject?.(exchange, length) : undefined;
    if (refusal !== undefined) this.answerError(exchange, refusal, false);
    return refusal === undefined;
  }

  complete(exchange: Exchange, whole: Uint8Array): void {
    const context = contextOf(exchange)!;
    const { serving, endpoint } = context;
    this.guard.checkBody(exchange, whole);
    const body = serving.consistency?.received(exchange, whole) ?? whole;
    // Only now is it known whether a chunked body is empty.
    if (exchange.transferEncodingCount > 0) {
      checkMediaType(exchange, body.length, endpoint);
    }
    // The rows of an import are not parameters.
    if (exchange.contentType !== 'application/x-ndjson') {
      context.sent = serving.requestLog.hasValues ? sentBody(exchange, body) : undefined;
    }
    this.#run(exchange, context, body);
  }

  /**
   * Checks whether the client may use this endpoint at all, and returns the caller. The checks depend on the
   * endpoint, not on the path: a query may have the path of a public page. If no endpoint exists, the client
   * needs a key before it gets the 404.
   */
  #admit(exchange: Exchange, { endpoint, serving, isOpen }: Admission): Caller | undefined {
    const { guard } = this;
    const always = endpoint?.availableDuringStartup === true;
    guard.checkSender(exchange, always);
    if (guard.isPreflight(exchange)) {
      exchange.send(noContentStatus, jsonHeaders, '', false);
      return undefined;
    }
    const caller = isOpen ? undefined : guard.authenticate(exchange, serving.tenant);
    // Runs before the route is checked: a server that starts does not know its queries yet.
    const closed =
      always || endpoint?.reportsStartup === true ? undefined : serving.unavailableReason();
    if (closed !== undefined) throw new TrellisError(closed);
    return caller;
  }

  #run(
    exchange: Exchange,
    { serving, endpoint, caller }: DatabaseRequestContext,
    body: Uint8Array,
  ): void {
    const answer = () => endpoint.handle(exchange, body, caller);
    const fresh = () => serving.consistency?.before(exchange, endpoint, body, answer) ?? answer();
    const opening = endpoint.availableDuringStartup ? undefined : serving.ensureOpen?.();
    const result = opening === undefined ? fresh() : opening.then(fresh);
    if (result instanceof Promise) this.#await(exchange, endpoint, result);
    else this.#answer(exchange, result);
  }

  #await(exchange: Exchange, endpoint: Endpoint, result: Promise<Result>): void {
    // The timeout never answers a write: only the writer thread knows whether the write was rolled back.
    exchange.deadline =
      endpoint.writes || exchange.called?.writes
        ? Number.POSITIVE_INFINITY
        : exchange.startedAt + budgetOf(exchange, endpoint.budgetMs) + lateAnswerMs;
    if (endpoint.cancelOnHalfClose === true) exchange.allowDisconnect();
    else exchange.keepAlive();
    this.#pending.add(exchange);
    this.#sweep ??= setInterval(() => this.#answerLate(), sweepMs);
    result.then(
      (result) => {
        this.#settle(exchange);
        this.#answer(exchange, result);
      },
      (error: unknown) => {
        this.#settle(exchange);
        this.fail(exchange, error);
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
      const ms = Math.round(exchange.deadline - lateAnswerMs - exchange.startedAt);
      this.fail(exchange, new TrellisError({ code: 'QUERY_TIMEOUT', args: { ms } }));
    }
  }

  #answer(exchange: Exchange, result: Result): void {
    if (exchange.settled) return;
    this.#addPosition(exchange);
    if (result instanceof Uint8Array) this.answer(exchange, okStatus, jsonHeaders, result);
    else if ('begin' in result) {
      this.finish(exchange, result.status, 0);
      result.begin(exchange.stream(result.status, result.headers));
    } else this.answer(exchange, result.status, result.headers, result.body);
  }

  /** Adds the position of this node of a cluster, to every answer for callers with access to the database. */
  #addPosition(exchange: Exchange): void {
    const consistency = contextOf(exchange)?.serving.consistency;
    if (consistency !== undefined)
      exchange.addHeaders([['Trellis-Position', consistency.tokenOf(exchange)]]);
  }

  refuse(exchange: Exchange, error: ErrorData): void {
    if (exchange.requestId === '') this.ids.give(exchange);
    this.answerError(exchange, error, true);
  }

  fail(exchange: Exchange, error: unknown): void {
    if (exchange.settled) return;
    const { error: data, stack } = toErrorData(error);
    if (stack === undefined) return this.answerError(exchange, data, false);
    const args = { request_id: exchange.requestId };
    this.options.log('error', 'request failed: internal error', { ...args, error });
    this.answerError(exchange, { code: 'INTERNAL', args }, false);
  }

  protected override answerError(exchange: Exchange, error: ErrorData, close: boolean): void {
    if (exchange.settled) return;
    this.#addPosition(exchange);
    super.answerError(exchange, error, close || leavesLargeBody(exchange));
  }

  disconnected(exchange: Exchange): void {
    exchange.cancel?.();
  }

  /** The database of the request; the main one before it is known. */
  #servingOf(exchange: Exchange): DatabaseRequestHandler {
    return contextOf(exchange)?.serving ?? this.options.main;
  }

  protected routeOf(exchange: Exchange): RouteMetrics {
    return contextOf(exchange)?.endpoint.metrics ?? this.options.main.metrics.route('other');
  }

  protected countError(exchange: Exchange, { code, args }: ErrorData): void {
    const { metrics } = this.#servingOf(exchange);
    metrics.reject(code);
    if (code === 'SHARE_EXCEEDED') metrics.shares.add(String(args.what));
    const query = exchange.context?.query;
    if (code === 'QUERY_TIMEOUT' && query !== undefined) metrics.timeouts.add(query);
  }

  protected sentBodyOf(exchange: Exchange): SentBody | undefined {
    return contextOf(exchange)?.sent;
  }

  protected writeLog(exchange: Exchange, request: EndedRequest, decision: LogDecision): void {
    this.#servingOf(exchange).requestLog.write(request, decision);
  }

  protected onFinished(exchange: Exchange, ms: number, _: string, code?: ErrorCode): void {
    const context = exchange.asksAdmin ? contextOf(exchange) : undefined;
    if (context !== undefined) this.#audit(exchange, context, ms, code);
  }

  #audit(
    exchange: Exchange,
    { caller, serving, endpoint }: DatabaseRequestContext,
    ms: number,
    code: ErrorCode | undefined,
  ): void {
    this.options.audit.note({
      event: code === 'FORBIDDEN' ? 'refused' : 'admin',
      keyId: caller?.keyId,
      isNode: caller?.isNode,
      tenant: serving.tenant,
      peer: this.guard.peer(exchange),
      path: exchange.path,
      route: endpoint.metrics.label,
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
