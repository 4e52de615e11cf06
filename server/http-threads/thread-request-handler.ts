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
  assert,
  toErrorData,
} from '../../engine/internal.js';
import type { Credential } from '../auth/credential.js';
import { type Caller, type KeyList, KeyTable, type Keys } from '../auth/keys.js';
import { RequestGuard, type SecurityOptions } from '../auth/request-guard.js';
import { type Exchange, RequestContext } from '../http/exchange.js';
import { declaredLength } from '../http/framing.js';
import { jsonHeaders, okStatus } from '../http/header-list.js';
import { type Receiver, guarded } from '../http/transport.js';
import { type RouteFigures, ThreadMetrics } from '../telemetry/thread-metrics.js';
import {
  type EndedRequest,
  type LogDecision,
  type SentBody,
  sentBody,
} from '../telemetry/request-log.js';
import { type AnsweredCall, RequestAnswerer } from '../pipeline/request-answerer.js';
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
  index: number;
}

const toolPath = '/mcp';

/** A query and its arguments. */
interface ShortRead {
  query: string;
  /** Arguments of the query, as JSON text. */
  args: Uint8Array;
  /** The tool call, if the request is one. */
  call?: FoundCall;
}

/** Context of a request that this thread may answer. */
class ThreadRequestContext extends RequestContext {
  /** Set when the body has arrived. */
  read: ShortRead | undefined;
  body: Uint8Array | undefined;

  constructor(
    readonly route: ShortRoute,
    readonly caller: Caller | undefined,
  ) {
    super();
  }

  get query(): string | undefined {
    return this.read?.query ?? this.route.query;
  }

  get keyId(): string | undefined {
    return this.caller?.keyId;
  }
}

/** Fails for a request that was forwarded. Only this thread's own requests are counted here. */
function contextOf({ context }: Exchange): ThreadRequestContext {
  assert(context instanceof ThreadRequestContext, 'this thread answers the request');
  return context;
}

const anyAccess = { access: 'any' } as const;
const readOf = (query: string) => ({ access: 'read', query }) as const;

export interface ThreadRequestHandlerOptions {
  words: SharedState;
  keys: { version: number; list: KeyList };
  security: Omit<SecurityOptions, 'keys' | 'onAuthFailure'>;
  reporting: ReportingRules;
  tools: ToolRules;
  forwarder: Forwarder;
  post: (message: FromThread) => void;
  /** Called for every request with the time of its header. */
  markActive: (startedAt: number) => void;
}

export class ThreadRequestHandler extends RequestAnswerer implements Receiver, Keys {
  protected readonly guard: RequestGuard;
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
    this.guard.know(exchange)?.keyId ?? this.guard.source(exchange);

  constructor(private readonly options: ThreadRequestHandlerOptions) {
    const { keys, security, reporting, post } = options;
    const onAnswered = (call: AnsweredCall): void => post({ kind: 'answered', call });
    super({ ...reporting, ...(reporting.answers && { onAnswered }) });
    this.#keys = new KeyTable(keys.list);
    this.#keysVersion = keys.version;
    this.#tools = new ThreadMcpTools(options.tools);
    // Refused callers are forwarded: the main thread counts them, and only the main thread checks unknown
    // keys.
    this.guard = new RequestGuard({
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

  applyQueries(queries: readonly Query[]): void {
    this.#figures = new ThreadMetrics([...queries.map(({ name }) => name), toolPath]);
    const { names, buffer } = this.#figures;
    const tools = this.#tools.applyQueries(queries);
    const toolFigures = { names: tools.names, buffer: tools.buffer };
    this.options.post({ kind: 'figures', names, buffer, tools: toolFigures });
    const short = queries.flatMap(({ name, plan }, index): [string, ShortRoute][] =>
      plan.writes ? [] : [[`/${name}`, { query: name, label: name, index }]],
    );
    const tool = { query: undefined, label: toolPath, index: queries.length };
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
    this.options.markActive(exchange.startedAt);
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
    const { guard } = this;
    const { query } = route;
    try {
      guard.checkSender(exchange);
      const caller = guard.authenticate(exchange);
      // The permission for a tool is checked later, when the body has named the tool.
      guard.checkAccess(exchange, caller, query === undefined ? anyAccess : readOf(query));
      exchange.context = new ThreadRequestContext(route, caller);
      return true;
    } catch {
      return false;
    }
  }

  /** Answers a request, in a later turn if its caller has used its part of this one. */
  complete(exchange: Exchange, body: Uint8Array): void {
    const turns = this.#attached?.turns;
    const isShort = exchange.context instanceof ThreadRequestContext;
    if (!isShort || !turns?.mustWait(exchange)) {
      this.#answer(exchange, body);
      return;
    }
    void turns.wait(exchange, () => {
      if (!exchange.settled) guarded(this, exchange, () => this.#answer(exchange, body));
    });
  }

  #answer(exchange: Exchange, body: Uint8Array): void {
    const { context } = exchange;
    if (context instanceof ThreadRequestContext) {
      const { words } = this.options;
      const isSound = words.isOpen && words.keysVersion === this.#keysVersion;
      const read = isSound ? this.#readIn(exchange, context, body) : undefined;
      if (read !== undefined) {
        context.read = read;
        context.body = body;
        if (this.#readHere(exchange, read)) return;
      }
      this.options.forwarder.open(exchange, context.route.query);
    }
    this.options.forwarder.complete(exchange, body);
  }

  /** Returns undefined if only the main thread can decide. */
  #readIn(
    exchange: Exchange,
    { route, caller }: ThreadRequestContext,
    body: Uint8Array,
  ): ShortRead | undefined {
    if (route.query !== undefined) return { query: route.query, args: body };
    const found = this.#tools.find(body, exchange, caller);
    if (found === undefined) return undefined;
    const { name, args } = found.call;
    return { query: name, args, call: found };
  }

  /** Returns true if the read ran here, and false if the main thread must run it. */
  #readHere(exchange: Exchange, { query, args, call }: ShortRead): boolean {
    const attached = this.#attached;
    if (attached === undefined) return false;
    let answer: Uint8Array | undefined;
    this.#work = undefined;
    try {
      const reply = attached.readShort(query, args, { onWork: this.#onWork, caller: exchange });
      answer = reply && call ? this.#tools.answer(call, reply, attached) : reply;
    } catch (error) {
      // The main thread repeats the call: it reports defects, counts timeouts, and prints the errors of tools
      // in the form of the protocol.
      if (!(error instanceof TrellisError) || mains.has(error.code) || call) return false;
      exchange.work = this.#work;
      this.ids.give(exchange);
      this.answerError(exchange, error.data, false);
      return true;
    }
    if (answer === undefined) return false;
    exchange.work = this.#work;
    this.ids.give(exchange);
    this.answer(exchange, okStatus, jsonHeaders, answer);
    return true;
  }

  protected routeOf(exchange: Exchange): RouteFigures {
    return this.#figures.at(contextOf(exchange).route.index);
  }

  protected countError(_: Exchange, { code }: ErrorData): void {
    this.#figures.reject(code);
  }

  protected onFinished(exchange: Exchange, ms: number, status: string): void {
    const call = contextOf(exchange).read?.call;
    if (call !== undefined) this.#tools.count(call, status, ms / 1000);
  }

  protected sentBodyOf(exchange: Exchange): SentBody | undefined {
    const { body } = contextOf(exchange);
    const { values } = this.options.reporting;
    return values && body !== undefined ? sentBody(exchange, body) : undefined;
  }

  protected writeLog(_: Exchange, request: EndedRequest, logDecision: LogDecision): void {
    this.options.post({ kind: 'ended', request, logDecision });
  }

  refuse(exchange: Exchange, error: ErrorData): void {
    const { forwarder } = this.options;
    const { context } = exchange;
    // The framing is invalid, so neither thread reads the request.
    if (context === undefined) return forwarder.openUnsound(exchange, error);
    if (context instanceof ThreadRequestContext) forwarder.open(exchange);
    forwarder.refuse(exchange, error);
  }

  fail(exchange: Exchange, error: unknown): void {
    const { error: data, stack } = toErrorData(error);
    if (stack !== undefined) this.options.post({ kind: 'defect', error });
    if (!exchange.settled) this.refuse(exchange, data);
  }

  disconnected(exchange: Exchange): void {
    this.options.forwarder.disconnect(exchange);
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
