// The body of an intent: what a change of the schema is made from, in place of what it changes. Invariant: the
// same intent on the same data changes the same; a check behind it makes sure of that.
import { fail } from '../../base/errors.js';

export interface Intent {
  /** What `NOW` is in migrations: Unix time in milliseconds. */
  nowMs: number;
  /** Packed. */
  sources: Uint8Array;
}

const headBytes = 8;

export function packIntent({ nowMs, sources }: Intent): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(headBytes + sources.length);
  new DataView(body.buffer).setFloat64(0, nowMs, true);
  body.set(sources, headBytes);
  return body;
}

/** A copy. Fails LOG_LOST. */
export function intentOf(body: Uint8Array): Intent {
  if (body.length < headBytes) fail('LOG_LOST', { what: 'an intent is cut short' });
  const nowMs = new DataView(body.buffer, body.byteOffset).getFloat64(0, true);
  return { nowMs, sources: body.slice(headBytes) };
}
