// What JetStream servers answer when they do not do what they were asked, by the code of the server.
import { JetStreamApiError } from '@nats-io/jetstream';

export type Refusal = 'wrong sequence' | 'no stream' | 'no room' | 'other';

const refusals: Record<number, Refusal> = {
  10059: 'no stream',
  10071: 'wrong sequence',
  // The same, where the server cannot tell which sequence is the last.
  10164: 'wrong sequence',
};

/** Storing failed: for want of room, or of a majority. Only the words tell. */
const storeFailed = 10077;

/** Undefined for what no server has said: timeouts, lost connections. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof JetStreamApiError)) return undefined;
  if (error.code === storeFailed && error.message.includes('maximum bytes')) return 'no room';
  return refusals[error.code] ?? 'other';
}
