// What the edges that a request makes keep of the elements they join, remembered while nothing is
// removed: the same ends come again, or many of them. Whoever names an end by its uuid needs no record
// of it, only its label, and of many ends the lists of labels tell that for less than their records.
//
// Invariant: an element that is told of exists; one that the request has made itself is found by its
// record, because it may be missing in the lists.
import { labelOf, uuidAt } from '../record/record.js';
import type { Table } from '../table/env.js';
import type { BlockKey } from '../table/keys.js';
import { ListedElements } from './label-bitmap.js';

export interface EdgeEnd {
  readonly label: number;
  readonly uuid: Uint8Array;
}

const endsKept = 1024;

/** From so many records on, lists are read instead. */
const fewRecords = 32;

export class EdgeEnds {
  readonly #ends = new Map<number, EdgeEnd>();
  readonly #listed: ListedElements;
  #read = 0;

  constructor(
    labels: Table<BlockKey>,
    private readonly record: (id: number) => Uint8Array | undefined,
  ) {
    this.#listed = new ListedElements(labels);
  }

  /** `named`: the uuid of the element, which is kept, and the label that it should have. */
  of(id: number, named?: EdgeEnd): EdgeEnd | undefined {
    const known = this.#ends.get(id);
    if (known !== undefined) return known;
    const isListed =
      named !== undefined && this.#read >= fewRecords && this.#listed.has(named.label, id);
    const end = isListed ? named : this.#readEnd(id);
    if (end === undefined) return undefined;
    if (this.#ends.size === endsKept) this.#ends.clear();
    this.#ends.set(id, end);
    return end;
  }

  #readEnd(id: number): EdgeEnd | undefined {
    this.#read++;
    const record = this.record(id);
    return record && { label: labelOf(record), uuid: record.slice(uuidAt.own, uuidAt.own + 16) };
  }

  /** Something is about to be removed. */
  forget(): void {
    this.#ends.clear();
    this.#listed.forget();
  }
}
