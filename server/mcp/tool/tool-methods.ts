// The methods `tools/list` and `tools/call`.
//
// Invariant: a tool that a key may not call gives the same error as a tool that does not exist.
import { TrellisError } from '../../../engine/internal.js';
import type { Exchange } from '../../http/exchange.js';
import type { ProtocolStyle } from '../message/protocol-version.js';
import type { Answer, MethodCall, Methods } from '../message/method.js';
import type { McpMetrics } from '../message/metrics.js';
import { RpcError, rpcCodes } from '../message/rpc-reply.js';
import { argumentsOf } from './arguments.js';
import type { Output } from './output.js';
import { failedCall, type Tool, type ToolCall } from './tool.js';
import { calledTool } from './tool-call-message.js';
import type { Toolset } from './toolset.js';

export interface ToolMethodOptions {
  /** Tools of the current program. Fails NOT_READY. */
  toolset: () => Toolset;
  outputChars: number;
  metrics: McpMetrics;
  /**
   * Cluster only. Waits until this node is as current as a read requires; returns undefined if it is.
   */
  fresh?: ((exchange: Exchange) => Promise<unknown> | undefined) | undefined;
}

export function toolMethods(options: ToolMethodOptions): Methods {
  return [
    ['tools/list', { answer: ({ key }) => toolList(options.toolset().listed(key)) }],
    ['tools/call', { answer: (call) => callTool(call, options) }],
  ];
}

function toolList(tools: readonly Tool[]): Answer {
  return { members: `"tools":[${tools.map((tool) => tool.entry()).join(',')}]`, keep: 'lists' };
}

function callTool(call: MethodCall, options: ToolMethodOptions): Answer | Promise<Answer> {
  const { frame, exchange, key, era } = call;
  const { name, argumentsView } = calledTool(frame);
  try {
    const tool = options.toolset().find(name, key);
    // A tool that the key may not call gives the same error, so that its existence is not disclosed.
    if (tool === undefined) throw new RpcError(rpcCodes.params, `Unknown tool: ${name}`);
    // The log contains the name of the tool. A query adds its own name and whether it writes.
    exchange.called = { query: name, writes: false };
    const { args, limit } = argumentsOf(argumentsView, frame.body, options.outputChars);
    return runTool(tool, { exchange, args, key, limit }, era, options);
  } catch (error) {
    return failure(error, era);
  }
}

function runTool(
  tool: Tool,
  call: ToolCall,
  era: ProtocolStyle,
  { metrics, fresh }: ToolMethodOptions,
): Answer | Promise<Answer> {
  try {
    // A tool that writes forwards to the leader itself.
    const wait = tool.query?.plan.writes ? undefined : fresh?.(call.exchange);
    const output = wait === undefined ? tool.call(call) : wait.then(() => tool.call(call));
    if (!(output instanceof Promise)) return finished(tool, call, output, metrics);
    return output.then(
      (output) => finished(tool, call, output, metrics),
      (error: unknown) => failure(error, era),
    );
  } catch (error) {
    return failure(error, era);
  }
}

function finished(tool: Tool, call: ToolCall, output: Output, metrics: McpMetrics): Answer {
  const seconds = (performance.now() - call.exchange.startedAt) / 1000;
  metrics.tool(tool.name, seconds, output.isCut);
  return output;
}

function failure(error: unknown, era: ProtocolStyle): Answer {
  if (!(error instanceof TrellisError)) throw error;
  return { ...failedCall(error, era), failed: true };
}
