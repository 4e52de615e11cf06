// The methods of the protocol: a table from name to what is answered. Each gives members of the
// result as JSON text; the frame around it is endpoint.ts's.
import { fail, type JsonView, TrellisError } from '../../engine/index.js';
import type { Caller } from '../auth/keys.js';
import type { Exchange } from '../http/exchange.js';
import { agreedVersion, type Era, servedVersions } from './era.js';
import type { McpMetrics } from './metrics.js';
import { failedCall, limitArgument, type Tool } from './tool.js';
import type { Toolset } from './toolset.js';
import { RpcFault, rpcCodes } from './rpc-reply.js';
import { type Frame, rawText, textParameter } from './wire.js';

/** One request. */
export interface Asked {
  frame: Frame;
  era: Era;
  exchange: Exchange;
  key: Caller | undefined;
}

export interface Answer {
  /** Of the result, as JSON text; at least one. */
  members: string;
  /** Of its `_meta`. */
  meta?: string;
  /** Whether and how long it may be kept. */
  keep?: 'lists' | 'always' | 'never';
  failed?: true;
}

export interface Method {
  /** Only in this era. */
  era?: Era;
  answer(asked: Asked): Answer | Promise<Answer>;
}

export interface MethodOptions {
  version: string;
  /** Of the program in force. Fails NOT_READY. */
  toolset: () => Toolset;
  outputChars: number;
  metrics: McpMetrics;
}

const instructions =
  'A graph and vector database. Tools are its stored queries, and tools that walk the graph: start ' +
  'with n_from_type or a search, go on with out_step and in_step, read with collect.';

const capabilities = { tools: {} };

export function coreMethods(options: MethodOptions): Map<string, Method> {
  return new Map<string, Method>([
    ['server/discover', { era: 'modern', answer: () => discovery() }],
    ['initialize', { era: 'legacy', answer: (asked) => handshake(asked, options) }],
    ['ping', { era: 'legacy', answer: () => ({ members: '' }) }],
    ['tools/list', { answer: ({ key }) => toolList(options.toolset().listed(key)) }],
    ['tools/call', { answer: (asked) => callTool(asked, options) }],
  ]);
}

/** Members of an object as JSON text, without its braces. */
const membersOf = (value: object): string => JSON.stringify(value).slice(1, -1);

function discovery(): Answer {
  const found = { supportedVersions: servedVersions, capabilities, instructions };
  return { members: membersOf(found), keep: 'always' };
}

function handshake({ frame }: Asked, { version }: MethodOptions): Answer {
  const protocolVersion = agreedVersion(textParameter(frame, 'protocolVersion'));
  const serverInfo = { name: 'trellisdb', version };
  return { members: membersOf({ protocolVersion, capabilities, serverInfo, instructions }) };
}

function toolList(tools: readonly Tool[]): Answer {
  return { members: `"tools":[${tools.map((tool) => tool.entry()).join(',')}]`, keep: 'lists' };
}

function callTool(asked: Asked, options: MethodOptions): Answer | Promise<Answer> {
  const { frame, exchange, key } = asked;
  const name = textParameter(frame, 'name');
  const given = frame.params!.member('arguments');
  if (given !== undefined && given.kind !== 'object' && given.kind !== 'null') {
    throw new RpcFault(rpcCodes.params, 'Invalid params: arguments is no object');
  }
  const failed = (error: unknown): Answer => {
    if (!(error instanceof TrellisError)) throw error;
    return { members: failedCall(error), failed: true };
  };
  try {
    const tool = options.toolset().find(name, key);
    // The same words for a tool that the key may not call: that it exists is not told.
    if (tool === undefined) throw new RpcFault(rpcCodes.params, `Unknown tool: ${name}`);
    const { args, limit } = argumentsOf(given, frame.body, options.outputChars);
    const finish = ({ members, meta, isCut }: Awaited<ReturnType<Tool['call']>>): Answer => {
      const seconds = (performance.now() - exchange.startedAt) / 1000;
      options.metrics.tool(name, seconds, isCut);
      return { members, meta };
    };
    const output = tool.call({ exchange, args, key, limit });
    return output instanceof Promise ? output.then(finish).catch(failed) : finish(output);
  } catch (error) {
    return failed(error);
  }
}

/** The arguments without the one that is ours, and what that one says. */
function argumentsOf(
  given: JsonView | undefined,
  body: Uint8Array,
  most: number,
): { args: Uint8Array; limit: number } {
  if (given === undefined || given.kind === 'null' || given.length === 0) {
    return { args: new Uint8Array(0), limit: most };
  }
  const asked = given.member(limitArgument);
  if (asked === undefined) {
    return { args: body.slice(given.start, given.start + given.size), limit: most };
  }
  const members = given.names().filter((name) => name !== limitArgument);
  const texts = members.map((name) => {
    return `${JSON.stringify(name)}:${rawText(given.member(name)!, body)}`;
  });
  const limit = asked.integral ? Number(asked.token()) : 0;
  if (limit < 1) {
    const wrong = { param: limitArgument, allowed: 'an integer from 1', got: 'another value' };
    fail('PARAM_VALUE', wrong, { path: `/${limitArgument}` });
  }
  return { args: Buffer.from(`{${texts.join(',')}}`), limit: Math.min(limit, most) };
}
