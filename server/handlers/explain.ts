// Explained queries: what `?explain=1` on a query’s endpoint answers.
import { type Database, type Query, explain, statisticsOf } from '../../engine/internal.js';

/** The plan of a query as JSON, with estimates from the data as they are now. */
export function explanationBody(database: Database, { plan }: Query): Uint8Array {
  const explanation = database.view((view) => explain(plan, statisticsOf(view)));
  return Buffer.from(JSON.stringify(explanation));
}
