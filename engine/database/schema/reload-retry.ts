// The reloads under way, for the calls that fall into them: such a call is made again when the reload
// is over, and is then one of the new program. Invariant: no call waits without a reload to wait for.
import { TrellisError } from '../../base/errors.js';

export class ReloadRetry {
  #running = 0;
  /** Reloads that have ended. */
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

  /** What `attempt` gives, if need be at a second attempt with the next program. */
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
   * The same for a plan, which only who made it can make anew: SCHEMA_CHANGED comes when the reload
   * is over.
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

  /** Resolves when the failed call may be made again; else fails with its error. */
  async #over(error: unknown, ended: number): Promise<void> {
    if (!isSchemaChanged(error)) throw error;
    if (ended !== this.#ended) return;
    // Without a reload the next attempt would end as this one did.
    if (this.#running === 0) throw error;
    await this.#last;
  }
}

/** Whether a call fell into a change of the schema: nothing of it was done. */
export const isSchemaChanged = (error: unknown): boolean =>
  error instanceof TrellisError && error.code === 'SCHEMA_CHANGED';
