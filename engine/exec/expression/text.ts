// Functions of strings. Lengths and positions count code points. A null argument makes the result null.
// Invariant: no result is longer than `limits.value_bytes`; a longer result is refused before it is created.
import { printDate } from '../../base/date.js';
import { excerpt, fail } from '../../base/errors.js';
import { Json, jsonAt, scalarOfJson, splitPath } from '../../base/text/json.js';
import { Instant, Uuid } from '../../base/value.js';
import type { Expression } from '../../plan/expression.js';
import type { TextFunction } from '../../plan/function-name.js';
import type { Builder } from '../runtime/build-context.js';
import { withOperands } from './operand.js';
import type { Evaluate } from '../runtime/compiled.js';
import { uuidOf } from '../runtime/element.js';
import { type Frame, rowBytes } from '../runtime/frame.js';
import { readNumber } from '../runtime/step-argument.js';
import { Element, type Value } from '../runtime/value.js';

type Apply = (frame: Frame, args: readonly Value[], name: TextFunction) => Value;

/** Number of characters that count as one step of the budget. */
const charactersPerStep = 256;

/** Longer strings count as memory of the query. */
const shortText = 65_536;

function textOf(value: Value, name: TextFunction): string {
  if (typeof value === 'string') return value;
  return fail('PARAM_TYPE', { param: name, type: 'String', got: typeof value });
}

function refuse(frame: Frame, param: TextFunction, size: number): void {
  const max = frame.context.limits.value_bytes;
  if (size > max) fail('VALUE_TOO_LARGE', { param, size, max });
}

/** Charges the budget for a created string. Fails when it is too long. */
function made(frame: Frame, text: string, name: TextFunction): string {
  frame.tick(Math.trunc(text.length / charactersPerStep));
  if (text.length > shortText) {
    refuse(frame, name, Buffer.byteLength(text));
    frame.reserveMemory(2 * text.length);
  }
  return text;
}

const mapped =
  (map: (text: string) => string): Apply =>
  (frame, [value], name) =>
    made(frame, map(textOf(value!, name)), name);

/** Returns the number of code points. */
function lengthOf(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xdc00 && code <= 0xdfff) count--;
  }
  return count;
}

/** Returns the index after `count` more code points. */
function advance(text: string, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0 && at < text.length; left--) {
    const code = text.charCodeAt(at);
    at += code >= 0xd800 && code <= 0xdbff ? 2 : 1;
  }
  return at;
}

const boundOf = (value: Value): number =>
  readNumber('SUBSTRING', value, 0, Number.MAX_SAFE_INTEGER, true);

const substring: Apply = (frame, [value, start, end], name) => {
  const text = textOf(value!, name);
  const low = boundOf(start!);
  const high = end === undefined ? Number.MAX_SAFE_INTEGER : boundOf(end);
  frame.tick(Math.trunc(text.length / charactersPerStep));
  if (high <= low) return '';
  const from = advance(text, 0, low);
  return made(frame, text.slice(from, advance(text, from, high - low)), name);
};

function occurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return count;
}

const replace: Apply = (frame, args, name) => {
  const [text, from, to] = args.map((each) => textOf(each, name)) as [string, string, string];
  frame.tick(Math.trunc(text.length / charactersPerStep));
  if (from === '' || text.length < from.length) return text;
  const grown = occurrences(text, from) * (Buffer.byteLength(to) - Buffer.byteLength(from));
  if (grown > 0) refuse(frame, name, Buffer.byteLength(text) + grown);
  return made(
    frame,
    text.replaceAll(from, () => to),
    name,
  );
};

const split: Apply = (frame, [value, by], name) => {
  const [text, separator] = [textOf(value!, name), textOf(by!, name)];
  if (separator === '') fail('PARAM_VALUE', { param: name, allowed: 'a separator', got: '""' });
  const parts = occurrences(text, separator) + 1;
  frame.tick(parts + Math.trunc(text.length / charactersPerStep));
  frame.reserveMemory(parts * rowBytes);
  return text.split(separator);
};

/** A container stays Json, which prints as it was written; a scalar becomes a value of its JSON type. */
const jsonPart: Apply = (frame, [value, path]) => {
  if (!(value instanceof Json)) return null;
  frame.tick(Math.trunc(value.text.length / charactersPerStep));
  const part = jsonAt(value, splitPath(path as string)!);
  return part && scalarOfJson(part);
};

/** Returns a scalar as JSON text without quotes. */
function printed(frame: Frame, value: Value): string {
  if (value instanceof Instant) return printDate(value);
  if (value instanceof Uuid) return value.text;
  if (value instanceof Element) return uuidOf(frame, value).text;
  if (typeof value === 'object') {
    return fail('PARAM_TYPE', { param: 'CONCAT', type: 'a single value', got: excerpt('a list') });
  }
  return String(value);
}

const concat: Apply = (frame, args, name) => {
  const parts = args.map((value) => printed(frame, value));
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  // A character takes at least one byte.
  refuse(frame, name, length);
  return made(frame, parts.join(''), name);
};

const functions: Record<TextFunction, Apply> = {
  LOWER: mapped((text) => text.toLowerCase()),
  UPPER: mapped((text) => text.toUpperCase()),
  TRIM: mapped((text) => text.trim()),
  LENGTH: (frame, [value], name) => lengthOf(made(frame, textOf(value!, name), name)),
  CONCAT: concat,
  SUBSTRING: substring,
  REPLACE: replace,
  SPLIT: split,
  GET: jsonPart,
};

export function buildText(
  builder: Builder,
  { function: name, of }: Extract<Expression, { kind: 'text' }>,
): Evaluate {
  const apply = functions[name];
  return withOperands(builder, of, (frame, args) => apply(frame, args, name));
}
