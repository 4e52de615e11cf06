// Two tools that replace many query tools: one finds queries, one runs them. A long list of tools would fill
// the context of a model.
import { describeJson, excerpt, fail, scanBody, type Limits } from '../../../engine/internal.js';
import type { Caller } from '../../auth/keys.js';
import { argumentsOf } from './arguments.js';
import { type Output, outputOf } from './output.js';
import type { Tool } from './tool.js';
import { lazy } from './query-tool.js';

/** Returns the query tools of a caller. */
export type KnownTools = (key: Caller | undefined) => readonly Tool[];

const readOnly = { readOnlyHint: true, openWorldHint: false };

/** `prefix`: beginning of the names of all tools. */
export function catalogueTools(known: KnownTools, limits: Limits, prefix: string): Tool[] {
  return [listQueries(known, limits, prefix), runQuery(known, limits, prefix)];
}

function listQueries(known: KnownTools, limits: Limits, prefix: string): Tool {
  const name = 'list_queries';
  const properties = {
    like: { type: 'string', description: 'A part of the name or of the text.' },
  };
  const description = `The queries of this database with their arguments. Call them with ${prefix}run_query.`;
  const inputSchema = { type: 'object', properties, additionalProperties: false };
  const entry = { name, title: 'List queries', description, inputSchema, annotations: readOnly };
  return {
    name,
    entry: lazy(() => JSON.stringify(entry)),
    call: ({ key, args, limit }): Output => {
      const like = scanBody(args, limits).member('like');
      if (like !== undefined && like.kind !== 'string' && like.kind !== 'null') {
        const errorArgs = { param: 'like', type: 'String', got: like.kind };
        fail('PARAM_TYPE', errorArgs, { path: '/like' });
      }
      const part = like?.kind === 'string' ? like.text().toLowerCase() : '';
      const found = known(key).filter((tool) => tool.entry().toLowerCase().includes(part));
      const queries = found.map((tool) => tool.entry());
      const advice = 'Name a part with the parameter like.';
      return outputOf(`{"queries":[${queries.join(',')}]}`, { limit, widePaths: 0, advice });
    },
  };
}

function runQuery(known: KnownTools, limits: Limits, prefix: string): Tool {
  const name = 'run_query';
  const properties = {
    name: { type: 'string', description: `As ${prefix}list_queries says it.` },
    arguments: { type: 'object', description: 'As the inputSchema of the query says.' },
  };
  const description = 'Calls a query of this database by its name.';
  const required = ['name'];
  const inputSchema = { type: 'object', properties, required, additionalProperties: false };
  const entry = { name, title: 'Run a query', description, inputSchema };
  return {
    name,
    entry: lazy(() => JSON.stringify(entry)),
    call: (call) => {
      const body = scanBody(call.args, limits);
      const named = body.member('name');
      if (named?.kind !== 'string') {
        const errorArgs = { owner: name, param: 'name', type: 'String' };
        return fail('PARAM_MISSING', errorArgs, { path: '/name' });
      }
      const tool = known(call.key).find((one) => one.name === named.text());
      if (tool === undefined) {
        const hint = `${prefix}list_queries says which there are.`;
        return fail('NOT_FOUND', { name: excerpt(named.text()), kind: 'Query' }, { hint });
      }
      const view = body.member('arguments');
      if (view !== undefined && view.kind !== 'object' && view.kind !== 'null') {
        const errorArgs = { param: 'arguments', type: 'Object', got: describeJson(view) };
        fail('PARAM_TYPE', errorArgs, { path: '/arguments' });
      }
      return tool.call({ ...call, ...argumentsOf(view, call.args, call.limit) });
    },
  };
}
