// Classifies the refusals of JetStream servers by their error codes.
import { JetStreamApiError } from '@nats-io/jetstream';

export type Refusal = 'wrong sequence' | 'no stream' | 'no room' | 'other';

const refusals: Record<number, Refusal> = {
  10059: 'no stream',
  10071: 'wrong sequence',
  // Sent in place of 10071 by a server that does not know the last sequence.
  10164: 'wrong sequence',
};

/** Storing failed, for lack of space or of a majority. Only the text of the error distinguishes the two. */
const storeFailed = 10077;

/** Returns undefined for errors that no server sent: timeouts, lost connections. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof JetStreamApiError)) return undefined;
  if (error.code === storeFailed && error.message.includes('maximum bytes')) return 'no room';
  return refusals[error.code] ?? 'other';
}
