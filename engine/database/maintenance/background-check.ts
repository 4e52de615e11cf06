// Checks the data file against itself and against the checksums of the last stop. A small file is checked
// before it is opened, a large one while the database serves.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TrellisError, toErrorData } from '../../base/errors.js';
import type { DataErrors } from '../../storage/page/file-check.js';
import type { Env } from '../../storage/table/env.js';
import type { DataDirectory } from '../../storage/folder/manifest.js';
import { PageFile } from '../../storage/page/page.js';
import { metasOf, newestOf } from '../../storage/page/page-meta.js';
import { probeData, failIfDamaged } from '../../storage/folder/preopen-check.js';
import type { DatabaseOptions } from '../call/options.js';

/** Up to this size, a file with checksums is checked before it is opened. It takes 20 ms. */
const summedFirstBytes = 2 ** 26;
/** Size limit for a file without checksums. */
const readFirstBytes = 2 ** 30;
/** Milliseconds between two tries when the system provides no child process. Doubles each time. */
const againMs = 1_000;
const againMsMax = 60_000;

/**
 * Reads the file as it was before it was opened. The caller must keep those pages meanwhile. Fails
 * DATA_CORRUPT.
 */
export type RemainingCheck = (signal: AbortSignal) => Promise<void>;

/**
 * Checks the file. Returns undefined when everything has been read, otherwise a function for the rest. Fails
 * DATA_CORRUPT.
 */
export async function probe(
  { dataDir, log }: Pick<DatabaseOptions, 'dataDir' | 'log'>,
  directory: Pick<DataDirectory, 'takeSums'>,
): Promise<RemainingCheck | undefined> {
  const graph = join(dataDir, 'graph');
  const sums = directory.takeSums();
  const reportDamage = (damage: DataErrors): void => {
    for (const what of damage.rows) log('error', 'a row fails its checksum', { what });
    for (const what of damage.broken) log('error', 'the data file is damaged', { what });
    failIfDamaged(damage);
  };
  const { size } = statSync(join(graph, 'data.mdb'));
  if (size <= (sums === undefined ? readFirstBytes : summedFirstBytes)) {
    reportDamage(await probeData(graph, { sums }));
    return undefined;
  }
  const file = new PageFile(join(graph, 'data.mdb'));
  const meta = newestOf(metasOf(file));
  file.close();
  return async (signal) => reportDamage(await probeData(graph, { sums, meta }, signal));
}

/** Checks a file while the database serves. */
export class BackgroundCheck {
  readonly #end = new AbortController();

  /**
   * `env` has just been opened, and nothing was written yet. `onDamage` is called when pages of the data file
   * are damaged, because then no result can be trusted.
   */
  constructor(env: Env, run: RemainingCheck | undefined, onDamage: (error: TrellisError) => void) {
    if (run === undefined) return;
    const release = env.keep();
    const reading = this.#read(run).catch((error: unknown) => {
      if (!(error instanceof TrellisError)) throw error;
      if (this.#end.signal.aborted) return;
      onDamage(error);
    });
    void reading.finally(release);
  }

  /**
   * A lack of system resources says nothing about the data. The check waits until the resources are
   * available.
   */
  async #read(run: RemainingCheck): Promise<void> {
    const { signal } = this.#end;
    for (let waitMs = againMs; ; waitMs = Math.min(2 * waitMs, againMsMax)) {
      try {
        return await run(signal);
      } catch (error) {
        const isShort = toErrorData(error).error.code === 'RESOURCE_EXHAUSTED';
        if (!isShort || signal.aborted) throw error;
      }
      await sleep(waitMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  stop(): void {
    this.#end.abort();
  }
}
