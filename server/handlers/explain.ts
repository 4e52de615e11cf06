// Explains queries: the response to `?explain=1` on the endpoint of a query.
import { type Database, type Query, explain, statisticsOf } from '../../engine/internal.js';

/** Returns the plan of a query as JSON, with estimates from the current data. */
export function explanationBody(database: Database, { plan }: Query): Uint8Array {
  const explanation = database.view((view) => explain(plan, statisticsOf(view)));
  return Buffer.from(JSON.stringify(explanation));
}
