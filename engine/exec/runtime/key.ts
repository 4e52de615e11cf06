// Typed keys: texts of values such that two values have the same key exactly when they are equal. Groups,
// DEDUP and membership in long lists use them.
import { Json, readJson } from '../../base/text/json.js';
import { Instant, Uuid } from '../../base/value.js';
import { uuidOf } from './element.js';
import type { Frame } from './frame.js';
import { Element, RecordValue, type Value } from './value.js';

function numberKey(value: number): string {
  // An integral float equals the big integer of the same value, so both are written as digits.
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return `n${value + 0}`;
  return `n${BigInt(value)}`;
}

/** Returns the key of a value. The first letter is its kind, so that 1 and "1" differ. */
export function keyOf(frame: Frame, value: Value): string {
  switch (typeof value) {
    case 'number':
      return numberKey(value);
    case 'bigint':
      return `n${value}`;
    case 'string':
      return `s${value}`;
    case 'boolean':
      return value ? 'bt' : 'bf';
    default:
      return value === null ? '0' : objectKey(frame, value);
  }
}

function objectKey(frame: Frame, value: Exclude<Value, null | boolean | number | bigint | string>) {
  if (value instanceof Instant) return `d${value.seconds}.${value.micros}`;
  if (value instanceof Uuid) return `u${value.text}`;
  if (value instanceof Json) return keyOf(frame, readJson(value));
  if (value instanceof Element) return `u${uuidOf(frame, value).text}`;
  if (value instanceof RecordValue)
    return `r${keyOfAll(frame, value.names)}${keyOfAll(frame, value.values)}`;
  if (value instanceof Map) {
    return `r${keyOfAll(frame, [...value.keys()])}${keyOfAll(frame, [...value.values()])}`;
  }
  return `l${keyOfAll(frame, value as readonly Value[] | Float64Array)}`;
}

/**
 * Returns the key of several values in order. Every part has its length, so that different lists have
 * different keys.
 */
export function keyOfAll(frame: Frame, values: ArrayLike<Value>): string {
  let text = `${values.length}[`;
  for (let i = 0; i < values.length; i++) {
    const key = keyOf(frame, values[i]!);
    text += `${key.length}:${key}`;
    frame.countKey(1, text.length);
  }
  return text;
}
