// What is seen of an item by its shape.
import type { Shape, TypedExpr } from './typed-expression.js';

/** The only member of a projection that names exactly one and has no `..`. */
export function singleMember(shape: Shape | undefined): TypedExpr | undefined {
  if (shape === undefined || shape.form === 'exclusion') return undefined;
  const [member, ...others] = shape.members.filter(({ kind }) => kind !== 'hidden');
  return member?.kind === 'value' && others.length === 0 ? member.term : undefined;
}

/** Whether the name is one that groups have beside what is printed of them. */
export function isBesideGroup(item: TypedExpr, name: string): boolean {
  const { type, shape } = item;
  if (type.kind !== 'record' || type.hidden === undefined || type.members.has(name)) return false;
  return shape?.members.some((each) => each.kind === 'value' && each.name === name) !== true;
}

/** Whether the item's shape has a member of this name. */
export function isShown({ shape }: TypedExpr, name: string): boolean {
  return shape?.members.some((each) => each.kind !== 'spread' && each.name === name) === true;
}
