// Stores a log in a JetStream stream. Only `append` makes decisions: the leader of the stream compares the
// expected sequence, and acknowledges what a majority has on disk.
// Invariant: `append` returns `behind` only after it has read another message at that sequence.
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { fail } from '../../base/errors.js';
import { refusalOf } from './jetstream-code.js';
import { StreamReader, type StreamName } from './jetstream-reader.js';
import type { Appended, OnContact, Logged, ReplicatedLog } from './replicated-log.js';

/** The `max_msg_size` of the stream, and the default limit of the servers. */
export const messageBytes = 1024 * 1024;

/**
 * Milliseconds for one try. A failover of the log takes several seconds, so a new try is better than a long
 * wait.
 */
const tryMs = 2_000;
/**
 * Minimum time before `unknown` is returned, in milliseconds. Servers without a leader refuse immediately;
 * without this pause, retries would spin.
 */
const unknownMs = 100;
/** Milliseconds for one read of a message. */
const checkMs = 1_000;

export class JetStreamLog implements ReplicatedLog {
  readonly #readers = new Set<StreamReader>();

  constructor(
    private readonly connection: NatsConnection,
    private readonly client: JetStreamClient,
    private readonly manager: JetStreamManager,
    private readonly name: StreamName,
    readonly maxBytes: number,
  ) {}

  async append(bytes: Uint8Array, after: number, id: string): Promise<Appended> {
    const begun = performance.now();
    try {
      const { seq, duplicate } = await this.client.publish(this.name.subject, bytes, {
        msgID: id,
        expect: { lastSequence: after },
        timeout: tryMs,
      });
      // For a repeated id, the server returns the sequence of the first message with that id, even if another
      // client sent it.
      if (seq === after + 1 && !duplicate) return 'ok';
      return await this.#outcome(after + 1, bytes);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === 'wrong sequence') return await this.#outcome(after + 1, bytes);
      if (refusal === 'no room') fail('LOG_FULL', { what: (error as Error).message });
      await until(begun + unknownMs);
      return 'unknown';
    }
  }

  /**
   * Reads what is stored at the sequence of the message. A stored message never changes. The content decides,
   * because any client can use any id.
   */
  async #outcome(seq: number, bytes: Uint8Array): Promise<Appended> {
    const begun = performance.now();
    try {
      const message = await this.manager.streams.getMessage(this.name.stream, { seq });
      if (message !== null) return Buffer.compare(message.data, bytes) === 0 ? 'ok' : 'behind';
    } catch {
      // The server did not respond.
    }
    // No message is stored at this sequence, though the append was refused. An earlier try may still be under
    // way, or the message was already trimmed and its author is unknown.
    await until(begun + unknownMs);
    return 'unknown';
  }

  async *read(from: number, onContact: OnContact): AsyncGenerator<Logged> {
    const reader = new StreamReader(this.client, this.manager, this.name, from, onContact);
    this.#readers.add(reader);
    try {
      yield* reader.read();
    } finally {
      this.#readers.delete(reader);
    }
  }

  /**
   * Reads from the leader of the stream, which also decides about appends. It responds even while no consumer
   * can be created.
   */
  async at(seq: number): Promise<Uint8Array | undefined> {
    const found = this.manager.streams
      .getMessage(this.name.stream, { seq })
      .catch(() => null)
      .then((message) => message && new Uint8Array(message.data));
    const late = until(performance.now() + checkMs).then(() => null);
    return (await Promise.race([found, late])) ?? undefined;
  }

  async first(): Promise<number> {
    return (await this.#state()).first_seq;
  }

  async last(): Promise<number> {
    return (await this.#state()).last_seq;
  }

  async size(): Promise<number> {
    return (await this.#state()).bytes;
  }

  async #state() {
    try {
      return (await this.manager.streams.info(this.name.stream)).state;
    } catch (error) {
      const code = refusalOf(error) === 'no stream' ? 'LOG_LOST' : 'LOG_UNAVAILABLE';
      return fail(code, { what: (error as Error).message });
    }
  }

  async trim(upTo: number): Promise<void> {
    try {
      await this.manager.streams.purge(this.name.stream, { seq: upTo });
    } catch (error) {
      fail('LOG_UNAVAILABLE', { what: (error as Error).message });
    }
  }

  async close(): Promise<void> {
    for (const reader of this.#readers) reader.close();
    await this.connection.close();
  }
}

const until = (time: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, time - performance.now())));
