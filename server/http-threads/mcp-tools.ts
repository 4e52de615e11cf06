// Calls of tools that a front answers by itself: of queries that read, in messages that differ from one that
// the main thread has read as a whole in their id and their arguments only. Invariant: an answer that is given
// here is the main thread's, to the byte; what is refused, cut or in doubt is not answered here.
import type { Attached, DecodePath, Limits, Query } from '../../engine/index.js';
import type { Caller } from '../auth/keys.js';
import { mayCall } from '../auth/permissions.js';
import type { Exchange } from '../http/exchange.js';
import { toolLabel, toolsMax } from '../mcp/message/metrics.js';
import { type ResultForms, resultFormsOf, resultOf } from '../mcp/message/tool-reply.js';
import {
  type TemplateMatch,
  CallTemplateCache,
  type CallTemplate,
} from '../mcp/tool/call-template-cache.js';
import { outputOfBytes, widePlacesOf } from '../mcp/tool/output.js';
import { type Exposed, isExposed } from '../mcp/tool/toolset.js';
import { FrontFigures } from '../telemetry/thread-metrics.js';

/** How tools are served. */
export interface ToolRules {
  enabled: boolean;
  version: string;
  exposed: Exposed;
  /** Characters of an answer. */
  outputChars: number;
  bodyBytes: number;
  limits: Limits;
}

const eras = ['legacy', 'modern'] as const;

interface FrontTool {
  query: Query;
  /** Its place among the counts; those of the eras stand side by side. */
  place: number;
  /** Where its replies may hold integers that do not fit into 53 bits; known with the first call. */
  places: DecodePath | undefined;
}

/** A call whose tool the caller may use. */
export interface FoundCall {
  call: TemplateMatch;
  tool: FrontTool;
}

export class ThreadMcpTools {
  readonly #familiar: CallTemplateCache;
  readonly #forms: ResultForms;
  #tools = new Map<string, FrontTool>();
  #figures = new FrontFigures([]);
  #knowsAny = false;

  constructor(private readonly rules: ToolRules) {
    this.#familiar = new CallTemplateCache(rules.limits, rules.bodyBytes);
    this.#forms = resultFormsOf(rules.version);
  }

  /** Whether any call can be answered here. */
  get isOpen(): boolean {
    return this.#knowsAny && this.#tools.size > 0;
  }

  learn(patterns: readonly CallTemplate[]): void {
    for (const pattern of patterns) this.#familiar.add(pattern);
    this.#knowsAny ||= patterns.length > 0;
  }

  /** The queries of another program; gives where calls are counted from now on. */
  adopt(queries: readonly Query[]): FrontFigures {
    const { enabled, exposed } = this.rules;
    const reading = queries.filter((query) => !query.plan.writes && isExposed(query, exposed));
    // What is not counted by itself is the main thread's.
    const tools = enabled ? reading.slice(0, toolsMax) : [];
    this.#tools = new Map(
      tools.map((query, i) => [query.name, { query, place: i * eras.length, places: undefined }]),
    );
    const labels = tools.flatMap(({ name }) => eras.map((era) => toolLabel(era, name)));
    return (this.#figures = new FrontFigures(labels));
  }

  find(body: Uint8Array, exchange: Exchange, caller: Caller | undefined): FoundCall | undefined {
    const call = this.#familiar.find(body, exchange);
    if (call === undefined) return undefined;
    const tool = this.#tools.get(call.name);
    return tool !== undefined && mayCall(caller, tool.query) ? { call, tool } : undefined;
  }

  /** The message around a query's reply; undefined for one that is to be cut. */
  answer({ call, tool }: FoundCall, reply: Uint8Array, attached: Attached): Uint8Array | undefined {
    const places = (tool.places ??= placesOf(attached, call.name));
    if (places === undefined) return undefined;
    const limit = this.rules.outputChars;
    const output = outputOfBytes(reply, { limit, places, advice: '' });
    if (output.isCut) return undefined;
    const result = resultOf(this.#forms, call.era, call.id, output);
    return result instanceof Uint8Array ? result : Buffer.from(result.body);
  }

  count({ call, tool }: FoundCall, status: string, seconds: number): void {
    const place = tool.place + eras.indexOf(call.era);
    this.#figures.at(place).record(status, seconds, 0, 0);
  }
}

/** Undefined while the program changes. */
function placesOf(attached: Attached, name: string): DecodePath | undefined {
  const known = attached.replyOf(name);
  return known && widePlacesOf(known.schema, known.reply);
}
