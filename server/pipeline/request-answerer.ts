// Sends, counts and logs the answers of a receiver. Two receivers extend it: RequestPipeline runs requests on
// the main thread (request-pipeline.ts), and ThreadRequestHandler runs short reads on an HTTP thread and
// forwards all other requests (http-threads/thread-request-handler.ts).
// Invariant: every answer of either receiver is counted here, before it is sent.
import type { ErrorCode, ErrorData } from '../../engine/internal.js';
import type { RequestGuard } from '../auth/request-guard.js';
import type { Exchange } from '../http/exchange.js';
import { type HeaderList, jsonHeaders } from '../http/header-list.js';
import { errorBody, errorHeaders, isServerError, statusOf } from '../http/http-error.js';
import {
  type EndedRequest,
  type LogDecision,
  type LogThresholds,
  type SentBody,
  shouldLog,
} from '../telemetry/request-log.js';
import { RequestIds } from './request-id.js';

export interface AnsweredCall {
  method: string;
  path: string;
  status: string;
  /** Code of the error, if the request failed. */
  code?: ErrorCode | undefined;
  ms: number;
  rows?: number | undefined;
}

export interface AnswererOptions extends LogThresholds {
  /** Called after every answered request, in development mode. */
  onAnswered?: ((call: AnsweredCall) => void) | undefined;
}

/** The metrics of a route. */
interface CountedRoute {
  readonly label: string;
  record(status: string, seconds: number, bytesIn: number, bytesOut: number): void;
}

export abstract class RequestAnswerer {
  protected readonly ids = new RequestIds();
  protected abstract readonly guard: RequestGuard;

  constructor(private readonly answering: AnswererOptions) {}

  protected abstract routeOf(exchange: Exchange): CountedRoute;

  /** Counts an error, besides the status of its route. */
  protected abstract countError(exchange: Exchange, error: ErrorData): void;

  /** Body of the request for the log; undefined if the log shows no values. */
  protected abstract sentBodyOf(exchange: Exchange): SentBody | undefined;

  /** Writes the request to the log, or sends it to the thread that does. */
  protected abstract writeLog(
    exchange: Exchange,
    request: EndedRequest,
    decision: LogDecision,
  ): void;

  /** Called with the duration of every request, before the request is logged. */
  protected abstract onFinished(
    exchange: Exchange,
    ms: number,
    status: string,
    code: ErrorCode | undefined,
  ): void;

  /** Sends a result. */
  protected answer(
    exchange: Exchange,
    status: string,
    headers: HeaderList,
    body: Uint8Array | string,
  ): void {
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    this.finish(exchange, status, bytes);
    exchange.send(status, headers, body, false);
  }

  /** Sends an error. `close` ends the connection after it. */
  protected answerError(exchange: Exchange, error: ErrorData, close: boolean): void {
    const status = statusOf(error.code);
    const body = errorBody(error, exchange.requestId);
    this.countError(exchange, error);
    this.finish(exchange, status, body.length, error.code);
    exchange.addHeaders(errorHeaders(error));
    exchange.send(status, jsonHeaders, body, close);
  }

  /** Counts and logs a request whose answer is known. */
  protected finish(exchange: Exchange, status: string, bytesOut: number, code?: ErrorCode): void {
    const ms = performance.now() - exchange.startedAt;
    const { bytesIn, work } = exchange;
    const route = this.routeOf(exchange);
    route.record(status, ms / 1000, bytesIn, bytesOut);
    const { onAnswered } = this.answering;
    if (onAnswered !== undefined) {
      const { method, path } = exchange;
      onAnswered({ method, path, status: status.slice(0, 3), code, ms, rows: work?.rows });
    }
    this.onFinished(exchange, ms, status, code);
    const decision = shouldLog(this.answering, ms, work, code, code && isServerError(code));
    if (decision === undefined) return;
    const { context, requestId, traceparent } = exchange;
    const request: EndedRequest = {
      requestId,
      route: route.label,
      query: context?.query ?? exchange.called?.query,
      status,
      code,
      ms,
      work,
      bytesIn,
      bytesOut,
      keyId: context?.keyId,
      peer: this.guard.peer(exchange),
      traceparent,
      sent: this.sentBodyOf(exchange),
    };
    this.writeLog(exchange, request, decision);
  }
}
