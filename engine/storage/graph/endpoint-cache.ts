// Caches the endpoints of the edges that a request creates, while the request removes nothing. Endpoints
// often recur, or there are many. For an endpoint that the caller names by uuid, only its label is needed.
// For many endpoints, the label bitmaps give it at less cost than the records.
//
// Invariant: a cached element exists. An element that the request itself has created is found by its record,
// because the bitmaps may lack it.
import { labelOf, uuidAt } from '../record/record.js';
import type { Table } from '../table/env.js';
import type { BlockKey } from '../table/keys.js';
import { LabelMembers } from './label-bitmap.js';

export interface Endpoint {
  readonly label: number;
  readonly uuid: Uint8Array;
}

const endpointsMax = 1024;

/** After this many records, the label bitmaps are read instead. */
const recordReadsMax = 32;

export class EndpointCache {
  readonly #ends = new Map<number, Endpoint>();
  readonly #listed: LabelMembers;
  #read = 0;

  constructor(
    labels: Table<BlockKey>,
    private readonly record: (id: number) => Uint8Array | undefined,
  ) {
    this.#listed = new LabelMembers(labels);
  }

  /**
   * Returns the endpoint, or undefined if there is no such element. `named`: its uuid, which the cache keeps,
   * and the label that it should have.
   */
  of(id: number, named?: Endpoint): Endpoint | undefined {
    const known = this.#ends.get(id);
    if (known !== undefined) return known;
    const isListed =
      named !== undefined && this.#read >= recordReadsMax && this.#listed.has(named.label, id);
    const end = isListed ? named : this.#readEnd(id);
    if (end === undefined) return undefined;
    if (this.#ends.size === endpointsMax) this.#ends.clear();
    this.#ends.set(id, end);
    return end;
  }

  #readEnd(id: number): Endpoint | undefined {
    this.#read++;
    const record = this.record(id);
    return record && { label: labelOf(record), uuid: record.slice(uuidAt.own, uuidAt.own + 16) };
  }

  /** Clears the cache, because an element is about to be removed. */
  forget(): void {
    this.#ends.clear();
    this.#listed.forget();
  }
}
