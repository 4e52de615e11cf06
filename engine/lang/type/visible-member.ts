// Determines the members of an item that its shape makes visible.
import type { Shape, TypedExpr } from './typed-expression.js';

/** Returns the only member of a projection that has exactly one name and no `..`; otherwise undefined. */
export function singleMember(shape: Shape | undefined): TypedExpr | undefined {
  if (shape === undefined || shape.form === 'exclusion') return undefined;
  const [member, ...others] = shape.members.filter(({ kind }) => kind !== 'hidden');
  return member?.kind === 'value' && others.length === 0 ? member.typed : undefined;
}

/** Returns true if the name is a member of a group that is not printed. */
export function isHiddenMember(item: TypedExpr, name: string): boolean {
  const { type, shape } = item;
  if (type.kind !== 'record' || type.hidden === undefined || type.members.has(name)) return false;
  return shape?.members.some((each) => each.kind === 'value' && each.name === name) !== true;
}

/** Returns true if the item's shape has a member of this name. */
export function isShown({ shape }: TypedExpr, name: string): boolean {
  return shape?.members.some((each) => each.kind !== 'spread' && each.name === name) === true;
}
