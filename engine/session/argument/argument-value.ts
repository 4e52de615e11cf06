// Reads arguments by kind: texts, flags, integers, counts and floats, each with its error.
import { fail } from '../../base/errors.js';
import { parseInteger } from '../../base/integer.js';
import { quote } from '../../json/validation-error.js';
import type { JsonView } from '../../json/view.js';
import { type Arguments, optional, required, wrongKind } from './tool-argument.js';

export function readText(view: JsonView, name: string): string {
  return view.kind === 'string' ? view.text() : wrongKind(name, 'String', view);
}

export function requiredText(args: Arguments, name: string): { text: string; path: string } {
  const view = required(args, name, 'String');
  return { text: readText(view, name), path: view.path };
}

export function flag(args: Arguments, name: string, byDefault: boolean): boolean {
  const view = optional(args, name);
  if (view === undefined) return byDefault;
  return view.kind === 'boolean' ? view.boolean() : wrongKind(name, 'Boolean', view);
}

/**
 * Returns an integer of any length. It is exact within 2^53; beyond, its sign and magnitude are approximate.
 */
export function readInteger(view: JsonView, name: string): number {
  if (view.kind !== 'number') wrongKind(name, 'I64', view);
  const token = view.token();
  if (!view.integral) wrongKind(name, 'I64', view, quote(view));
  return token.length > 40 ? Number(token) : Number(parseInteger(token));
}

/** Returns an integer from 1 to `max`. */
export function readCount(view: JsonView, name: string, max: number): number {
  const value = readInteger(view, name);
  if (value >= 1 && value <= max) return value;
  const got = quote(view);
  fail('PARAM_RANGE', { param: name, min: 1, max, got }, { path: view.path });
}

/** Returns a finite float. */
export function readNumber(view: JsonView, name: string): number {
  if (view.kind !== 'number') wrongKind(name, 'F64', view);
  const value = view.float();
  if (Number.isFinite(value)) return value;
  const got = quote(view);
  const bounds = { min: -Number.MAX_VALUE, max: Number.MAX_VALUE };
  fail('PARAM_RANGE', { param: name, ...bounds, got }, { path: view.path });
}
