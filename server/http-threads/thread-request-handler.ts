// Receives every request of an HTTP thread. Runs and answers short reads of callers with permission, as a
// query or as an MCP tool. Forwards every other request to the main thread unchanged, also each request
// that its header refuses.
//
// Invariant: the thread answers only while queries are answered, only callers with a current key, and
// within the rates of all threads together.
import {
  type Attached,
  type ErrorCode,
  type ErrorData,
  type Query,
  TrellisError,
  toErrorData,
} from '../../engine/internal.js';
import type { Credential } from '../auth/credential.js';
import { type Caller, type KeyList, KeyTable, type Keys } from '../auth/keys.js';
import { RequestGuard, type SecurityOptions } from '../auth/request-guard.js';
import type { Exchange } from '../http/exchange.js';
import { declaredLength } from '../http/framing.js';
import { jsonHeaders, okStatus } from '../http/header-list.js';
import { errorBody, errorHeaders, isServerFault, statusOf } from '../http/http-error.js';
import type { Receiver } from '../http/transport.js';
import { ThreadMetrics } from '../telemetry/thread-metrics.js';
import { sentBody, shouldLog } from '../telemetry/request-log.js';
import { RequestIds } from '../pipeline/request-id.js';
import type { Forwarder } from './to-main.js';
import { type FoundCall, ThreadMcpTools, type ToolRules } from './mcp-tools.js';
import type { ReportingRules } from './setup.js';
import type { SharedState } from './shared-state.js';
import type { FromThread } from './messages.js';

/** A longer body is always decoded on a reader thread. */
const shortBodyMax = 32_768;

const mains: ReadonlySet<ErrorCode> = new Set(['INTERNAL', 'QUERY_TIMEOUT']);

/** A route that this thread may answer: a query, or `POST /mcp`. */
interface ShortRoute {
  /** Undefined for tools: the body names the query. */
  query: string | undefined;
  /** Name of the route in metrics. */
  label: string;
  /** Index of its metrics. */
  place: number;
}

const toolPath = '/mcp';

/** State between the header and the body of a request that this thread may answer. */
class ThreadRequestContext {
  constructor(
    readonly route: ShortRoute,
    readonly caller: Caller | undefined,
  ) {}
}

/** The query and its arguments. */
interface Asked {
  sent: Uint8Array;
  query: string;
  /** Arguments of the query, as JSON text. */
  args: Uint8Array;
  /** The tool call, if the request is one. */
  call?: FoundCall;
}

const anyAccess = { access: 'any' } as const;
const readOf = (query: string) => ({ access: 'read', query }) as const;

export interface ThreadRequestHandlerOptions {
  words: SharedState;
  keys: { version: number; list: KeyList };
  security: Omit<SecurityOptions, 'keys' | 'onAuthFailure'>;
  telling: ReportingRules;
  tools: ToolRules;
  forwarder: Forwarder;
  post: (message: FromThread) => void;
  /** Called for every request with the time of its header. */
  hear: (startedAt: number) => void;
}

export class ThreadRequestHandler implements Receiver, Keys {
  readonly #security: RequestGuard;
  readonly #ids = new RequestIds();
  #keys: KeyTable;
  #keysVersion: number;
  readonly #tools: ThreadMcpTools;
  /** Routes by path. */
  #routes = new Map<string, ShortRoute>();
  #figures = new ThreadMetrics([]);
  #attached: Attached | undefined;
  #work: Exchange['work'];
  readonly #onWork = (cost: Exchange['work']): void => {
    this.#work = cost;
  };

  /** Also called for a forwarded request, because this thread holds its connection. */
  readonly #holderOf = (exchange: Exchange): string =>
    this.#security.know(exchange)?.keyId ?? this.#security.source(exchange);

  constructor(private readonly options: ThreadRequestHandlerOptions) {
    const { keys, security } = options;
    this.#keys = new KeyTable(keys.list);
    this.#keysVersion = keys.version;
    this.#tools = new ThreadMcpTools(options.tools);
    // Refused callers are forwarded: the main thread counts them, and only the main thread checks unknown
    // keys.
    this.#security = new RequestGuard({
      ...security,
      keys: this,
      leavesGuesses: true,
      onAuthFailure: () => undefined,
    });
  }

  /** Starts answering: reads run on `attached` from now on. */
  begin(attached: Attached): void {
    this.#attached = attached;
  }

  adopt(queries: readonly Query[]): void {
    this.#figures = new ThreadMetrics([...queries.map(({ name }) => name), toolPath]);
    const { names, buffer } = this.#figures;
    const tools = this.#tools.adopt(queries);
    const toolFigures = { names: tools.names, buffer: tools.buffer };
    this.options.post({ kind: 'figures', names, buffer, tools: toolFigures });
    const short = queries.flatMap(({ name, plan }, place): [string, ShortRoute][] =>
      plan.writes ? [] : [[`/${name}`, { query: name, label: name, place }]],
    );
    const tool = { query: undefined, label: toolPath, place: queries.length };
    this.#routes = new Map([...short, [toolPath, tool]]);
  }

  renewKeys(version: number, list: KeyList): void {
    this.#keys = new KeyTable(list);
    this.#keysVersion = version;
  }

  get active(): boolean {
    return this.#keys.active;
  }

  find(credential: Credential, now: number): Caller | undefined {
    return this.#keys.find(credential, now);
  }

  open(exchange: Exchange): boolean {
    this.options.hear(exchange.startedAt);
    exchange.sourceOf = this.#holderOf;
    const route = this.#routeOf(exchange);
    if (route === undefined || !this.#admits(exchange, route)) {
      this.options.forwarder.open(exchange, route?.query);
    }
    return true;
  }

  /** Returns the route if the header allows an answer on this thread, else undefined. */
  #routeOf(exchange: Exchange): ShortRoute | undefined {
    const { words } = this.options;
    if (exchange.method !== 'POST' || !words.isOpen || !isPlain(exchange)) return undefined;
    if (words.keysVersion !== this.#keysVersion || exchange.tenant !== '') return undefined;
    const route = this.#routes.get(exchange.path);
    return route?.query !== undefined || this.#tools.isOpen ? route : undefined;
  }

  #admits(exchange: Exchange, route: ShortRoute): boolean {
    const security = this.#security;
    try {
      security.checkHost(exchange);
      security.checkOrigin(exchange);
      security.checkProtectedMode(exchange);
      const caller = security.authenticate(exchange);
      const { query } = route;
      // Permission for a tool is checked when the body has named it.
      security.checkAccess(exchange, caller, query === undefined ? anyAccess : readOf(query));
      exchange.context = new ThreadRequestContext(route, caller);
      return true;
    } catch {
      return false;
    }
  }

  complete(exchange: Exchange, body: Uint8Array): void {
    const { context: memo } = exchange;
    if (memo instanceof ThreadRequestContext) {
      const { words } = this.options;
      const isSound = words.isOpen && words.keysVersion === this.#keysVersion;
      const asked = isSound ? this.#askedBy(exchange, memo, body) : undefined;
      if (asked !== undefined && this.#readHere(exchange, memo, asked)) return;
      this.options.forwarder.open(exchange, memo.route.query);
    }
    this.options.forwarder.complete(exchange, body);
  }

  /** Returns undefined if only the main thread can decide. */
  #askedBy(
    exchange: Exchange,
    { route, caller }: ThreadRequestContext,
    body: Uint8Array,
  ): Asked | undefined {
    if (route.query !== undefined) return { sent: body, query: route.query, args: body };
    const found = this.#tools.find(body, exchange, caller);
    if (found === undefined) return undefined;
    const { name, args } = found.call;
    return { sent: body, query: name, args, call: found };
  }

  /** Returns true if the read ran here, and false if the main thread must run it. */
  #readHere(exchange: Exchange, visit: ThreadRequestContext, asked: Asked): boolean {
    const attached = this.#attached;
    if (attached === undefined) return false;
    const { query, args, call } = asked;
    let answer: Uint8Array | undefined;
    this.#work = undefined;
    try {
      const reply = attached.readShort(query, args, this.#onWork);
      answer = reply && call ? this.#tools.answer(call, reply, attached) : reply;
    } catch (error) {
      // The main thread repeats the call: it reports defects, counts timeouts, and prints the errors of tools
      // in the form of the protocol.
      if (!(error instanceof TrellisError) || mains.has(error.code) || call) return false;
      this.#fail(exchange, visit, asked, error.data);
      return true;
    }
    if (answer === undefined) return false;
    this.#ids.give(exchange);
    this.#finish(exchange, visit, asked, okStatus, answer.length);
    exchange.send(okStatus, jsonHeaders, answer, false);
    return true;
  }

  #fail(exchange: Exchange, visit: ThreadRequestContext, asked: Asked, error: ErrorData): void {
    this.#ids.give(exchange);
    const status = statusOf(error.code);
    const body = errorBody(error, exchange.requestId);
    this.#figures.reject(error.code);
    this.#finish(exchange, visit, asked, status, body.length, error.code);
    exchange.addHeaders(errorHeaders(error));
    exchange.send(status, jsonHeaders, body, false);
  }

  #finish(
    exchange: Exchange,
    { route, caller }: ThreadRequestContext,
    { sent, query, call: toolCall }: Asked,
    status: string,
    bytesOut: number,
    code?: ErrorCode,
  ): void {
    const ms = performance.now() - exchange.startedAt;
    const { bytesIn, method, path } = exchange;
    this.#figures.at(route.place).record(status, ms / 1000, bytesIn, bytesOut);
    if (toolCall !== undefined) this.#tools.count(toolCall, status, ms / 1000);
    const { telling, post } = this.options;
    const work = this.#work;
    if (telling.answers) {
      const call = { method, path, status: status.slice(0, 3), code, ms, rows: work?.rows };
      post({ kind: 'answered', call });
    }
    const verdict = shouldLog(telling, ms, work, code, code && isServerFault(code));
    if (verdict === undefined) return;
    const request = {
      requestId: exchange.requestId,
      route: route.label,
      query,
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
    post({ kind: 'ended', request, logDecision: verdict });
  }

  refuse(exchange: Exchange, error: ErrorData): void {
    const { forwarder } = this.options;
    const { context: memo } = exchange;
    // The framing is invalid, so neither thread reads the request.
    if (memo === undefined) return forwarder.openUnsound(exchange, error);
    if (memo instanceof ThreadRequestContext) forwarder.open(exchange);
    forwarder.refuse(exchange, error);
  }

  fault(exchange: Exchange, error: unknown): void {
    const { error: data, stack } = toErrorData(error);
    if (stack !== undefined) this.options.post({ kind: 'defect', error });
    if (!exchange.settled) this.refuse(exchange, data);
  }

  gone(exchange: Exchange): void {
    this.options.forwarder.gone(exchange);
  }
}

/** True if the header asks for nothing but the reply of a query. */
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
