// The token of how far a node is, as it comes in the headers of answers and requests. Invariant: what was
// printed is read back the same; anything else is refused, never taken for a lower position.
import { type ClusterPosition, excerpt, fail } from '../../engine/index.js';

/** Undefined for no token at all. Fails PARAM_VALUE for what is none. */
export function parsePosition(text: string): ClusterPosition | undefined {
  if (text === '') return undefined;
  const match = /^(\d{1,10})\.(\d{1,15})$/.exec(text);
  if (match === null) {
    const allowed = 'what an answer carried in `Trellis-Position`';
    fail('PARAM_VALUE', { param: 'Trellis-After', allowed, got: excerpt(text) });
  }
  return { epoch: Number(match![1]), seq: Number(match![2]) };
}
