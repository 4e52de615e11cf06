// Prepares the work of a tool call from a scanned request body: finds the tool and its arguments.
import { excerpt, fail } from '../../base/errors.js';
import type { JsonView } from '../../json/view.js';
import type { Query } from '../../plan/plan.js';
import type { Program } from '../../plan/program.js';
import {
  type Arguments,
  dataPath,
  inside,
  missing,
  optional,
  wrongKind,
} from '../argument/tool-argument.js';
import { requiredText } from '../argument/argument-value.js';
import { nearestName } from '../../base/did-you-mean.js';
import { callQuery, queryOfTool, toolOfQuery } from './query-tool.js';
import { buildVocabulary } from '../argument/vocabulary.js';
import { callableTools, sessionTools } from './tool.js';
import type { Caller, Tool, Toolbox, Work } from '../tool-context.js';

/** Other names that `tool_call` accepts. */
const aliases = new Map([
  ['search_vec', 'search_vector'],
  ['search_vec_text', 'search_vector_text'],
]);

const callTools = new Set(['tool_call', 'call_tool']);

/**
 * Returns the query of a query tool, or undefined for any other tool; fails NOT_FOUND if there is no such
 * tool.
 */
export function findTool(tool: string, program: Program): Query | undefined {
  if (tool === 'init' || callTools.has(tool) || sessionTools.has(tool)) return undefined;
  const query = queryOfTool(program, tool);
  if (query?.mcp) return query;
  const known = ['init', ...sessionTools.keys(), ...callTools];
  for (const other of program.queries) if (other.mcp) known.push(toolOfQuery(other));
  const nearest = query === undefined ? nearestName(tool, known) : undefined;
  const hint = query ? 'Mark the query with `#[mcp]`.' : nearest && `Did you mean \`${nearest}\`?`;
  fail('NOT_FOUND', { name: excerpt(tool), kind: 'MCP' }, hint === undefined ? {} : { hint });
}

/** Returns the toolbox of a program. Create it once per program. */
export function createToolbox(program: Program, settings: Omit<Toolbox, 'program' | 'vocabulary'>) {
  return { ...settings, program, vocabulary: buildVocabulary(program.schema) };
}

/** Returns the work of a call. Fails with the first error; nothing is changed. */
export function prepare(tool: string, body: JsonView, caller: Caller, toolbox: Toolbox): Work {
  const work = prepareWork(tool, body, caller, toolbox);
  // Plans of queries contain [compat] already, and the threads cache them by identity.
  if (work.kind !== 'run' || !toolbox.program.compat || work.plan.compat) return work;
  return { ...work, plan: { ...work.plan, fractions: true } };
}

function prepareWork(tool: string, body: JsonView, caller: Caller, toolbox: Toolbox): Work {
  if (callTools.has(tool)) return prepareNamed(body, caller, toolbox);
  const query = findTool(tool, toolbox.program);
  const args = findArguments(tool, body, optional(inside(tool, body), 'data'), dataPath);
  if (query !== undefined) return callQuery(query, args, toolbox);
  return sessionTools.get(tool)!(args, caller, toolbox);
}

/** Returns `connection_id` of a body; fails PARAM_MISSING or PARAM_TYPE if it is not a string. */
export function readConnection(tool: string, body: JsonView): string {
  return requiredText(inside(tool, body), 'connection_id').text;
}

/** Prepares `tool_call`: the body names the tool and contains its arguments. */
function prepareNamed(body: JsonView, caller: Caller, toolbox: Toolbox): Work {
  const call = inside('tool_call', body);
  const view = optional(call, 'tool') ?? missing(call, 'tool', 'an object');
  if (view.kind !== 'object') wrongKind('tool', 'an object', view);
  const { text, path } = requiredText(inside('tool_call', view), 'tool_name');
  const name = aliases.get(text) ?? text;
  const tool: Tool | undefined = callableTools.get(name);
  if (tool === undefined) {
    const hint = `Allowed here: ${[...callableTools.keys()].join(', ')}.`;
    fail('UNKNOWN_TOOL', { tool: excerpt(text) }, { path, hint });
  }
  const args = findArguments(name, body, optional(inside(name, view), 'args'), '/tool/args');
  return tool(args, caller, toolbox);
}

/** Arguments are read from `data` first, then from the top level. */
function findArguments(
  owner: string,
  body: JsonView,
  data: JsonView | undefined,
  path: string,
): Arguments {
  if (data !== undefined && data.kind !== 'object')
    wrongKind(path.slice(path.lastIndexOf('/') + 1), 'an object', data);
  return { owner, objects: data === undefined ? [body] : [data, body], path };
}
