// Reads a stream from a sequence on, without end. When an ordered consumer fails, the reader creates another
// one.
// Invariant: the messages have no gap. Only a stream that lost its end, or that was deleted or re-created,
// ends the reader.
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
import type { OnContact, Logged } from './replicated-log.js';

/** Bytes that a consumer may fetch in advance. */
const aheadBytes = 8 * 1024 * 1024;
/**
 * Milliseconds; the minimum that the client allows. The lease timer runs only while the log shows signs of
 * life.
 */
const heartbeatMs = 500;
const checkMs = 1_000;
const pauseMs = 250;

/** Names a stream by its name and by its subject. Every creation of the stream has a different subject. */
export interface StreamName {
  stream: string;
  subject: string;
}

export class StreamReader {
  #expected: number;
  #messages: ConsumerMessages | undefined;
  #closed = false;
  #error: unknown;
  #checkTimer: NodeJS.Timeout | undefined;
  #received = 0;
  /** True while the reader of the log is slower than the log. */
  #isHanding = false;
  readonly #lossDetector = new LossDetector();

  constructor(
    private readonly client: JetStreamClient,
    private readonly manager: JetStreamManager,
    private readonly name: StreamName,
    from: number,
    private readonly onContact: OnContact,
  ) {
    this.#expected = from;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#checkTimer);
    this.#messages?.stop();
  }

  async *read(): AsyncGenerator<Logged> {
    this.#scheduleCheck();
    try {
      while (!this.#closed) yield* this.#consume();
      if (this.#error !== undefined) throw this.#error;
    } finally {
      this.close();
    }
  }

  async *#consume(): AsyncGenerator<Logged> {
    const messages = await this.#start();
    if (messages === undefined) return;
    this.#messages = messages;
    // The reader was closed while the consumer was created, when nothing could be stopped yet.
    if (this.#closed) messages.stop();
    void this.#watchHeartbeats(messages);
    try {
      for await (const message of messages) {
        this.onContact(true);
        this.#received++;
        const { seq } = message;
        if (seq > this.#expected) await this.#explain(seq);
        if (seq === this.#expected) {
          this.#expected = seq + 1;
          this.#isHanding = true;
          // Copy: the client's buffer also holds other messages.
          yield { seq, bytes: new Uint8Array(message.data) };
          this.#isHanding = false;
        }
        if (this.#closed) return;
        this.onContact(message.info.pending > 0);
      }
    } catch (error) {
      // Ignore the error of a stopped consumer: the loop creates another one. A gap is thrown as
      // TrellisError.
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

  async #watchHeartbeats(messages: ConsumerMessages): Promise<void> {
    for await (const { type } of messages.status())
      if (type === 'heartbeat') this.onContact(this.#isHanding);
  }

  /** Fails with the reason why message `seq` came in place of the expected one. */
  async #explain(seq: number): Promise<never> {
    const needed = this.#expected;
    let info = await this.#info();
    for (; info === undefined && !this.#closed; info = await this.#info()) await pause();
    const first = info === undefined || info === 'gone' ? 0 : info.state.first_seq;
    if (first > needed) fail('LOG_TRUNCATED', { first, needed });
    return fail('LOG_LOST', { what: `message ${seq} follows message ${needed - 1}` });
  }

  /** While no message arrives, checks whether any can still arrive. */
  #scheduleCheck(): void {
    const before = this.#received;
    this.#checkTimer = setTimeout(async () => {
      try {
        if (this.#received === before && !this.#isHanding) await this.#checkStream();
        else if (this.#received !== before) this.#lossDetector.observe(undefined);
      } catch (error) {
        this.#error = error;
        this.close();
      }
      if (!this.#closed) this.#scheduleCheck();
    }, checkMs);
  }

  async #checkStream(): Promise<void> {
    const info = await this.#info();
    if (info === undefined) return;
    if (info === 'gone')
      return this.#lossDetector.observe(`the stream ${this.name.stream} is gone`);
    const { first_seq: first, last_seq: last } = info.state;
    const isSame = info.config.subjects.includes(this.name.subject);
    if (isSame && first > this.#expected) fail('LOG_TRUNCATED', { first, needed: this.#expected });
    // A consumer notices a lost message only when the next one arrives. Stop it, so that a new consumer reads
    // the lost message.
    if (isSame && last >= this.#expected && !this.#isHanding) this.#messages?.stop();
    this.#lossDetector.observe(
      isSame
        ? last >= this.#expected - 1
          ? undefined
          : `it ends at ${last}, this node has followed it to ${this.#expected - 1}`
        : `the stream ${this.name.stream} was made anew`,
    );
  }

  /** Returns undefined when no server responds, or none knows the stream's state. */
  async #info(): Promise<StreamInfo | 'gone' | undefined> {
    try {
      return await this.manager.streams.info(this.name.stream);
    } catch (error) {
      return refusalOf(error) === 'no stream' ? 'gone' : undefined;
    }
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pauseMs));
