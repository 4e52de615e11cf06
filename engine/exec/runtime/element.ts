// Reading elements: their record, id, label and ends.
import { fail } from '../../base/errors.js';
import { printUuid } from '../../base/id.js';
import { Uuid } from '../../base/value.js';
import { fromOf, kindOf, labelOf, toOf, uuidAt } from '../../storage/record/record.js';
import type { Catalog } from '../../storage/table/view-types.js';
import type { Frame } from './frame.js';
import type { Element } from './value.js';

/** The record as of the element's first reading; undefined when the element was gone by then. */
export function recordOf(frame: Frame, element: Element): Uint8Array | undefined {
  if (element.record !== undefined) return element.record;
  element.record = frame.readRecord(element.id);
  if (element.kept) frame.reserveMemory(element.record?.length ?? 0);
  return element.record;
}

export function uuidOf(frame: Frame, element: Element): Uuid {
  const record = recordOf(frame, element);
  if (record === undefined) fail('NO_VALUE_FOUND', { what: 'a deleted element' });
  return new Uuid(printUuid(record, uuidAt.own));
}

/**
 * Label id of an element as it is stored now, 0 when it is gone; an image of it counts as little as
 * a score.
 */
export function storedLabel(frame: Frame, id: number): number {
  const record = frame.expected(frame.view.recordShared(id), id);
  return record === undefined ? 0 : labelOf(record);
}

/** As `storedLabel` of what an index proposes, which may be ahead of this view or behind it. */
export function proposedLabel(frame: Frame, id: number): number {
  const record = frame.view.recordShared(id);
  return record === undefined ? 0 : labelOf(record);
}

/** Label id of an element, of its image if it has one; 0 when it is gone. */
export function recordLabelOf(frame: Frame, element: Element): number {
  const record = recordOf(frame, element);
  return record === undefined ? 0 : labelOf(record);
}

/** Id of the source or target of an edge as it is stored now; 0 when the edge is gone. */
export function edgeEnd(frame: Frame, id: number, end: 'from' | 'to', label?: number): number {
  const record = frame.peekRecord(id);
  if (record === undefined || kindOf(record) !== 'edge') return 0;
  if (label !== undefined && labelOf(record) !== label) return 0;
  return end === 'from' ? fromOf(record) : toOf(record);
}

const declaredIds = new WeakMap<Catalog, Set<number>>();

/**
 * Whether a record's type is declared: a session's items may be of a type that a reload has taken
 * away.
 */
export function isDeclared(frame: Frame, record: Uint8Array): boolean {
  const { catalog } = frame.view;
  let ids = declaredIds.get(catalog);
  if (ids === undefined) {
    ids = new Set(catalog.labels().map((label) => label.id));
    declaredIds.set(catalog, ids);
  }
  return ids.has(labelOf(record));
}

/** Whether a search has left its attributes on the element. */
export const isHit = ({ score, distance }: Element): boolean =>
  !Number.isNaN(score) || !Number.isNaN(distance);
