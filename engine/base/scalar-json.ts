// Values as JSON text, exact at every width: for what is told about a query, not for replies.
import { printDate } from './date.js';
import { Instant, isList, type Scalar, type ScalarList, Uuid } from './value.js';

export function jsonOf(value: Scalar | ScalarList): string {
  if (isList(value)) return `[${Array.from(value as Iterable<Scalar>, jsonOf).join(',')}]`;
  if (value instanceof Instant) return JSON.stringify(printDate(value));
  if (value instanceof Uuid) return JSON.stringify(value.text);
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}
