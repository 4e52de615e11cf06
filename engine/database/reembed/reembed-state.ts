// Stores that the vectors of a type are being made again, so that a start continues.
//
//   derived key    FF 'x' label(u16 BE)
//   derived value  ReembedState, JSON
//
import type { ModelIdentity } from '../../embed/model-identity.js';
import type { ReadView } from '../../storage/table/view-types.js';

/** What the new vectors of a type are made of. */
export interface ReembedState {
  /** Property with the texts. */
  from: string;
  model: ModelIdentity;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const stateKey = (label: number): Uint8Array =>
  Uint8Array.of(0xff, 0x78, label >> 8, label & 255);

export function readState(
  view: Pick<ReadView, 'getDerived'>,
  label: number,
): ReembedState | undefined {
  const bytes = view.getDerived(stateKey(label));
  return bytes && (JSON.parse(decoder.decode(bytes)) as ReembedState);
}

export const encodeState = (state: ReembedState): Uint8Array =>
  encoder.encode(JSON.stringify(state));
