// Merges branches whose edges were traversed in different directions: adds an explicit origin to each edge,
// so that `Other` can be resolved.
import { append } from './stream.js';
import { sameCardinality, type TypedExpr } from './typed-expression.js';
import type { ItemType } from './type.js';

const isElement = ({ type }: TypedExpr): boolean => type.kind === 'element';
const directionOf = ({ type }: TypedExpr) =>
  type.kind === 'element' ? type.reached?.direction : undefined;

/**
 * Returns the expressions unchanged, or with origins if all their edges were traversed but not in one
 * direction.
 */
export function withOrigins(typedExprs: readonly TypedExpr[]): readonly TypedExpr[] {
  const directions = new Set(typedExprs.filter(isElement).map(directionOf));
  if (directions.size < 2 || directions.has(undefined)) return typedExprs;
  return typedExprs.map((typed) => {
    const direction = directionOf(typed);
    if (direction === undefined || direction === 'both' || typed.type.kind !== 'element')
      return typed;
    const step = { kind: 'origin', end: direction === 'out' ? 'from' : 'to' } as const;
    const reached = { direction: 'both', far: typed.type.reached!.far } as const;
    const type: ItemType = { ...typed.type, reached };
    return append(typed, step, { type, cardinality: sameCardinality(typed) });
  });
}
