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
export function withOrigins(terms: readonly TypedExpr[]): readonly TypedExpr[] {
  const ways = new Set(terms.filter(isElement).map(wayOf));
  if (ways.size < 2 || ways.has(undefined)) return terms;
  return terms.map((term) => {
    const way = wayOf(term);
    if (way === undefined || way === 'both' || term.type.kind !== 'element') return term;
    const step = { kind: 'origin', end: way === 'out' ? 'from' : 'to' } as const;
    const reached = { way: 'both', far: term.type.reached!.far } as const;
    const type: ItemType = { ...term.type, reached };
    return append(term, step, { type, cardinality: sameCardinality(term) });
  });
}
