// Checks the property values of creations, updates and upserts: an object literal becomes assignments.
import type { TypeRef } from '../../base/schema.js';
import type { Assignment } from '../../plan/expression.js';
import type { ObjectLiteral } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import { convert } from '../type/load-conversion.js';
import type { Scope } from '../type/scope.js';
import { reportProperty } from './source-step.js';

/**
 * Returns the assignments of `object` to an element of one of `types`. A property is known if one of them
 * declares it.
 */
export function checkAssignments(
  context: Context,
  types: readonly TypeRef[],
  object: ObjectLiteral,
  scope: Scope,
): Assignment[] {
  const set: Assignment[] = [];
  const seen = new Set<string>();
  for (const { name, value } of object.members) {
    if (seen.has(name.text)) {
      context.report('E702', name.span, `\`${name.text}\` is set twice.`, 'Remove one.');
    }
    seen.add(name.text);
    const typed = context.check(value, scope);
    const declaring = types.find((type) => context.schema.property(type, name.text));
    if (declaring === undefined) {
      if (types[0] !== undefined) reportProperty(context, types[0], name);
      continue;
    }
    const property = context.schema.property(declaring, name.text)!;
    const position = `\`${name.text}\``;
    const converted = convert(context, typed, property.type, value.span, position);
    if (converted === undefined) continue;
    set.push({ property: name.text, value: converted, unset: typed.literal?.kind === 'none' });
  }
  return set;
}
