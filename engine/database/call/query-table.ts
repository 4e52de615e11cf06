// Identifies the query of a call across threads and reloads, by the generation of its program and its index
// in that program. Lanes keep the programs of the last reloads. A call that is running during a reload uses
// the query that was requested, never another query at the same index.
import { excerpt, fail } from '../../base/errors.js';
import type { Query } from '../../plan/plan.js';
import { nearestName } from '../../base/did-you-mean.js';

/** Maximum queries per program. It is above `limits.source_queries`, which is 10,000. */
const queriesMax = 2 ** 16;

/** Number of programs kept. A call outlives that many reloads only while a text is being embedded. */
export const generationsMax = 16;

export function queryNumber(generation: number, index: number): number {
  return generation * queriesMax + index;
}

/** Returns the index in its program. Negative numbers, of calls with their own plan, are unchanged. */
export function indexOf(number: number): number {
  return number % queriesMax;
}

interface Programs {
  queries: { at(index: number): Query | undefined };
  schema: number;
}

export class QueryTable {
  readonly #programs = new Map<number, Programs>();

  /** `schema` is the schema version for which the queries were compiled. */
  add(generation: number, queries: Programs['queries'], schema: number): void {
    this.#programs.set(generation, { queries, schema });
    for (const old of this.#programs.keys())
      if (old <= generation - generationsMax) this.#programs.delete(old);
  }

  at(number: number): Query {
    return this.#programOf(number).queries.at(indexOf(number))!;
  }

  schemaOf(number: number): number {
    return this.#programOf(number).schema;
  }

  /** Fails SCHEMA_CHANGED when the program is no longer kept. The call may be repeated. */
  #programOf(number: number): Programs {
    return this.#programs.get(Math.floor(number / queriesMax)) ?? fail('SCHEMA_CHANGED');
  }
}

/** Fails NOT_FOUND, with the most similar name as a suggestion. */
export function failUnknown(name: string, queries: Iterable<string>): never {
  const near = nearestName(name, [...queries]);
  const hint = near === undefined ? {} : { hint: `Did you mean \`${near}\`?` };
  return fail('NOT_FOUND', { name: excerpt(name), kind: 'Query' }, hint);
}
