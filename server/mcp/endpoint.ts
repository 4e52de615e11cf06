// Handles `POST /mcp`: frame, protocol style, method and reply, in the order of checks of mcp.md 3.1.
// Invariant: once the body is parsed as JSON, every reply is JSON-RPC. Earlier errors have the form of all
// other paths.
import { fail, type Limits, TrellisError } from '../../engine/internal.js';
import type { Caller } from '../auth/keys.js';
import { readingOnly } from '../auth/permissions.js';
import type { Exchange } from '../http/exchange.js';
import { statusOf } from '../http/http-error.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { Endpoint, Result, StreamReply } from '../pipeline/router.js';
import { type ProtocolStyle, styleOf } from './message/protocol-version.js';
import type { McpMetrics } from './message/metrics.js';
import type { Answer, MethodCall, Method } from './message/method.js';
import { errorReply, notedReply, RpcError, rpcCodes } from './message/rpc-reply.js';
import { type ResultForms, resultFormsOf, resultOf } from './message/tool-reply.js';
import { type Frame, readFrame, traceparentOf } from './message/json-rpc.js';

export interface McpEndpointOptions {
  version: string;
  enabled: boolean;
  limits: Limits;
  bodyBytes: number;
  /** Milliseconds for which clients can cache lists. */
  ttl: number;
  hasKeys: () => boolean;
  methods: ReadonlyMap<string, Method>;
  /** Metrics of the server. */
  routes: Metrics;
  metrics: McpMetrics;
}

/** The timeout ends a call only if the engine has not ended it itself. */
const extraMs = 1_000;

export function mcpEndpoint(settings: McpEndpointOptions): Endpoint {
  const options: ConversationOptions = { ...settings, forms: resultFormsOf(settings.version) };
  const { limits, routes, enabled } = options;
  return {
    metrics: routes.route('/mcp'),
    access: 'any',
    writes: false,
    availableDuringStartup: false,
    reportsStartup: true,
    cancelOnHalfClose: true,
    budgetMs: Math.max(limits.query_time, limits.write_time) + extraMs,
    handle: (exchange, body, key) => {
      if (!enabled) {
        const hint = 'Set `mcp.enabled` and `sessions.enabled` to true.';
        fail('FEATURE_DISABLED', { feature: 'The Model Context Protocol' }, { hint });
      }
      const caller = exchange.accessHeader === 'read' ? readingOnly(key) : key;
      return new Conversation(options, exchange, caller).answer(body);
    },
  };
}

interface ConversationOptions extends McpEndpointOptions {
  forms: ResultForms;
}

/** Handles one request. */
class Conversation {
  #era: ProtocolStyle | undefined;
  #method = 'other';
  #id = 'null';

  constructor(
    private readonly options: ConversationOptions,
    private readonly exchange: Exchange,
    private readonly key: Caller | undefined,
  ) {}

  answer(body: Uint8Array): Result | Promise<Result> {
    try {
      const { limits, bodyBytes } = this.options;
      const frame = readFrame(body, limits, bodyBytes);
      if (frame.id === undefined) return notedReply;
      this.#id = frame.id;
      const answer = this.#perform(frame);
      if (!(answer instanceof Promise)) return this.#result(answer);
      return answer.then(
        (answer) => this.#result(answer),
        (error: unknown) => this.#error(error),
      );
    } catch (error) {
      return this.#error(error);
    }
  }

  #perform(frame: Frame): Answer | StreamReply | Promise<Answer> {
    const { exchange, key, options } = this;
    // Until the protocol style is known, errors are answered with an HTTP status, as the modern style does.
    this.#era = 'modern';
    const era = styleOf(frame, exchange);
    this.#era = era;
    const method = options.methods.get(frame.method);
    if (method === undefined || (method.era !== undefined && method.era !== era)) {
      const status = '404 Not Found';
      throw new RpcError(rpcCodes.method, `Method not found: ${frame.method}`, status);
    }
    this.#method = frame.method;
    const { params } = frame;
    if (params !== undefined && params.kind !== 'object') {
      throw new RpcError(rpcCodes.params, 'Invalid params: an object is needed');
    }
    exchange.traceparent ||= traceparentOf(frame);
    const call: MethodCall = { frame, era, exchange, key };
    return method.answer(call);
  }

  #result(answer: Answer | StreamReply): Result {
    const { metrics, forms } = this.options;
    if ('begin' in answer) {
      metrics.request(this.#method, this.#era!, 'ok');
      return answer;
    }
    const { members, keep, failed } = answer;
    const era = this.#era!;
    metrics.request(this.#method, era, failed ? 'tool_error' : 'ok');
    if (keep === undefined || era !== 'modern') return resultOf(forms, era, this.#id, answer);
    const cacheMembers = this.#keeping(keep);
    const all = members === '' ? cacheMembers : `${members},${cacheMembers}`;
    return resultOf(forms, era, this.#id, { ...answer, members: all });
  }

  /** A response that depends on the key must be cached for that key only. */
  #keeping(keep: 'lists' | 'always' | 'never'): string {
    const { ttl, hasKeys } = this.options;
    const isOwn = hasKeys() || this.exchange.accessHeader !== '';
    const scope = keep !== 'always' && isOwn ? 'private' : 'public';
    return `"ttlMs":${keep === 'never' ? 0 : ttl},"cacheScope":"${scope}"`;
  }

  #error(error: unknown): Result {
    const rpcError = rpcErrorOf(error);
    this.options.metrics.request(this.#method, this.#era ?? 'none', 'fault');
    const id = this.#id === 'null' ? rpcError.id : this.#id;
    return errorReply(rpcError, id, this.#era !== 'legacy');
  }
}

/** Converts an error of the engine outside a tool. Other errors are thrown again and logged. */
function rpcErrorOf(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (!(error instanceof TrellisError)) throw error;
  const { code } = error;
  return new RpcError(rpcCodes.internal, error.message, statusOf(code), { code });
}
