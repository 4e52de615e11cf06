// Runs a compiled query as a session's tool: a query that returns whole elements replaces the traversal, any
// other query only returns its result.
import { assert } from '../../base/assert.js';
import { decodeArguments } from '../../json/decode.js';
import type { JsonView } from '../../json/view.js';
import type { Plan, Query } from '../../plan/plan.js';
import type { Program } from '../../plan/program.js';
import type { Expression } from '../../plan/expression.js';
import { type Arguments, find } from '../argument/tool-argument.js';
import { includeData, type Toolbox, type Work } from '../tool-context.js';

const suffix = 'Mcp';

/** Returns the query with a tool's name, whether or not it is marked `#[mcp]`. */
export function queryOfTool({ queries }: Program, tool: string): Query | undefined {
  if (!tool.endsWith(suffix)) return undefined;
  const name = tool.slice(0, -suffix.length);
  return queries.find((query) => query.name === name);
}

export const toolOfQuery = (query: Query): string => query.name + suffix;

export function callQuery(query: Query, args: Arguments, { limits, program }: Toolbox): Work {
  const data = includeData(args);
  // Decoding reads only the members and the path of an object.
  const parameters = { path: args.path, member: (name: string) => find(args, name) } as JsonView;
  const decoding = { owner: query.name, limits, strict: false, prefix: args.path, errors: [] };
  const values = decodeArguments(parameters, query.plan.parameters, decoding);
  // [compat] The query returns the same as outside of sessions, and the traversal stays.
  if (!query.elements || program.compat)
    return { kind: 'run', plan: query.plan, args: values, after: 'keep' };
  const plan = adoptingPlan(query.plan, data);
  return { kind: 'run', plan, args: values, after: 'replace' };
}

/** Returns the same plan with its only returned value as the items of the traversal. */
function adoptingPlan(plan: Plan, data: boolean): Plan {
  const value: Expression = returnedValue(plan);
  const source = { kind: 'value' as const, of: value };
  return {
    ...plan,
    output: {
      kind: 'items',
      value: { kind: 'pipeline', source, steps: [], result: 'many' },
      answer: 'first',
      data,
    },
  };
}

function returnedValue({ output }: Plan): Expression {
  assert(output.kind !== 'inspection', 'a query of the program returns values');
  return output.kind === 'object' ? output.members[0]!.value : output.value;
}
