// Calls of tools that a front answers by itself: of queries that read, in messages that differ from one that
// the main thread has read as a whole in their id and their arguments only. Invariant: an answer that is given
// here is the main thread's, to the byte; what is refused, cut or in doubt is not answered here.
import {
  type DecodePlace,
  decodePlaces,
  type Limits,
  type Query,
  type ReplyType,
  type Schema,
} from '../../engine/index.js';
import type { Caller } from '../auth/keys.js';
import { mayCall } from '../auth/rights.js';
import type { Exchange } from '../http/exchange.js';
import { completed, infoOf, toolReply, toolReplyForms } from '../mcp/message/tool-reply.js';
import { resultReply } from '../mcp/message/rpc-reply.js';
import { toolLabel } from '../mcp/message/metrics.js';
import { type FamiliarCall, FamiliarCalls, type Pattern } from '../mcp/tool/familiar-calls.js';
import { outputOfBytes } from '../mcp/tool/output.js';
import { type Exposed, isExposed } from '../mcp/tool/toolset.js';
import { FrontFigures } from '../observe/front-figures.js';

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

/** Of the memory in which they are counted; other tools are the main thread's. */
const toolsMax = 200;
const eras = ['legacy', 'modern'] as const;

interface FrontTool {
  query: Query;
  /** Its place among the counts; those of the eras stand side by side. */
  place: number;
  /** Where its replies may hold integers that do not fit into 53 bits; known with the first call. */
  places: DecodePlace | undefined;
}

/** The declared type of a query's reply; undefined while the program changes. */
type ReplyOf = (name: string) => { schema: Schema; reply: ReplyType } | undefined;

/** A call whose tool the caller may use. */
export interface FoundCall {
  call: FamiliarCall;
  tool: FrontTool;
}

export class FrontTools {
  readonly #familiar: FamiliarCalls;
  readonly #forms: ReturnType<typeof toolReplyForms>;
  readonly #info: string;
  #tools = new Map<string, FrontTool>();
  #figures = new FrontFigures([]);
  #knowsAny = false;

  constructor(private readonly rules: ToolRules) {
    this.#familiar = new FamiliarCalls(rules.limits, rules.bodyBytes);
    this.#forms = toolReplyForms(rules.version);
    this.#info = infoOf(rules.version);
  }

  /** Whether any call can be answered here. */
  get isOpen(): boolean {
    return this.#knowsAny && this.#tools.size > 0;
  }

  learn(patterns: readonly Pattern[]): void {
    for (const pattern of patterns) this.#familiar.add(pattern);
    this.#knowsAny ||= patterns.length > 0;
  }

  /** The queries of another program; gives where calls are counted from now on. */
  adopt(queries: readonly Query[]): FrontFigures {
    const { enabled, exposed } = this.rules;
    const reading = queries.filter((query) => !query.plan.writes && isExposed(query, exposed));
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
  answer({ call, tool }: FoundCall, reply: Uint8Array, replyOf: ReplyOf): Uint8Array | undefined {
    const places = (tool.places ??= placesOf(replyOf(call.name)));
    if (places === undefined) return undefined;
    const limit = this.rules.outputChars;
    const output = outputOfBytes(reply, { limit, places, advice: '' });
    if (output.isCut) return undefined;
    if (output.reply !== undefined) return toolReply(this.#forms[call.era], call.id, output.reply);
    const { members } = output;
    const whole =
      call.era === 'modern' ? `${completed}${members},"_meta":{${this.#info}}` : members;
    const result = resultReply(call.id, whole);
    return result instanceof Uint8Array ? result : Buffer.from(result.body);
  }

  count({ call, tool }: FoundCall, status: string, seconds: number): void {
    const place = tool.place + eras.indexOf(call.era);
    this.#figures.at(place).record(status, seconds, 0, 0);
  }
}

function placesOf(known: ReturnType<ReplyOf>): DecodePlace | undefined {
  if (known === undefined) return undefined;
  return decodePlaces(known.schema, known.reply, { int64: 'string', dates: false });
}
