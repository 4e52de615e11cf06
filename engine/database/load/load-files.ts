// Identifies the files of a load, so that a started load is recognized when its corrected files are sent
// again. A file is identified by its name and its first rows; other rows under an old name are another file.
// Invariant: rows are never loaded silently in addition to rows of an earlier version of their file.
import { fail } from '../../base/errors.js';
import type { ReadView } from '../../storage/table/view-types.js';
import { filesKey } from './load-key.js';
import { type LoadProgress, readProgress } from './load-progress.js';
import { readChunks } from './load-piece.js';

/** Properties of a file besides its bytes. */
export interface LoadedFile {
  /** Name, with the settings by which its rows are read. */
  name: string;
  /** CRC-32 of each of its first rows, without the header of a table. */
  rows: readonly number[];
  /** True if rows update the elements with their unique value. Loading them again creates no duplicates. */
  isUpsert: boolean;
}

/** A load with files of the same names. */
export interface FormerLoad {
  digest: Uint8Array;
  progress: LoadProgress;
}

type View = Pick<ReadView, 'getDerived' | 'scanDerived' | 'recordShared'>;

const decoder = new TextDecoder();

export const packFiles = (files: readonly LoadedFile[]): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(files));

/**
 * Returns the load to continue with these files: a load that was started with the same files before they were
 * corrected. `replace` also allows a finished load. Fails IMPORT_KNOWN when these files are partly loaded, or
 * have changed since they were loaded.
 */
export function formerOf(
  view: View,
  files: readonly LoadedFile[],
  replace: boolean,
): FormerLoad | undefined {
  const byName = new Map<string, LoadedFile[]>();
  for (const file of files) byName.set(file.name, [...(byName.get(file.name) ?? []), file]);
  for (const { key, value } of view.scanDerived(filesKey(), filesKey(undefined, true))) {
    const known = JSON.parse(decoder.decode(value)) as LoadedFile[];
    const common = known.filter(({ name }) => byName.has(name));
    if (common.length === 0) continue;
    const digest = key.slice(2);
    const progress = readProgress(view, digest);
    const { pieces: chunks, end, nodes, edges, vectors } = progress;
    if (chunks === 0 || nodes + edges + vectors === 0) continue;
    const like = common.filter((file) => byName.get(file.name)!.some((one) => isLike(file, one)));
    const isComplete = common.length === known.length && known.length === files.length;
    const [{ name }] = common as [LoadedFile];
    if (end === undefined) {
      if (isComplete && (replace || like.length === common.length)) return { digest, progress };
      return isComplete ? refuse(name, 'begun', progress) : refuseOthers(known, name);
    }
    const changed = like.find(({ isUpsert }) => !isUpsert);
    if (changed === undefined || !exists(view, digest)) continue;
    if (!replace) return refuse(changed.name, 'loaded', progress);
    return isComplete ? { digest, progress } : refuseOthers(known, changed.name);
  }
  return undefined;
}

/** Number of elements of a chunk to look for. */
const triesMax = 16;

/** Returns true if any element that the load created still exists. */
function exists(view: View, digest: Uint8Array): boolean {
  return readChunks(view, digest).some(({ firstId, made = 0 }) => {
    const step = Math.max(1, Math.floor(made / triesMax));
    for (let id = firstId; id < firstId + made; id += step) {
      if (view.recordShared(id) !== undefined) return true;
    }
    return false;
  });
}

/** Returns true if at least half of the first rows of the shorter file are in the other file. */
function isLike({ rows: former }: LoadedFile, { rows }: LoadedFile): boolean {
  const left = new Map<number, number>();
  for (const row of rows) left.set(row, (left.get(row) ?? 0) + 1);
  let shared = 0;
  for (const row of former) {
    const count = left.get(row) ?? 0;
    if (count > 0) shared++;
    left.set(row, count - 1);
  }
  return shared > 0 && 2 * shared >= Math.min(former.length, rows.length);
}

const changedHint =
  '`replace` takes back what it loaded, from the first change on, and loads it as it is now; `again` ' +
  'loads all of it once more, beside what is there.';

function refuse(name: string, how: 'begun' | 'loaded', progress: LoadProgress): never {
  const { nodes, edges, vectors, rejected } = progress;
  const rows = `${nodes + edges + vectors} rows of it are in the data, ${rejected} were refused`;
  const what =
    how === 'begun'
      ? `an import of it was begun and not finished, and it has other rows now; ${rows}`
      : `it was imported before, and has changed since or is read in another way; ${rows}`;
  return fail('IMPORT_KNOWN', { file: name, what }, { hint: changedHint });
}

function refuseOthers(known: readonly LoadedFile[], name: string): never {
  const names = known.map((file) => file.name).join(', ');
  const what = `its rows are in the data by an import of ${names}`;
  const hint = `Import these files together again, or load it once more with \`again\`.`;
  return fail('IMPORT_KNOWN', { file: name, what }, { hint });
}
