// The order of rows by their ids. Where these rise with the numbers of elements, the numbers are compared, and
// no record is read. Invariant: it is the order of the ids as texts.
import { parseUuid } from '../../base/id.js';
import { uuidOf } from '../runtime/element.js';
import type { IdFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { Element, type Value } from '../runtime/value.js';
import type { Position } from './page-cursor.js';

/** From which number on ids rise; beyond all where nobody knows. */
export const risenFrom = (frame: Frame): number =>
  frame.view.risenFrom?.() ?? Number.POSITIVE_INFINITY;

/** A row at its place; its id is read when it is asked for. */
export class Placed implements Position {
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
  /** From this number on ids rise; the last one that is not behind the start, where it is known. */
  from: number;
  last: number | undefined;
  compare(a: Placed, b: Placed): number;
  isBehind(placed: Placed, start: Position): boolean;
}

export function byIds(frame: Frame, start: Position | undefined): ByIds {
  const from = risenFrom(frame);
  const last = start === undefined ? undefined : lastUpTo(frame, start.id, from);
  return {
    from,
    last,
    compare: (a, b) =>
      a.row.id >= from && b.row.id >= from ? a.row.id - b.row.id : compareText(a.id, b.id),
    isBehind: (placed, { id }) =>
      placed.row.id >= from && last !== undefined ? placed.row.id > last : placed.id > id,
  };
}

/** Ids that are looked at for the first behind a position. */
const lookedMax = 4096;

/**
 * Of the elements from `from` on, whose ids rise, the last that is not behind a position, or one that was
 * there; undefined when it is not found soon.
 */
export function lastUpTo(frame: Frame, id: string, from: number): number | undefined {
  const uuid = parseUuid(id);
  if (uuid === undefined || from === Number.POSITIVE_INFINITY) return undefined;
  const known = frame.view.idOf(uuid);
  if (known >= from) return known;
  let looked = 0;
  for (const ids of frame.view.byUuid?.(uuid) ?? []) {
    frame.tick(ids.length);
    const next = ids.find((each) => each >= from);
    if (next !== undefined) return next - 1;
    looked += ids.length;
    if (looked > lookedMax) return undefined;
  }
  return Number.POSITIVE_INFINITY;
}

/**
 * Rows for ids, but for those of which the number tells that they are on no page: they are before the start,
 * or behind the `worst` that is kept.
 */
export function* candidates(
  frame: Frame,
  input: IdFlow,
  { from, last = 0 }: ByIds,
  worst: () => Placed | undefined,
): Iterable<readonly Value[]> {
  for (const batch of input.open(frame)) {
    frame.tick(batch.length);
    const most = worst()?.row.id ?? 0;
    const least = most >= from ? most : Number.POSITIVE_INFINITY;
    const rows: Value[] = [];
    for (let i = 0; i < batch.length; i++) {
      const id = batch[i]!;
      if (id >= from && (id <= last || id > least)) continue;
      rows.push(new Element(id));
    }
    if (rows.length > 0) yield rows;
  }
}
