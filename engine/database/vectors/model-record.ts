// Stores which model has made the vectors of a type from texts. The record lies with the vectors, so that a
// start with another model is noticed.
//
//   derived key    FF 'v' label(u16 BE)
//   derived value  ModelRecord, JSON
//
import type { ModelIdentity } from '../../embed/model-identity.js';
import type { ReadView } from '../../storage/table/view-types.js';

export interface ModelRecord extends ModelIdentity {
  /** Sequence of the change with which these vectors replaced those of another model. */
  since?: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const keyOf = (label: number): Uint8Array => Uint8Array.of(0xff, 0x76, label >> 8, label & 255);

/** Returns undefined for vectors of an unknown model. */
export function readModelRecord(
  view: Pick<ReadView, 'getDerived'>,
  label: number,
): ModelRecord | undefined {
  const bytes = view.getDerived(keyOf(label));
  return bytes && (JSON.parse(decoder.decode(bytes)) as ModelRecord);
}

export function writeModelRecord(
  view: { putDerived(key: Uint8Array, value: Uint8Array): void },
  label: number,
  record: ModelRecord,
): void {
  view.putDerived(keyOf(label), encoder.encode(JSON.stringify(record)));
}
