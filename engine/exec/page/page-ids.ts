// Orders rows by their ids. If ids increase with element numbers, the numbers are compared, and no record is
// read.
// Invariant: the order is that of the ids as text.
import { parseUuid } from '../../base/id.js';
import { uuidOf } from '../runtime/element.js';
import type { IdFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { Element, type Value } from '../runtime/value.js';
import type { Position } from './page-cursor.js';

/** Returns the number from which on ids increase. Infinity when it is not known. */
export const risenFrom = (frame: Frame): number =>
  frame.view.committed?.risenFrom() ?? Number.POSITIVE_INFINITY;

/** A row with its sort position. Its id is read on demand. */
export class PlacedRow implements Position {
  #id: string | undefined;

  constructor(
    private readonly frame: Frame,
    readonly row: Element,
    readonly keys: readonly Value[],
  ) {}

  get id(): string {
    return (this.#id ??= uuidOf(this.frame, this.row).text);
  }
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The order of rows by their ids alone. */
export interface ByIds {
  /** From this number on, ids increase; and the last number that is not after the start, if known. */
  from: number;
  last: number | undefined;
  compare(a: PlacedRow, b: PlacedRow): number;
  isAfter(placed: PlacedRow, start: Position): boolean;
}

export function byIds(frame: Frame, start: Position | undefined): ByIds {
  const from = risenFrom(frame);
  const last = start === undefined ? undefined : lastUpTo(frame, start.id, from);
  return {
    from,
    last,
    compare: (a, b) =>
      a.row.id >= from && b.row.id >= from ? a.row.id - b.row.id : compareText(a.id, b.id),
    isAfter: (placed, { id }) =>
      placed.row.id >= from && last !== undefined ? placed.row.id > last : placed.id > id,
  };
}

/** Maximum number of ids to examine for the first one after a position. */
const lookedMax = 4096;

/**
 * Finds the boundary of a page among the elements from `from` on, whose ids increase. Returns the last number
 * that is not after the position. It can be the number of an element that does not exist any longer. Returns
 * Infinity when no id is after the position, and undefined when the boundary is not found within `lookedMax`
 * ids.
 */
export function lastUpTo(frame: Frame, id: string, from: number): number | undefined {
  const uuid = parseUuid(id);
  if (uuid === undefined || from === Number.POSITIVE_INFINITY) return undefined;
  const known = frame.view.idOf(uuid);
  if (known >= from) return known;
  let looked = 0;
  for (const ids of frame.view.committed?.byUuid(uuid) ?? []) {
    frame.tick(ids.length);
    const next = ids.find((each) => each >= from);
    if (next !== undefined) return next - 1;
    looked += ids.length;
    if (looked > lookedMax) return undefined;
  }
  return Number.POSITIVE_INFINITY;
}

/**
 * Yields the rows for ids. Skips ids whose number shows that they are before the start, or after the `worst`
 * kept row.
 */
export function* candidates(
  frame: Frame,
  input: IdFlow,
  { from, last = 0 }: ByIds,
  worst: () => PlacedRow | undefined,
): Iterable<readonly Value[]> {
  for (const batch of input.open(frame)) {
    frame.tick(batch.length);
    const max = worst()?.row.id ?? 0;
    const idMin = max >= from ? max : Number.POSITIVE_INFINITY;
    const rows: Value[] = [];
    for (let i = 0; i < batch.length; i++) {
      const id = batch[i]!;
      if (id >= from && (id <= last || id > idMin)) continue;
      rows.push(new Element(id));
    }
    if (rows.length > 0) yield rows;
  }
}
