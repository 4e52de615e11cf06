// Reads the strings of a row (types, names and ids) as bytes.
import { fail } from '../../../base/errors.js';
import { parseUuid } from '../../../base/id.js';
import type { JsonView } from '../../../json/view.js';

/** Characters of a UUID. */
const uuidText = 36;

const encoder = new TextEncoder();

/** Returns the UTF-8 of a string: a view into the row, or a copy when the string has escapes. */
export function utf8Of(
  view: JsonView,
  bytes: Uint8Array,
): { bytes: Uint8Array; start: number; end: number } {
  if (view.verbatim) return { bytes, start: view.start, end: view.start + view.size };
  const own = encoder.encode(view.text());
  return { bytes: own, start: 0, end: own.length };
}

/** Returns undefined when the string is no UUID. Fails PARAM_TYPE when the value is no string. */
export function uuidOf(view: JsonView, param: string): Uint8Array | undefined {
  if (view.kind === 'string' && view.verbatim && view.size !== uuidText) return undefined;
  return parseUuid(textOf(view, param));
}

/** Fails PARAM_TYPE when the value is no string. */
export function textOf(view: JsonView, param: string): string {
  if (view.kind !== 'string') fail('PARAM_TYPE', { param, type: 'String', got: view.kind });
  return view.text();
}
