// What a caller may call, for doors that show each caller only that: nothing else is told of.
import type { Query } from '../../engine/internal.js';
import { type Caller, scopeNames } from './keys.js';

/** Limited to some queries: neither the graph behind them nor walks through it are theirs. */
export const isScoped = (caller: Caller | undefined): boolean => caller?.queries !== undefined;

/** The queries that a caller may know of; undefined: all there are. */
export const queriesOf = (caller: Caller | undefined): Caller['queries'] =>
  caller?.role === 'metrics' ? [] : caller?.queries;

export function mayCall(caller: Caller | undefined, { name, plan }: Query): boolean {
  if (caller === undefined) return true;
  const mayWrite = caller.role === 'write' || caller.role === 'admin';
  if (plan.writes && !mayWrite) return false;
  return caller.queries === undefined || scopeNames(caller.queries, name);
}

/** The same caller, who reads at most. */
export const readingOnly = (caller: Caller | undefined): Caller => ({
  ...(caller ?? { keyId: '' }),
  role: 'read',
});
