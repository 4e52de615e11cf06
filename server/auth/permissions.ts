// Decides which queries a caller may call and see. Interfaces that list queries show only these.
import type { Query } from '../../engine/internal.js';
import { type Caller, scopeNames } from './keys.js';

/** Whether the key is limited to some queries. Such a key can neither browse the graph nor use sessions. */
export const isScoped = (caller: Caller | undefined): boolean => caller?.queries !== undefined;

/** Names of the queries that a caller may see; undefined means all. */
export const queriesOf = (caller: Caller | undefined): Caller['queries'] =>
  caller?.role === 'metrics' ? [] : caller?.queries;

export function mayCall(caller: Caller | undefined, { name, plan }: Query): boolean {
  if (caller === undefined) return true;
  const mayWrite = caller.role === 'write' || caller.role === 'admin';
  if (plan.writes && !mayWrite) return false;
  return caller.queries === undefined || scopeNames(caller.queries, name);
}

/** Returns the same caller with the role read. */
export const readingOnly = (caller: Caller | undefined): Caller => ({
  ...(caller ?? { keyId: '' }),
  role: 'read',
});
