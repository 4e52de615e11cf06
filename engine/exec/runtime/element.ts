// Reads elements: their record, id, label and endpoints.
import { fail } from '../../base/errors.js';
import { printUuid } from '../../base/id.js';
import { Uuid } from '../../base/value.js';
import { fromOf, kindOf, labelOf, toOf, uuidAt } from '../../storage/record/record.js';
import type { Catalog } from '../../storage/table/view-types.js';
import type { Frame } from './frame.js';
import type { Element } from './value.js';

/**
 * Returns the record as of the element's first reading. Returns undefined when the element did not exist any
 * more.
 */
export function recordOf(frame: Frame, element: Element): Uint8Array | undefined {
  if (element.record !== undefined) return element.record;
  element.record = frame.readRecord(element.id);
  if (element.isRetained) frame.reserveMemory(element.record?.length ?? 0);
  return element.record;
}

export function uuidOf(frame: Frame, element: Element): Uuid {
  const record = recordOf(frame, element);
  if (record === undefined) fail('NO_VALUE_FOUND', { what: 'a deleted element' });
  return new Uuid(printUuid(record, uuidAt.own));
}

/**
 * Returns the label id of an element as it is stored now, 0 when it no longer exists. A captured record does
 * not count.
 */
export function storedLabel(frame: Frame, id: number): number {
  const record = frame.expected(frame.view.recordShared(id), id);
  return record === undefined ? 0 : labelOf(record);
}

/** Like `storedLabel`, for an id from an index, which may be newer or older than this view. */
export function proposedLabel(frame: Frame, id: number): number {
  const record = frame.view.recordShared(id);
  return record === undefined ? 0 : labelOf(record);
}

/** Returns the label id of an element, of its captured record if it has one; 0 when it no longer exists. */
export function recordLabelOf(frame: Frame, element: Element): number {
  const record = recordOf(frame, element);
  return record === undefined ? 0 : labelOf(record);
}

/**
 * Returns the id of the source or target of an edge as it is stored now; 0 when the edge no longer exists.
 */
export function edgeEnd(frame: Frame, id: number, end: 'from' | 'to', label?: number): number {
  const record = frame.peekRecord(id);
  if (record === undefined || kindOf(record) !== 'edge') return 0;
  if (label !== undefined && labelOf(record) !== label) return 0;
  return end === 'from' ? fromOf(record) : toOf(record);
}

const declaredIds = new WeakMap<Catalog, Set<number>>();

/**
 * Returns true if a record's type is declared. A session's items may have a type that a reload has removed.
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

/** Returns true if a search has set its attributes on the element. */
export const isHit = ({ hit: { score, distance } }: Element): boolean =>
  !Number.isNaN(score) || !Number.isNaN(distance);
