// Repeats calls that meet a reload: such a call runs again when the reload is over, with the new program.
// Invariant: no call waits without a running reload.
import { TrellisError } from '../../base/errors.js';

export class ReloadRetry {
  #running = 0;
  /** Number of reloads that have ended. */
  #ended = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a reload. */
  async run(reload: () => Promise<void>): Promise<void> {
    this.#running++;
    const running = reload();
    this.#last = running.catch(() => undefined);
    try {
      await running;
    } finally {
      this.#running--;
      this.#ended++;
    }
  }

  /** Returns the result of `attempt`, if necessary from a second attempt with the next program. */
  retryAcrossReload<T, R>(attempt: () => T | Promise<T>, finish: (result: T) => R): R | Promise<R> {
    const ended = this.#ended;
    const again = async (error: unknown): Promise<R> => {
      await this.#over(error, ended);
      return this.retryAcrossReload(attempt, finish);
    };
    try {
      const result = attempt();
      return result instanceof Promise ? result.then(finish, again) : finish(result);
    } catch (error) {
      if (isSchemaChanged(error)) return again(error);
      throw error;
    }
  }

  /**
   * Runs `attempt` for a plan, which only its maker can compile again. If it meets a reload, fails
   * SCHEMA_CHANGED when the reload is over.
   */
  failAcrossReload<T>(attempt: () => T | Promise<T>): T | Promise<T> {
    const ended = this.#ended;
    const late = async (error: unknown): Promise<T> => {
      await this.#over(error, ended);
      throw error;
    };
    try {
      const result = attempt();
      return result instanceof Promise ? result.catch(late) : result;
    } catch (error) {
      if (isSchemaChanged(error)) return late(error);
      throw error;
    }
  }

  /** Resolves when the failed call may be repeated. Otherwise fails with its error. */
  async #over(error: unknown, ended: number): Promise<void> {
    if (!isSchemaChanged(error)) throw error;
    if (ended !== this.#ended) return;
    // Without a reload, the next attempt would fail in the same way.
    if (this.#running === 0) throw error;
    await this.#last;
  }
}

/** Returns true if a call met a change of the schema. Then nothing of it was done. */
export const isSchemaChanged = (error: unknown): boolean =>
  error instanceof TrellisError && error.code === 'SCHEMA_CHANGED';
