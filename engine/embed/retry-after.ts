// Reads how long a client must wait before it calls a provider again: `Retry-After` in seconds, whole or
// decimal, or as a date (RFC 9110, 10.2.3), and `retry-after-ms`, which OpenAI and Azure send.
import { wallMs } from '../base/clock.js';

/** Returns milliseconds, or undefined if neither header has a value that can be read. */
export function retryAfterMs(header: (name: string) => string | null): number | undefined {
  const exact = decimal(header('retry-after-ms'));
  if (exact !== undefined) return exact;
  const value = header('retry-after');
  const seconds = decimal(value);
  if (seconds !== undefined) return seconds * 1000;
  const date = value === null ? Number.NaN : Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - wallMs());
}

function decimal(text: string | null): number | undefined {
  return text !== null && /^\s*\d{1,9}(\.\d{1,9})?\s*$/.test(text) ? Number(text) : undefined;
}
