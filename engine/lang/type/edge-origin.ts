// Where edges were reached from, when branches or lists become one: edges that steps came to in
// different ways carry their origin with them, so that `Other` is known of each.
import { append } from './stream.js';
import { sameCardinality, type TypedExpr } from './typed-expression.js';
import type { ItemType } from './type.js';

const isElement = ({ type }: TypedExpr): boolean => type.kind === 'element';
const wayOf = ({ type }: TypedExpr) => (type.kind === 'element' ? type.reached?.way : undefined);

/** The same terms; when all edges among them were reached, but not in one way, with origins. */
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
