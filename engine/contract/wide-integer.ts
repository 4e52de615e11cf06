// Decides which integers of a reply exceed the exact range of a JavaScript number. Printers of types and the
// client's decoder treat them specially.
import type { ScalarName } from '../base/schema.js';

const wide: ReadonlySet<ScalarName | 'Integer'> = new Set(['I64', 'U64', 'U128', 'Integer']);

export const isWideInteger = (name: ScalarName | 'Integer'): boolean => wide.has(name);
