// Explained queries: `?explain=1` and `?profile=1` on a query's endpoint.
import { type Database, type Query, explain, statisticsOf } from '../../engine/index.js';

/** What the query string of a call asks for beside the answer. */
export function askedFor(queryString: string): 'explain' | 'profile' | undefined {
  if (queryString === '') return undefined;
  const parameters = new URLSearchParams(queryString);
  if (parameters.get('explain') === '1') return 'explain';
  return parameters.get('profile') === '1' ? 'profile' : undefined;
}

/** The plan of a query as JSON, with estimates from the data as they are now. */
export function explanationBody(database: Database, { plan }: Query): Uint8Array {
  const explanation = database.view((view) => explain(plan, statisticsOf(view)));
  return Buffer.from(JSON.stringify(explanation));
}
