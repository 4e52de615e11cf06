// Merges branches whose edges were traversed in different directions: adds an explicit origin to each edge,
// so that `Other` can be resolved.
import { append } from './stream.js';
import { sameCardinality, type TypedExpr } from './typed-expression.js';
import type { ItemType } from './type.js';

const isElement = ({ type }: TypedExpr): boolean => type.kind === 'element';
const wayOf = ({ type }: TypedExpr) => (type.kind === 'element' ? type.reached?.way : undefined);

/**
 * Returns the expressions unchanged, or with origins if all their edges were traversed but not in one
 * direction.
 */
export function withOrigins(typedExprs: readonly TypedExpr[]): readonly TypedExpr[] {
  const ways = new Set(typedExprs.filter(isElement).map(wayOf));
  if (ways.size < 2 || ways.has(undefined)) return typedExprs;
  return typedExprs.map((typed) => {
    const way = wayOf(typed);
    if (way === undefined || way === 'both' || typed.type.kind !== 'element') return typed;
    const step = { kind: 'origin', end: way === 'out' ? 'from' : 'to' } as const;
    const reached = { way: 'both', far: typed.type.reached!.far } as const;
    const type: ItemType = { ...typed.type, reached };
    return append(typed, step, { type, cardinality: sameCardinality(typed) });
  });
}
