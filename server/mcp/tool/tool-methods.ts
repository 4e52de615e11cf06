// The methods `tools/list` and `tools/call`.
//
// Invariant: a tool that a key may not call gives the same error as a tool that does not exist.
import { TrellisError } from '../../../engine/internal.js';
import type { Caller } from '../../auth/keys.js';
import type { Exchange } from '../../http/exchange.js';
import type { ProtocolStyle } from '../message/protocol-version.js';
import type { Answer, Asked, Methods } from '../message/method.js';
import type { McpMetrics } from '../message/metrics.js';
import { RpcFault, rpcCodes } from '../message/rpc-reply.js';
import { textParameter } from '../message/json-rpc.js';
import { argumentsOf } from './arguments.js';
import { type TemplateMatch, type CallTemplateCache, malformed } from './call-template-cache.js';
import type { Output } from './output.js';
import { failedCall, type Tool, type ToolCall } from './tool.js';
import type { Toolset } from './toolset.js';

export interface ToolMethodOptions {
  /** Tools of the current program. Fails NOT_READY. */
  toolset: () => Toolset;
  outputChars: number;
  metrics: McpMetrics;
  familiar: CallTemplateCache;
  /**
   * Cluster only. Waits until this node is as current as a read requires; returns undefined if it is.
   */
  fresh?: ((exchange: Exchange) => Promise<unknown> | undefined) | undefined;
}

export function toolMethods(options: ToolMethodOptions): Methods {
  return [
    ['tools/list', { answer: ({ key }) => toolList(options.toolset().listed(key)) }],
    ['tools/call', { answer: (asked) => callTool(asked, options) }],
  ];
}

function toolList(tools: readonly Tool[]): Answer {
  return { members: `"tools":[${tools.map((tool) => tool.entry()).join(',')}]`, keep: 'lists' };
}

function callTool(asked: Asked, options: ToolMethodOptions): Answer | Promise<Answer> {
  const { frame, exchange, key, era } = asked;
  const name = textParameter(frame, 'name');
  const given = frame.params!.member('arguments');
  if (given !== undefined && given.kind !== 'object' && given.kind !== 'null') {
    throw new RpcFault(rpcCodes.params, 'Invalid params: arguments is no object');
  }
  try {
    const tool = options.toolset().find(name, key);
    // A tool that the key may not call gives the same error, so that its existence is not disclosed.
    if (tool === undefined) throw new RpcFault(rpcCodes.params, `Unknown tool: ${name}`);
    // The log contains the name of the tool. A query adds its own name and whether it writes.
    exchange.called = { query: name, writes: false };
    const { args, limit } = argumentsOf(given, frame.body, options.outputChars);
    if (isReading(tool) && given?.kind === 'object') options.familiar.learn(asked, name, given);
    return runTool(tool, { exchange, args, key, limit }, era, options);
  } catch (error) {
    return failure(error, era);
  }
}

const isReading = ({ query }: Tool): boolean => query?.plan.writes === false;

/**
 * Returns the result of a call whose message matches a template, or undefined if the whole message must
 * be parsed. Fails with MalformedArguments if the arguments show that it must; nothing was done then.
 */
export function callMatched(
  { name, args, era }: TemplateMatch,
  exchange: Exchange,
  key: Caller | undefined,
  options: ToolMethodOptions,
): Answer | Promise<Answer> | undefined {
  const { toolset, outputChars } = options;
  let tool: Tool | undefined;
  try {
    tool = toolset().find(name, key);
  } catch {
    // No database is available. The handler of the whole message reports the reason in the protocol style of
    // the client.
    return undefined;
  }
  if (tool === undefined || !isReading(tool)) return undefined;
  return runTool(tool, { exchange, args, key, limit: outputChars }, era, options, true);
}

/** The arguments of the matched call are not JSON. */
export class MalformedArguments extends Error {}

function runTool(
  tool: Tool,
  call: ToolCall,
  era: ProtocolStyle,
  { metrics, fresh }: ToolMethodOptions,
  isUnread = false,
): Answer | Promise<Answer> {
  try {
    // A tool that writes forwards to the leader itself.
    const wait = tool.query?.plan.writes ? undefined : fresh?.(call.exchange);
    const output = wait === undefined ? tool.call(call) : wait.then(() => tool.call(call));
    if (!(output instanceof Promise)) return finished(tool, call, output, metrics);
    return output.then(
      (output) => finished(tool, call, output, metrics),
      (error: unknown) => failure(error, era, isUnread),
    );
  } catch (error) {
    return failure(error, era, isUnread);
  }
}

function finished(tool: Tool, call: ToolCall, output: Output, metrics: McpMetrics): Answer {
  const seconds = (performance.now() - call.exchange.startedAt) / 1000;
  metrics.tool(tool.name, seconds, output.isCut);
  return output;
}

function failure(error: unknown, era: ProtocolStyle, isUnread = false): Answer {
  if (!(error instanceof TrellisError)) throw error;
  if (isUnread && malformed.has(error.code)) throw new MalformedArguments();
  return { ...failedCall(error, era), failed: true };
}
