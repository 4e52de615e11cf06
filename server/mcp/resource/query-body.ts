// One query as a record: what its author wrote, what it takes and gives, and how it is run.
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

/** `view`: for estimates of rows, which tell of the data; absent for who does not see those. */
export function queryBody(query: Query, program: Program, view: ReadView | undefined): string {
  const { name, doc, written, plan, mcp } = query;
  return JSON.stringify({
    name,
    doc,
    source: written,
    writes: plan.writes,
    mcp,
    parameters: parametersSchema(plan, parseDocText(query).parameters),
    output: replySchema(query, program) ?? {},
    plan: explain(plan, view && statisticsOf(view)),
  });
}
