// Finds the one element that a value names, and names elements in errors.
import { fail } from '../../base/errors.js';
import { parseUuid, printUuid } from '../../base/id.js';
import { Uuid } from '../../base/value.js';
import { uuidAt } from '../../storage/record/record.js';
import { recordOf, storedLabel } from './element.js';
import type { Frame } from './frame.js';
import { Element, isListValue, type Value } from './value.js';

/** Returns the name of an element or id for error messages. */
export function nameOf(frame: Frame, type: string, value: Value): string {
  if (value instanceof Uuid) return `${type} ${value.text}`;
  if (!(value instanceof Element)) return type;
  const record = recordOf(frame, value);
  return record === undefined ? type : `${type} ${printUuid(record, uuidAt.own)}`;
}

/**
 * Returns the dense id of the one existing element that an element or id names. Fails 404 when it does not
 * exist, or for null or an empty list; 409 for several elements. `type` names the expected type.
 */
export function resolveElement(frame: Frame, value: Value, type = 'an element'): number {
  if (isListValue(value)) {
    if (value.length > 1) fail('EXPECTED_ONE', { place: type, count: value.length });
    return resolveElement(frame, value[0] ?? null, type);
  }
  const id = findElement(frame, value);
  if (id === 0) fail('NO_VALUE_FOUND', { what: nameOf(frame, type, value) });
  return id;
}

/** Like `resolveElement`, for one value. Returns 0 when there is no such element. */
export function findElement(frame: Frame, value: Value): number {
  if (value instanceof Element) return storedLabel(frame, value.id) === 0 ? 0 : value.id;
  const bytes = value instanceof Uuid ? parseUuid(value.text) : undefined;
  return bytes === undefined ? 0 : frame.view.idOf(bytes);
}
