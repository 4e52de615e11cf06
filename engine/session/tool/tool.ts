// The tools of a session by name.
import { collect, groupTool, orderBy } from './list-tool.js';
import { schemaResource } from './schema-resource.js';
import { searchKeyword, searchVector, searchVectorText } from './search-tool.js';
import { filterItems, fromType, stepTool } from './traversal-tool.js';
import { includeData, type Tool } from '../tool-context.js';

/** Tools that `tool_call` accepts. */
export const callableTools: ReadonlyMap<string, Tool> = new Map<string, Tool>([
  ['n_from_type', fromType('node')],
  ['e_from_type', fromType('edge')],
  ['out_step', stepTool('out_step')],
  ['in_step', stepTool('in_step')],
  ['out_e_step', stepTool('out_e_step')],
  ['in_e_step', stepTool('in_e_step')],
  ['filter_items', filterItems],
  ['order_by', orderBy],
  ['group_by', groupTool('group_by')],
  ['aggregate_by', groupTool('aggregate_by')],
  ['search_vector', searchVector],
  ['search_vector_text', searchVectorText],
  ['search_keyword', searchKeyword],
]);

/** All tools that work on an open session. */
export const sessionTools: ReadonlyMap<string, Tool> = new Map<string, Tool>([
  ['next', (args) => ({ kind: 'next', data: includeData(args) })],
  ['collect', collect],
  ['reset', (_, { id }) => ({ kind: 'answer', body: JSON.stringify(id), after: 'blank' })],
  ['schema_resource', schemaResource],
  ...callableTools,
]);
