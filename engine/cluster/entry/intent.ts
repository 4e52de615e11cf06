// Encodes and decodes the body of an intent entry: the inputs of a schema change, in place of its effects.
// Invariant: the same intent on the same data makes the same changes. A later check entry verifies this.
import { fail } from '../../base/errors.js';

export interface Intent {
  /** The value of `NOW` in migrations, in Unix milliseconds. */
  nowMs: number;
  /** The source archive, packed. */
  sources: Uint8Array;
}

const headBytes = 8;

export function packIntent({ nowMs, sources }: Intent): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(headBytes + sources.length);
  new DataView(body.buffer).setFloat64(0, nowMs, true);
  body.set(sources, headBytes);
  return body;
}

/** Decodes the intent into a copy. Fails LOG_LOST. */
export function intentOf(body: Uint8Array): Intent {
  if (body.length < headBytes) fail('LOG_LOST', { what: 'an intent is cut short' });
  const nowMs = new DataView(body.buffer, body.byteOffset).getFloat64(0, true);
  return { nowMs, sources: body.slice(headBytes) };
}
