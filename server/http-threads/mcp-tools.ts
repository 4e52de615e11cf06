// Answers MCP tool calls on an HTTP thread, if the tool is a query that only reads.
// Invariant: a response is byte for byte the response of the main thread. Errors, truncated results, invalid
// messages and all other methods are left to the main thread.
import { type Attached, type DecodePath, type Query, TrellisError } from '../../engine/internal.js';
import type { Caller } from '../auth/keys.js';
import { mayCall } from '../auth/permissions.js';
import type { Exchange } from '../http/exchange.js';
import { toolLabel, toolsMax } from '../mcp/message/metrics.js';
import { type ResultForms, resultFormsOf, resultOf } from '../mcp/message/tool-reply.js';
import { RpcError } from '../mcp/message/rpc-reply.js';
import { outputOfBytes, widePathsOf } from '../mcp/tool/output.js';
import {
  type MessageRules,
  type ToolCallMessage,
  readToolCall,
} from '../mcp/tool/tool-call-message.js';
import { type Exposed, isExposed } from '../mcp/tool/toolset.js';
import { ThreadMetrics } from '../telemetry/thread-metrics.js';

/** Settings of the tools. */
export interface ToolRules extends MessageRules {
  enabled: boolean;
  version: string;
  exposed: Exposed;
  /** Beginning of the name of every tool. */
  prefix: string;
}

const eras = ['legacy', 'modern'] as const;

interface ThreadTool {
  query: Query;
  /** Index of its first counter. There is one counter for each protocol style. */
  index: number;
  /** Paths of reply values that may be integers beyond 53 bits. Computed at the first call. */
  widePaths: DecodePath | undefined;
}

/** A call of a tool that the caller may use. */
export interface FoundCall {
  call: ToolCallMessage;
  tool: ThreadTool;
}

export class ThreadMcpTools {
  readonly #forms: ResultForms;
  #tools = new Map<string, ThreadTool>();
  #figures = new ThreadMetrics([]);

  constructor(private readonly rules: ToolRules) {
    this.#forms = resultFormsOf(rules.version);
  }

  /** True if any call can be answered on this thread. */
  get isOpen(): boolean {
    return this.#tools.size > 0;
  }

  /** Replaces the queries after a reload. Returns the metrics that count calls from now on. */
  applyQueries(queries: readonly Query[]): ThreadMetrics {
    const { enabled, exposed, prefix } = this.rules;
    const reading = queries.filter((query) => !query.plan.writes && isExposed(query, exposed));
    // Tools beyond `toolsMax` have no counter of their own, so the main thread answers them.
    const tools = enabled ? reading.slice(0, toolsMax) : [];
    this.#tools = new Map(
      tools.map((query, i) => [
        `${prefix}${query.name}`,
        { query, index: i * eras.length, widePaths: undefined },
      ]),
    );
    const labels = tools.flatMap(({ name }) =>
      eras.map((era) => toolLabel(era, `${prefix}${name}`)),
    );
    return (this.#figures = new ThreadMetrics(labels));
  }

  /** Returns undefined if only the main thread can answer the message. */
  find(body: Uint8Array, exchange: Exchange, caller: Caller | undefined): FoundCall | undefined {
    const call = this.#read(body, exchange);
    if (call === undefined) return undefined;
    const tool = this.#tools.get(call.name);
    if (tool === undefined || !mayCall(caller, tool.query)) return undefined;
    exchange.traceparent ||= call.traceparent;
    return { call, tool };
  }

  #read(body: Uint8Array, exchange: Exchange): ToolCallMessage | undefined {
    try {
      return readToolCall(body, exchange, this.rules);
    } catch (error) {
      if (error instanceof RpcError || error instanceof TrellisError) return undefined;
      throw error;
    }
  }

  /** Returns the message for a reply of the query, or undefined if the result must be truncated. */
  answer({ call, tool }: FoundCall, reply: Uint8Array, attached: Attached): Uint8Array | undefined {
    const widePaths = (tool.widePaths ??= widePathsIn(attached, tool.query.name));
    if (widePaths === undefined) return undefined;
    const output = outputOfBytes(reply, { limit: call.limit, widePaths, advice: '' });
    if (output.isCut) return undefined;
    const result = resultOf(this.#forms, call.era, call.id, output);
    return result instanceof Uint8Array ? result : Buffer.from(result.body);
  }

  count({ call, tool }: FoundCall, status: string, seconds: number): void {
    const index = tool.index + eras.indexOf(call.era);
    this.#figures.at(index).record(status, seconds, 0, 0);
  }
}

/** Returns the paths of wide integers in replies of a query, or undefined during a reload. */
function widePathsIn(attached: Attached, name: string): DecodePath | undefined {
  const known = attached.replyOf(name);
  return known && widePathsOf(known.schema, known.reply);
}
