// Where a tool's arguments stand in a body, and their reading by kind. A tool reads `data` first
// and the top level where `data` lacks the member; traversal filters read their `args`.
import { fail } from '../base/errors.js';
import { parseInteger } from '../base/integer.js';
import { describe, quote } from '../json/fault.js';
import type { JsonView } from '../json/view.js';

/** The arguments of one call. */
export interface Arguments {
  /** Who needs them, for messages: the tool. */
  readonly owner: string;
  /** Objects that may hold them; an earlier one wins. */
  readonly places: readonly JsonView[];
  /** JSON Pointer of the object they belong into. */
  readonly path: string;
}

/** Where tools look for their arguments first. */
export const dataPath = '/data';

export function find({ places }: Arguments, name: string): JsonView | undefined {
  for (const place of places) {
    const view = place.member(name);
    if (view !== undefined) return view;
  }
  return undefined;
}

/** Arguments that stand in one object. */
export function inside(owner: string, view: JsonView): Arguments {
  return { owner, places: [view], path: view.path };
}

export function wrongKind(
  param: string,
  type: string,
  view: JsonView,
  got = describe(view),
): never {
  fail('PARAM_TYPE', { param, type, got }, { path: view.path });
}

export function missing(args: Arguments, name: string, type: string): never {
  fail('PARAM_MISSING', { owner: args.owner, param: name, type }, { path: `${args.path}/${name}` });
}

/** An optional argument: absent and null are alike. */
export function optional(args: Arguments, name: string): JsonView | undefined {
  const view = find(args, name);
  return view === undefined || view.kind === 'null' ? undefined : view;
}

export function required(args: Arguments, name: string, type: string): JsonView {
  return find(args, name) ?? missing(args, name, type);
}

export function textOf(view: JsonView, name: string): string {
  return view.kind === 'string' ? view.text() : wrongKind(name, 'String', view);
}

export function requiredText(args: Arguments, name: string): { text: string; path: string } {
  const view = required(args, name, 'String');
  return { text: textOf(view, name), path: view.path };
}

export function flag(args: Arguments, name: string, byDefault: boolean): boolean {
  const view = optional(args, name);
  if (view === undefined) return byDefault;
  return view.kind === 'boolean' ? view.boolean() : wrongKind(name, 'Boolean', view);
}

/** An integer token of any length, exact within 2^53 and at least right in sign and size beyond. */
export function integerOf(view: JsonView, name: string): number {
  if (view.kind !== 'number') wrongKind(name, 'I64', view);
  const token = view.token();
  if (!view.integral) wrongKind(name, 'I64', view, quote(view));
  return token.length > 40 ? Number(token) : Number(parseInteger(token));
}

/** An integer from 1 to `max`. */
export function countOf(view: JsonView, name: string, max: number): number {
  const value = integerOf(view, name);
  if (value >= 1 && value <= max) return value;
  const got = quote(view);
  fail('PARAM_RANGE', { param: name, min: 1, max, got }, { path: view.path });
}

/** A finite float. */
export function numberOf(view: JsonView, name: string): number {
  if (view.kind !== 'number') wrongKind(name, 'F64', view);
  const value = view.float();
  if (Number.isFinite(value)) return value;
  const got = quote(view);
  const bounds = { min: -Number.MAX_VALUE, max: Number.MAX_VALUE };
  fail('PARAM_RANGE', { param: name, ...bounds, got }, { path: view.path });
}
