// Stores a log in a bucket. Each message is an object named by its sequence, so that only one writer can
// create it.
//
//   log.json          marks the log, and holds the random id of this creation
//   CREATION/log/SEQ  a message: a PUT with `If-None-Match: *`, its id as metadata
//   CREATION/trim/SEQ messages before SEQ are deleted; written before the first of them is removed
//
import { fail } from '../../base/errors.js';
import type { Appended, OnContact, Logged, ReplicatedLog } from './replicated-log.js';
import type { Bucket } from './s3-bucket.js';

/** Maximum bytes of a message. Parts are smaller; a store accepts much larger objects. */
const messageBytes = 8 * 1024 * 1024;
const unknownMs = 100;
/** Number of objects requested in parallel while many are waiting. */
const ahead = 16;
const listMax = 1000;
const digits = 15;
/**
 * Names of boundaries decrease as their sequences increase, so that a list begins with the highest boundary.
 */
const highest = 10 ** digits - 1;

/** Maximum bytes of `log.json`. */
const formBytes = 4096;

/** Number of polls without a message after which the log is checked for deletion and gaps. */
const pollsPerCheck = 20;

export class S3Log implements ReplicatedLog {
  readonly maxBytes = messageBytes;
  #isClosed = false;
  /** A sequence that is known to be taken. */
  #known = 0;

  constructor(
    private readonly bucket: Bucket,
    private readonly making: string,
    private readonly pollMs: number,
  ) {}

  async append(bytes: Uint8Array, after: number, id: string): Promise<Appended> {
    const begun = performance.now();
    const outcome = await this.#append(bytes, after, id);
    if (outcome === 'unknown') await until(begun + unknownMs);
    return outcome;
  }

  async #append(bytes: Uint8Array, after: number, id: string): Promise<Appended> {
    const seq = after + 1;
    if (after > this.#known) {
      // Never append after a missing message: the log would have a gap.
      if (typeof (await this.bucket.idOf(this.#message(after))) !== 'string') return 'unknown';
      this.#known = after;
    }
    const isNew = await this.bucket.create(this.#message(seq), bytes, id);
    if (isNew === undefined) return 'unknown';
    // The content decides whose message it is, because any client can use any id.
    const stored = isNew ? bytes : await this.bucket.get(this.#message(seq), messageBytes);
    if (stored === undefined || stored === null) return 'unknown';
    const boundary = await this.#boundary();
    if (boundary === undefined) return 'unknown';
    if (seq < boundary) {
      // Readers no longer read this sequence. Whether this message was once stored under it is unknown.
      if (isNew) await this.bucket.remove(this.#message(seq));
      return 'unknown';
    }
    this.#known = Math.max(this.#known, seq);
    return Buffer.compare(stored, bytes) === 0 ? 'ok' : 'behind';
  }

  async *read(from: number, onContact: OnContact): AsyncGenerator<Logged> {
    await this.#expectEnd(from, onContact);
    let emptyReads = 0;
    for (let expected = from; !this.#isClosed; ) {
      const count = emptyReads === 0 ? ahead : 1;
      const requests = Array.from({ length: count }, (_, i) =>
        this.bucket.get(this.#message(expected + i), messageBytes),
      );
      const answers = await Promise.all(requests);
      const missing = answers.findIndex((bytes) => bytes === null || bytes === undefined);
      const batch = answers.slice(0, missing < 0 ? count : missing) as Buffer[];
      if (batch.length > 0) {
        await this.#verifyRetained(expected);
        onContact(true);
        for (const bytes of batch) {
          yield { seq: expected++, bytes: new Uint8Array(bytes) };
          if (this.#isClosed) return;
        }
      } else if (answers[0] === null) onContact();
      emptyReads = missing < 0 ? 0 : emptyReads + 1;
      if (missing < 0) continue;
      if (emptyReads % pollsPerCheck === 0) await this.#explainSilence(expected);
      await until(performance.now() + this.pollMs);
    }
  }

  /** Waits until the store reports that the message before `from` exists, or was trimmed. */
  async #expectEnd(from: number, onContact: OnContact): Promise<void> {
    while (!this.#isClosed) {
      const boundary = await this.#boundary();
      const before = from === 1 ? '' : await this.bucket.idOf(this.#message(from - 1));
      if (boundary !== undefined && before !== undefined) {
        onContact(true);
        if (boundary > from) fail('LOG_TRUNCATED', { first: boundary, needed: from });
        if (before === null && from > boundary) lostEnd(from - 1);
        return;
      }
      await until(performance.now() + this.pollMs);
    }
  }

  /** Verifies that the messages read at `seq` and after it are the first ones stored there. */
  async #verifyRetained(seq: number): Promise<void> {
    while (!this.#isClosed) {
      const boundary = await this.#boundary();
      if (boundary !== undefined) {
        if (boundary > seq) fail('LOG_TRUNCATED', { first: boundary, needed: seq });
        return;
      }
      await until(performance.now() + this.pollMs);
    }
  }

  async #explainSilence(expected: number): Promise<void> {
    const folder = `${this.making}/log/`;
    const beyond = await this.bucket.list(folder, nameOf(expected), 1);
    const found = beyond?.keys[0]?.key;
    if (found !== undefined && (await this.bucket.idOf(this.#message(expected))) === null) {
      await this.#verifyRetained(expected);
      fail('LOG_LOST', { what: `message ${Number(found)} follows message ${expected - 1}` });
    }
    const isShort = (await this.bucket.idOf(this.#message(expected - 1))) === null;
    // Unless it was trimmed meanwhile.
    const boundary = isShort && expected > 1 ? await this.#boundary() : undefined;
    if (boundary !== undefined && boundary < expected) lostEnd(expected - 1);
    const making = await creationOf(this.bucket);
    if (making !== undefined && making !== this.making)
      fail('LOG_LOST', { what: 'it has gone, or was made anew' });
  }

  async at(seq: number): Promise<Uint8Array | undefined> {
    const bytes = await this.bucket.get(this.#message(seq), messageBytes);
    // An object created before the boundary is no message.
    const boundary = await this.#boundary();
    if (!bytes || boundary === undefined || seq < boundary) return undefined;
    return new Uint8Array(bytes);
  }

  async first(): Promise<number> {
    return (await this.#boundary()) ?? unavailable();
  }

  async last(): Promise<number> {
    const boundary = (await this.#boundary()) ?? unavailable();
    const exists = async (seq: number): Promise<boolean> =>
      ((await this.bucket.idOf(this.#message(seq))) ?? null) !== null;
    let low = Math.max(this.#known, boundary - 1);
    let step = 1;
    // Messages have no gaps: double the step beyond the end, then halve it.
    while (await exists(low + step)) {
      low += step;
      step *= 2;
    }
    for (let high = low + step; high - low > 1; ) {
      const middle = Math.floor((low + high) / 2);
      if (await exists(middle)) low = middle;
      else high = middle;
    }
    this.#known = Math.max(this.#known, low);
    return low;
  }

  /**
   * Estimates by the mean of the oldest thousand messages. An exact count would need one request per
   * thousand.
   */
  async size(): Promise<number> {
    const [first, last] = [await this.first(), await this.last()];
    const page = await this.bucket.list(`${this.making}/log/`, nameOf(first - 1), listMax);
    if (page === undefined) return unavailable();
    const sum = page.keys.reduce((total, { size }) => total + size, 0);
    return page.isComplete ? sum : Math.round((sum / page.keys.length) * (last - first + 1));
  }

  async trim(upTo: number): Promise<void> {
    const boundary = (await this.#boundary()) ?? unavailable();
    if (upTo > boundary) {
      const name = `${this.making}/trim/${nameOf(highest - upTo)}`;
      if ((await this.bucket.create(name, new Uint8Array(0), 'trim')) === undefined) unavailable();
    }
    // Also remove what an earlier trim did not reach, or what a paused writer created.
    for (;;) {
      const page = await this.bucket.list(`${this.making}/log/`, '', listMax);
      if (page === undefined) return unavailable();
      const old = page.keys.filter(({ key }) => Number(key) < Math.max(upTo, boundary));
      if (old.length === 0) return;
      for (let at = 0; at < old.length; at += ahead) {
        const batch = old.slice(at, at + ahead);
        const removed = await Promise.all(
          batch.map(({ key }) => this.bucket.remove(`${this.making}/log/${key}`)),
        );
        if (removed.includes(false)) unavailable();
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.bucket.close();
  }

  /** Returns the sequence of the first message that is kept. */
  async #boundary(): Promise<number | undefined> {
    const page = await this.bucket.list(`${this.making}/trim/`, '', 1);
    if (page === undefined) return undefined;
    const name = page.keys[0]?.key;
    return name === undefined ? 1 : highest - Number(name);
  }

  #message(seq: number): string {
    return `${this.making}/log/${nameOf(seq)}`;
  }
}

/**
 * Returns the id of the current creation of the log: null when the log does not exist, undefined when the
 * store does not report it.
 */
export async function creationOf(bucket: Bucket): Promise<string | null | undefined> {
  const bytes = await bucket.get('log.json', formBytes);
  if (bytes === null || bytes === undefined) return bytes;
  return (JSON.parse(bytes.toString('utf8')) as { making: string }).making;
}

const nameOf = (seq: number): string => String(seq).padStart(digits, '0');

const lostEnd = (seq: number): never =>
  fail('LOG_LOST', { what: `it ends before ${seq}, which this node has followed` });

const unavailable = (): never => fail('LOG_UNAVAILABLE', { what: 'the store does not answer' });

const until = (time: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, time - performance.now())));
