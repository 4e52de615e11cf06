// Names in sight (helixql.md 3.3, 3.4). A scope is a block or a binder of `_`; it sees what its
// parents see.
import type { Miss } from '../../plan/expression.js';
import type { TypedExpr } from './typed-expression.js';

export interface Scope {
  readonly parent?: Scope;
  readonly names: Map<string, TypedExpr>;
  /** What `_` stands for. */
  readonly item?: TypedExpr;
  /** What a lookup that finds nothing does here. */
  readonly miss: Miss;
  /** The vector type for which a vector is being computed: it decides the model of `Embed`. */
  readonly vectorType?: string;
  /**
   * Inside arithmetic, where names that never match are warned about: HelixDB does not look there.
   */
  readonly lenient?: boolean;
}

export const outermostScope = (): Scope => ({ names: new Map(), miss: 'error' });

export function innerScope(
  parent: Scope,
  change: Partial<Pick<Scope, 'item' | 'miss' | 'vectorType' | 'lenient'>> = {},
): Scope {
  return {
    parent,
    names: new Map(),
    miss: change.miss ?? parent.miss,
    item: change.item ?? parent.item,
    lenient: change.lenient ?? parent.lenient,
    ...(change.vectorType === undefined ? {} : { vectorType: change.vectorType }),
  };
}

export function findName(scope: Scope, name: string): TypedExpr | undefined {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    const found = at.names.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function* visibleNames(scope: Scope): Iterable<string> {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) yield* at.names.keys();
}
