// How a call names its query across threads and reloads: by the generation of its program and its
// place in that program. Lanes keep the programs of the last reloads, so that a call which was on
// its way when the program changed runs the query that was asked for, never its successor's
// neighbour.
import { excerpt, fail } from '../../base/errors.js';
import type { Query } from '../../plan/plan.js';
import { nearestName } from '../../base/did-you-mean.js';

/** Above `limits.source_queries`, which is 10,000. */
const placesMax = 2 ** 16;

/** Programs kept. A call outlives as many reloads only while a text is being embedded. */
export const generationsMax = 16;

export function queryNumber(generation: number, place: number): number {
  return generation * placesMax + place;
}

/** The place in its program; negative numbers, of calls that bring their own plan, stay. */
export function placeOf(number: number): number {
  return number % placesMax;
}

interface Programs {
  queries: { at(place: number): Query | undefined };
  schema: number;
}

export class QueryTable {
  readonly #programs = new Map<number, Programs>();

  /** `schema`: the number of the schema that the queries were compiled for. */
  add(generation: number, queries: Programs['queries'], schema: number): void {
    this.#programs.set(generation, { queries, schema });
    for (const old of this.#programs.keys())
      if (old <= generation - generationsMax) this.#programs.delete(old);
  }

  at(number: number): Query {
    return this.#programOf(number).queries.at(placeOf(number))!;
  }

  schemaOf(number: number): number {
    return this.#programOf(number).schema;
  }

  /** Fails SCHEMA_CHANGED when the program is long gone: the call may be repeated. */
  #programOf(number: number): Programs {
    return this.#programs.get(Math.floor(number / placesMax)) ?? fail('SCHEMA_CHANGED');
  }
}

/** Fails NOT_FOUND, with the name that was meant. */
export function failUnknown(name: string, queries: Iterable<string>): never {
  const near = nearestName(name, [...queries]);
  const hint = near === undefined ? {} : { hint: `Did you mean \`${near}\`?` };
  return fail('NOT_FOUND', { name: excerpt(name), kind: 'Query' }, hint);
}
