// The methods of tools: the list that a caller sees, and calls. Invariant: what a key may not call is
// told in the same words as what does not exist.
import { TrellisError } from '../../../engine/index.js';
import type { Answer, Asked, Methods } from '../message/method.js';
import type { McpMetrics } from '../message/metrics.js';
import { RpcFault, rpcCodes } from '../message/rpc-reply.js';
import { textParameter } from '../message/wire.js';
import { argumentsOf } from './argument.js';
import { failedCall, type Tool } from './tool.js';
import type { Toolset } from './toolset.js';

export interface ToolMethodOptions {
  /** Of the program in force. Fails NOT_READY. */
  toolset: () => Toolset;
  outputChars: number;
  metrics: McpMetrics;
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
  const { frame, era, exchange, key } = asked;
  const name = textParameter(frame, 'name');
  const given = frame.params!.member('arguments');
  if (given !== undefined && given.kind !== 'object' && given.kind !== 'null') {
    throw new RpcFault(rpcCodes.params, 'Invalid params: arguments is no object');
  }
  const failed = (error: unknown): Answer => {
    if (!(error instanceof TrellisError)) throw error;
    return { ...failedCall(error, era), failed: true };
  };
  try {
    const tool = options.toolset().find(name, key);
    // The same words for a tool that the key may not call: that it exists is not told.
    if (tool === undefined) throw new RpcFault(rpcCodes.params, `Unknown tool: ${name}`);
    // The log names the tool; a query says for itself which it is, and whether it writes.
    exchange.called = { query: name, writes: false };
    const { args, limit } = argumentsOf(given, frame.body, options.outputChars);
    const finish = ({ members, meta, isCut }: Awaited<ReturnType<Tool['call']>>): Answer => {
      const seconds = (performance.now() - exchange.startedAt) / 1000;
      options.metrics.tool(name, seconds, isCut);
      return { members, meta };
    };
    const output = tool.call({ exchange, args, key, limit });
    return output instanceof Promise ? output.then(finish, failed) : finish(output);
  } catch (error) {
    return failed(error);
  }
}
