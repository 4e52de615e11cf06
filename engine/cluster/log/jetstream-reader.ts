// Reads a stream from a sequence on, for ever, through ordered consumers that are made anew whenever one
// fails. Invariant: what it hands out has no gap; a stream that went back, or was made anew,
// ends it, and nothing else of the log's does.
import {
  type ConsumerMessages,
  DeliverPolicy,
  type JetStreamClient,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { fail, TrellisError } from '../../base/errors.js';
import { refusalOf } from './jetstream-code.js';
import { LossDetector } from './loss-detector.js';
import type { Heard, Logged } from './replicated-log.js';

/** Bytes that a consumer may be ahead of its reader. */
const aheadBytes = 8 * 1024 * 1024;
/** The least that the client allows: the lease runs while the log is heard. */
const heartbeatMs = 500;
const lookMs = 1_000;
const pauseMs = 250;

/** A stream, by its name and the subject that only this making of it has. */
export interface StreamName {
  stream: string;
  subject: string;
}

export class StreamReader {
  #expected: number;
  #messages: ConsumerMessages | undefined;
  #closed = false;
  #fault: unknown;
  #looking: NodeJS.Timeout | undefined;
  #received = 0;
  /** Whether the log waits for its reader, and not the reader for the log. */
  #isHanding = false;
  readonly #patience = new LossDetector();

  constructor(
    private readonly client: JetStreamClient,
    private readonly manager: JetStreamManager,
    private readonly name: StreamName,
    from: number,
    private readonly heard: Heard,
  ) {
    this.#expected = from;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#looking);
    this.#messages?.stop();
  }

  async *read(): AsyncGenerator<Logged> {
    this.#look();
    try {
      while (!this.#closed) yield* this.#consume();
      if (this.#fault !== undefined) throw this.#fault;
    } finally {
      this.close();
    }
  }

  async *#consume(): AsyncGenerator<Logged> {
    const messages = await this.#start();
    if (messages === undefined) return;
    this.#messages = messages;
    // Closed while the consumer was made: there was nothing yet that could be stopped.
    if (this.#closed) messages.stop();
    void this.#hear(messages);
    try {
      for await (const message of messages) {
        this.heard(true);
        this.#received++;
        const { seq } = message;
        if (seq > this.#expected) await this.#explain(seq);
        if (seq === this.#expected) {
          this.#expected = seq + 1;
          this.#isHanding = true;
          // What the client has received lies side by side with other messages.
          yield { seq, bytes: new Uint8Array(message.data) };
          this.#isHanding = false;
        }
        if (this.#closed) return;
        this.heard(message.info.pending > 0);
      }
    } catch (error) {
      // What stops a consumer is the log's trouble, and there will be another one; a gap is not.
      if (error instanceof TrellisError) throw error;
      await pause();
    } finally {
      messages.stop();
    }
  }

  async #start(): Promise<ConsumerMessages | undefined> {
    try {
      const consumer = await this.client.consumers.get(this.name.stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: this.#expected,
        filter_subjects: this.name.subject,
      });
      return await consumer.consume({
        max_bytes: aheadBytes,
        idle_heartbeat: heartbeatMs,
        abort_on_missing_resource: true,
      });
    } catch {
      await pause();
      return undefined;
    }
  }

  async #hear(messages: ConsumerMessages): Promise<void> {
    for await (const { type } of messages.status())
      if (type === 'heartbeat') this.heard(this.#isHanding);
  }

  /** Why `seq` came instead of the expected one. */
  async #explain(seq: number): Promise<never> {
    const needed = this.#expected;
    let info = await this.#info();
    for (; info === undefined && !this.#closed; info = await this.#info()) await pause();
    const first = info === undefined || info === 'gone' ? 0 : info.state.first_seq;
    if (first > needed) fail('LOG_TRUNCATED', { first, needed });
    return fail('LOG_LOST', { what: `message ${seq} follows message ${needed - 1}` });
  }

  /** Looks, while nothing comes, whether anything can come any more. */
  #look(): void {
    const before = this.#received;
    this.#looking = setTimeout(async () => {
      try {
        if (this.#received === before && !this.#isHanding) await this.#judge();
        else if (this.#received !== before) this.#patience.heard(undefined);
      } catch (error) {
        this.#fault = error;
        this.close();
      }
      if (!this.#closed) this.#look();
    }, lookMs);
  }

  async #judge(): Promise<void> {
    const info = await this.#info();
    if (info === undefined) return;
    if (info === 'gone') return this.#patience.heard(`the stream ${this.name.stream} is gone`);
    const { first_seq: first, last_seq: last } = info.state;
    const isSame = info.config.subjects.includes(this.name.subject);
    if (isSame && first > this.#expected) fail('LOG_TRUNCATED', { first, needed: this.#expected });
    // A message that was lost on its way to a consumer is missed by it only when the next one comes.
    if (isSame && last >= this.#expected && !this.#isHanding) this.#messages?.stop();
    this.#patience.heard(
      isSame
        ? last >= this.#expected - 1
          ? undefined
          : `it ends at ${last}, this node has followed it to ${this.#expected - 1}`
        : `the stream ${this.name.stream} was made anew`,
    );
  }

  /** Undefined where nobody answers, or nobody can say. */
  async #info(): Promise<StreamInfo | 'gone' | undefined> {
    try {
      return await this.manager.streams.info(this.name.stream);
    } catch (error) {
      return refusalOf(error) === 'no stream' ? 'gone' : undefined;
    }
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pauseMs));
