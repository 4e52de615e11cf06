// A replicated log in memory, for one member at a time or several in one thread: what tests of roles need, with
// its answers in their hands.
import { fail } from '../../../engine/base/errors.js';
import type {
  Appended,
  OnContact,
  Logged,
  ReplicatedLog,
} from '../../../engine/cluster/log/replicated-log.js';

export class MemoryLog {
  readonly messages: { id: string; bytes: Uint8Array }[] = [];
  trimmed = 0;
  /** Whether readers receive it. */
  isHeard = true;
  readonly #wakers = new Set<() => void>();

  /** The log as a member sees it. `answer` can change the reply to an append, or delay it. */
  view(answer: (said: Appended) => Appended | Promise<Appended> = (said) => said): ReplicatedLog {
    let isClosed = false;
    const append = async (bytes: Uint8Array, after: number, id: string): Promise<Appended> =>
      answer(this.#append(bytes, after, id));
    const wait = (): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(done, 5);
        const wakers = this.#wakers;
        function done(): void {
          clearTimeout(timer);
          wakers.delete(done);
          resolve();
        }
        wakers.add(done);
      });
    const read = async function* (
      log: MemoryLog,
      from: number,
      heard: OnContact,
    ): AsyncGenerator<Logged> {
      for (let seq = from; !isClosed; ) {
        if (log.isHeard) {
          const [first, last] = [log.trimmed + 1, log.messages.length];
          if (seq < first) fail('LOG_TRUNCATED', { first, needed: seq });
          if (last < seq - 1) fail('LOG_LOST', { what: `it ends at ${last}` });
          heard(seq <= last);
        }
        if (log.isHeard && seq <= log.messages.length)
          yield { seq, bytes: log.messages[seq++ - 1]!.bytes.slice() };
        else await wait();
      }
    };
    return {
      maxBytes: 1 << 20,
      append,
      read: (from, heard) => read(this, from, heard),
      at: async (seq) => {
        const isThere = this.isHeard && seq > this.trimmed;
        return isThere ? this.messages[seq - 1]?.bytes.slice() : undefined;
      },
      first: async () => this.trimmed + 1,
      last: async () => this.messages.length,
      size: async () => 0,
      trim: async () => {},
      close: async () => {
        isClosed = true;
      },
    };
  }

  #append(bytes: Uint8Array, after: number, id: string): Appended {
    if (this.messages[after]?.id === id) return 'ok';
    if (after !== this.messages.length) return 'behind';
    this.messages.push({ id, bytes: bytes.slice() });
    for (const wake of [...this.#wakers]) wake();
    return 'ok';
  }
}
