// Where a tool's arguments stand in a body. A tool reads `data` first
// and the top level where `data` lacks the member; traversal filters read their `args`.
import { excerpt, fail } from '../../base/errors.js';
import { nearestName } from '../../base/did-you-mean.js';
import { describe } from '../../json/validation-error.js';
import type { JsonView } from '../../json/view.js';

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

/** PARAM_MISSING; where a name near it was sent, the hint says so. */
export function missing(args: Arguments, name: string, type: string): never {
  const sent = args.places.flatMap((place) => (place.kind === 'object' ? place.names(100) : []));
  const near = nearestName(name, sent);
  const hint = near && `\`${excerpt(near)}\` was sent. Did you mean \`${name}\`?`;
  const path = `${args.path}/${name}`;
  fail('PARAM_MISSING', { owner: args.owner, param: name, type }, { path, ...(hint && { hint }) });
}

/** An optional argument: absent and null are alike. */
export function optional(args: Arguments, name: string): JsonView | undefined {
  const view = find(args, name);
  return view === undefined || view.kind === 'null' ? undefined : view;
}

export function required(args: Arguments, name: string, type: string): JsonView {
  return find(args, name) ?? missing(args, name, type);
}
