// Checks `by: _::In<HasPassage>`, a named argument of searches and fusions: the elements that a hit leads to,
// its parents. The search then yields the best parents, each with its best hit as the member `hit`.
import type { ItemExpression } from '../../plan/expression.js';
import type { Argument } from '../syntax/ast-expression.js';
import type { Context } from '../type/context.js';
import { slotExpr } from '../type/make-typed.js';
import { innerScope, type Scope } from '../type/scope.js';
import { toRows } from '../type/stream.js';
import { wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isUnknownOrNull, type ItemType } from '../type/type.js';

export interface Grouped {
  /** Type of the rows: hits, or their parents. */
  items: ItemType;
  /** Member of the plan. */
  by: { by?: ItemExpression };
}

/** Returns what a search with these hits yields, with or without `by`. */
export function parentArgument(
  context: Context,
  named: ReadonlyMap<string, Argument>,
  hits: ItemType,
  scope: Scope,
): Grouped {
  const written = named.get('by')?.value;
  if (written === undefined) return { items: hits, by: {} };
  const slot = context.fresh();
  const before = context.writes;
  const item = slotExpr(slot, hits);
  const typed = context.check(written, innerScope(scope, { item, miss: 'none' }));
  const { type, expression } = toRows(typed);
  if (isUnknownOrNull(type)) return { items: hits, by: {} };
  const isElements = type.kind === 'element' && type.types.every(({ kind }) => kind !== 'edge');
  const hint = 'Write the step from a hit to its parent: `by: _::In<EdgeType>`.';
  if (context.writes > before) {
    context.report('E746', written.span, '`by` must not write.', hint);
  } else if (!isElements || typed.shape !== undefined) {
    const what = typed.shape === undefined ? printItemType(wholeType(typed)) : 'a projection';
    context.report('E746', written.span, `\`by\` ends in nodes or vectors, not ${what}.`, hint);
  } else {
    const hit = hits.kind === 'element' ? hits.hit : 'none';
    if (type.types.some((each) => context.schema.property(each, 'hit') !== undefined)) {
      const message = '`hit` hides what searches report under this name.';
      context.report('W105', written.span, message);
    }
    const items: ItemType = { kind: 'element', types: type.types, hit, best: hits };
    return { items, by: { by: { slot, value: expression } } };
  }
  return { items: hits, by: {} };
}
