// Which integers of a reply a number of JavaScript may not hold: those that every printer of types and the
// client's decoder treat apart.
import type { ScalarName } from '../base/schema.js';

const wide: ReadonlySet<ScalarName | 'Integer'> = new Set(['I64', 'U64', 'U128', 'Integer']);

export const isWideInteger = (name: ScalarName | 'Integer'): boolean => wide.has(name);
