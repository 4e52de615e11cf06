// A log in a stream of JetStream. Only `append` decides anything: the stream's leader compares the sequence
// that is expected, and acknowledges what a majority has on disk. Invariant: `behind` is said only when
// another message has been read at that place.
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { fail } from '../../base/errors.js';
import { refusalOf } from './jetstream-code.js';
import { StreamReader, type StreamName } from './jetstream-reader.js';
import type { Appended, Heard, Logged, ReplicatedLog } from './replicated-log.js';

/** The stream's `max_msg_size`, and what servers take unless told otherwise. */
export const messageBytes = 1024 * 1024;

/** One try. The log's own failover takes several seconds: better to ask again than to wait. */
const tryMs = 2_000;
/** An answer that says nothing comes no sooner: servers without a leader refuse at once. */
const unknownMs = 100;
/** One look at a message. */
const lookMs = 1_000;

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
      // A repetition is told the sequence of the first of that id, whoever sent it.
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

  /** What has become of a message: whatever stands at its place stands there for good. Ids are anybody's to give. */
  async #outcome(seq: number, bytes: Uint8Array): Promise<Appended> {
    const begun = performance.now();
    try {
      const message = await this.manager.streams.getMessage(this.name.stream, { seq });
      if (message !== null) return Buffer.compare(message.data, bytes) === 0 ? 'ok' : 'behind';
    } catch {
      // Nobody answers.
    }
    // Nothing stands there yet, for one that is refused: an earlier try may be under way. Or it was
    // trimmed away already, and nobody knows whose it was.
    await until(begun + unknownMs);
    return 'unknown';
  }

  async *read(from: number, heard: Heard): AsyncGenerator<Logged> {
    const reader = new StreamReader(this.client, this.manager, this.name, from, heard);
    this.#readers.add(reader);
    try {
      yield* reader.read();
    } finally {
      this.#readers.delete(reader);
    }
  }

  /** Of the stream's leader, whose word an append is about; it answers while nobody can make a consumer. */
  async at(seq: number): Promise<Uint8Array | undefined> {
    const found = this.manager.streams
      .getMessage(this.name.stream, { seq })
      .catch(() => null)
      .then((message) => message && new Uint8Array(message.data));
    const late = until(performance.now() + lookMs).then(() => null);
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
