// Checks UNION, EXCEPT and INTERSECT at the head of a chain: set operations on lists of elements, scalars or
// records. The result may have the types of all lists.
import { singleMember } from '../type/visible-member.js';
import type { Expression, Source } from '../../plan/expression.js';
import type { Call } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import { unknownExpr } from '../type/make-typed.js';
import type { Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { toRows, sourceExpr } from '../type/stream.js';
import { withOrigins } from '../type/edge-origin.js';
import type { TypedExpr } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { unify } from '../type/type-relation.js';
import { isUnknownOrNull, type ItemType, unknownType } from '../type/type.js';
import { checkReadOnly } from '../step/read-only.js';

export function checkSet(context: Context, call: Call, scope: Scope): TypedExpr {
  const name = call.name.text;
  const args = call.args ?? [];
  if (args.length === 0 || call.types !== undefined || args.some((arg) => arg.name)) {
    const message = `\`${name}\` takes one or more lists.`;
    context.report('E305', call.span, message, `Write \`${name}(a, b)\`.`);
    return unknownExpr();
  }
  const lists = withOrigins(
    args.map(({ value }) => readRows(context, checkReadOnly(context, value, scope), call)),
  );
  const type = typeOfAll(lists.map((list) => list.type));
  if (type === undefined) {
    const kinds = lists.map((list) => printItemType(list.type)).join(' and ');
    const hint = 'Project all of them to the same: `a::{p}`.';
    context.report('E709', call.span, `\`${name}\` of ${kinds}: they are of unlike kinds.`, hint);
    return unknownExpr();
  }
  const operation = name.toLowerCase() as Extract<Source, { kind: 'set' }>['operation'];
  const of = lists.map((list): Expression => list.expression);
  const resultType = operation === 'union' ? type : asIn(lists[0]!.type, type);
  return sourceExpr({ kind: 'set', operation, of }, resultType, 'many');
}

/** If every row comes from the first list, the members that its steps set on the items remain. */
function asIn(first: ItemType, all: ItemType): ItemType {
  if (first.kind !== 'element' || all.kind !== 'element') return all;
  return { ...first, types: all.types };
}

/** Returns the rows of an argument: the values of a one-name projection; any other shape is dropped. */
function readRows(context: Context, typed: TypedExpr, call: Call): TypedExpr {
  if (singleMember(typed.shape) !== undefined) return toRows(bare(context, typed));
  const { shape, ...items } = typed;
  if (shape !== undefined) {
    const message = `\`${call.name.text}\` drops this ${shape.form}.`;
    context.report('W108', shape.span, message, 'Shape the result.');
  }
  return toRows(items);
}

/** Returns the type of items of any of the lists; undefined if their kinds differ. */
function typeOfAll(types: readonly ItemType[]): ItemType | undefined {
  const known = types.filter((type) => !isUnknownOrNull(type));
  const [first] = known;
  if (first === undefined) return unknownType;
  if (first.kind === 'list' || known.some((type) => type.kind !== first.kind)) return undefined;
  return unify(known);
}
