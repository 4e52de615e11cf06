// Compares the data file with itself and with what the last stop noted: before it is opened while that
// is quickly done, beside serving when it is large.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TrellisError, errorDataOf } from '../../base/errors.js';
import type { DataFaults } from '../../storage/page/file-check.js';
import type { Env } from '../../storage/table/env.js';
import type { DataDirectory } from '../../storage/folder/manifest.js';
import { PageFile } from '../../storage/page/page.js';
import { metasOf, newestOf } from '../../storage/page/page-meta.js';
import { probeData, failIfDamaged } from '../../storage/folder/preopen-check.js';
import type { DatabaseOptions } from '../call/options.js';

/** Up to this size a file is read before it is opened: against noted sums in 20 ms. */
const summedFirstBytes = 2 ** 26;
/** And this after a stop that noted none. */
const readFirstBytes = 2 ** 30;
/** Between two tries where the system gives no child process; it doubles. */
const againMs = 1_000;
const againMsMax = 60_000;

/**
 * Reads the file as it was before it was opened: whoever opens it must keep those pages meanwhile.
 * Fails DATA_CORRUPT.
 */
export type ProbeLater = (signal: AbortSignal) => Promise<void>;

/** Fails DATA_CORRUPT; undefined when everything has been read. */
export async function probe(
  { dataDir, log }: Pick<DatabaseOptions, 'dataDir' | 'log'>,
  directory: Pick<DataDirectory, 'takeSums'>,
): Promise<ProbeLater | undefined> {
  const graph = join(dataDir, 'graph');
  const sums = directory.takeSums();
  const judge = (faults: DataFaults): void => {
    for (const what of faults.rows) log('error', 'a row fails its checksum', { what });
    for (const what of faults.broken) log('error', 'the data file is damaged', { what });
    failIfDamaged(faults);
  };
  const { size } = statSync(join(graph, 'data.mdb'));
  if (size <= (sums === undefined ? readFirstBytes : summedFirstBytes)) {
    judge(await probeData(graph, { sums }));
    return undefined;
  }
  const file = new PageFile(join(graph, 'data.mdb'));
  const meta = newestOf(metasOf(file));
  file.close();
  return async (signal) => judge(await probeData(graph, { sums, meta }, signal));
}

/** A file that is read beside serving; what is found ends every answer. */
export class BackgroundCheck {
  /** Pages of the data file are not what they must be: no answer can be trusted. */
  damage: TrellisError | undefined;
  readonly #end = new AbortController();

  /** `env` has just been opened, and nothing was written yet. */
  constructor(env: Env, run: ProbeLater | undefined, onDamage: () => void) {
    if (run === undefined) return;
    const release = env.keep();
    const reading = this.#read(run).catch((error: unknown) => {
      if (!(error instanceof TrellisError)) throw error;
      if (this.#end.signal.aborted) return;
      this.damage = error;
      onDamage();
    });
    void reading.finally(release);
  }

  /** What the system lacks just now says nothing of the data: they are read when it has it again. */
  async #read(run: ProbeLater): Promise<void> {
    const { signal } = this.#end;
    for (let waitMs = againMs; ; waitMs = Math.min(2 * waitMs, againMsMax)) {
      try {
        return await run(signal);
      } catch (error) {
        const isShort = errorDataOf(error).error.code === 'RESOURCE_EXHAUSTED';
        if (!isShort || signal.aborted) throw error;
      }
      await sleep(waitMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  stop(): void {
    this.#end.abort();
  }
}
