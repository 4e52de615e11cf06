// Finds a tool's arguments in a body. A tool reads `data` first, and the top level for members that `data`
// lacks. Traversal filters read their `args`.
import { excerpt, fail } from '../../base/errors.js';
import { nearestName } from '../../base/did-you-mean.js';
import { describe } from '../../json/validation-error.js';
import type { JsonView } from '../../json/view.js';

/** The arguments of one call. */
export interface Arguments {
  /** Name of the tool, for messages. */
  readonly owner: string;
  /** Objects that may contain the arguments; an earlier object wins. */
  readonly objects: readonly JsonView[];
  /** JSON Pointer of the object that should contain the arguments. */
  readonly path: string;
}

/** Pointer to the object where tools look first. */
export const dataPath = '/data';

export function find({ objects }: Arguments, name: string): JsonView | undefined {
  for (const object of objects) {
    const view = object.member(name);
    if (view !== undefined) return view;
  }
  return undefined;
}

/** Returns arguments that are all in one object. */
export function inside(owner: string, view: JsonView): Arguments {
  return { owner, objects: [view], path: view.path };
}

export function wrongKind(
  param: string,
  type: string,
  view: JsonView,
  got = describe(view),
): never {
  fail('PARAM_TYPE', { param, type, got }, { path: view.path });
}

/** Fails PARAM_MISSING; the hint names a similar member that was sent. */
export function missing(args: Arguments, name: string, type: string): never {
  const sent = args.objects.flatMap((object) =>
    object.kind === 'object' ? object.names(100) : [],
  );
  const near = nearestName(name, sent);
  const hint = near && `\`${excerpt(near)}\` was sent. Did you mean \`${name}\`?`;
  const path = `${args.path}/${name}`;
  fail('PARAM_MISSING', { owner: args.owner, param: name, type }, { path, ...(hint && { hint }) });
}

/** Returns an optional argument; undefined if it is absent or null. */
export function optional(args: Arguments, name: string): JsonView | undefined {
  const view = find(args, name);
  return view === undefined || view.kind === 'null' ? undefined : view;
}

export function required(args: Arguments, name: string, type: string): JsonView {
  return find(args, name) ?? missing(args, name, type);
}
