// How a call names its query across threads and reloads: by the generation of its program and its
// place in that program. Lanes keep the programs of the last reloads, so that a call which was on
// its way when the program changed runs the query that was asked for, never its successor's
// neighbour.
import { fail } from '../base/errors.js';
import type { Query } from '../plan/plan.js';

/** Above `limits.source_queries`, which is 10,000. */
const placesMax = 2 ** 16;

/** Programs kept. A call outlives as many reloads only while a text is being embedded. */
const generationsMax = 16;

export function queryNumber(generation: number, place: number): number {
  return generation * placesMax + place;
}

/** The place in its program; negative numbers, of calls that bring their own plan, stay. */
export function placeOf(number: number): number {
  return number % placesMax;
}

export class QueryTable {
  readonly #programs = new Map<number, readonly Query[]>();

  add(generation: number, queries: readonly Query[]): void {
    this.#programs.set(generation, queries);
    for (const old of this.#programs.keys())
      if (old <= generation - generationsMax) this.#programs.delete(old);
  }

  /** Fails OVERLOADED when the program is long gone: the call may be repeated. */
  at(number: number): Query {
    const place = placeOf(number);
    const queries = this.#programs.get((number - place) / placesMax);
    return queries?.[place] ?? fail('OVERLOADED', { queue: 'The list of reloaded programs' });
  }
}
