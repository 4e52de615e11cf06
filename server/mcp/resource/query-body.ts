// Describes one query as a record: its text, its parameters and result, and its plan.
import {
  parseDocText,
  explain,
  parametersSchema,
  type Program,
  type Query,
  type ReadView,
  statisticsOf,
} from '../../../engine/internal.js';
import { replySchema } from '../tool/query-tool.js';

/**
 * `view`: for estimates of rows, which depend on the data. Absent if the caller must not see them.
 */
export function queryBody(query: Query, program: Program, view: ReadView | undefined): string {
  const { name, doc, written, plan, mcp } = query;
  return JSON.stringify({
    name,
    doc,
    source: written,
    writes: plan.writes,
    mcp,
    parameters: parametersSchema(plan, { about: parseDocText(query).parameters }),
    output: replySchema(query, program) ?? {},
    plan: explain(plan, view && statisticsOf(view)),
  });
}
