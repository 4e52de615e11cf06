// Names in scope. A scope is a block or a binder of `_`; names of the parent scopes are visible in it.
import type { Miss } from '../../plan/expression.js';
import type { TypedExpr } from './typed-expression.js';

export interface Scope {
  readonly parent?: Scope;
  readonly names: Map<string, TypedExpr>;
  /** Value of `_`. */
  readonly item?: TypedExpr;
  /** Result of a lookup that finds nothing. */
  readonly miss: Miss;
  /** The vector type for which a vector is computed: it determines the model of `Embed`. */
  readonly vectorType?: string;
  /** True where the vector is searched for: a text is embedded as a query, not as a document. */
  readonly isQuery?: boolean;
  /** True inside arithmetic, where an unknown name is a warning: HelixDB does not check names there. */
  readonly lenient?: boolean;
}

export const outermostScope = (): Scope => ({ names: new Map(), miss: 'error' });

export function innerScope(
  parent: Scope,
  change: Partial<Pick<Scope, 'item' | 'miss' | 'vectorType' | 'isQuery' | 'lenient'>> = {},
): Scope {
  return {
    parent,
    names: new Map(),
    miss: change.miss ?? parent.miss,
    item: change.item ?? parent.item,
    lenient: change.lenient ?? parent.lenient,
    ...(change.vectorType === undefined ? {} : { vectorType: change.vectorType }),
    ...(change.isQuery === undefined ? {} : { isQuery: change.isQuery }),
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
