// Rebuilds derived data from the rows (`verify --repair-derived`). Property indexes and keyword postings are
// rewritten in one transaction. Vector snapshots are deleted, so that the next start builds the indexes from
// the vectors. If pages are damaged, the whole data file is rebuilt from its rows, including lists and edges.
// The server must be stopped.
// Invariant: the data file is either the old one or the complete new one, and no row is lost.
import type { LanguageName } from '../../base/text/language-name.js';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from '../../base/errors.js';
import { checkIntegrity } from '../../base/integrity.js';
import type { Limits } from '../../base/limits.js';
import type { FullCatalog } from '../../storage/catalog/catalog.js';
import { swapGraph } from '../../storage/folder/copy-data.js';
import { syncPath } from '../../fs/durable-file.js';
import { checkData } from '../../storage/page/file-check.js';
import { indexKey, prefixOf } from '../../storage/index/index-key.js';
import type { LoadView } from '../../storage/view/load-view.js';
import { metaKey } from '../../storage/table/meta.js';
import { type Storage, openStorage } from '../../storage/open-storage.js';
import { decodeProperty } from '../../storage/record/record.js';
import type { Label } from '../../storage/table/view-types.js';
import type { VectorTypeOptions } from '../../storage/view/write-context.js';
import { DumpReader } from './restore-dump.js';
import { type Salvaged, salvage } from './recover-rows.js';
import { clear, makeTexts } from './rebuild-text-index.js';

export interface RepairOptions {
  limits: Limits;
  textEnabled: boolean;
  textLanguage: LanguageName;
  /** The data directory. */
  dataDir: string;
}

export interface RebuildOptions extends RepairOptions {
  /** Storage options of vectors, per vector type. */
  vectorTypes: Readonly<Record<string, VectorTypeOptions>>;
}

export function repairDerived(storage: Storage, options: RepairOptions): void {
  const { env } = storage;
  env.room.need();
  storage.load(0, (view) => {
    clear(env.index, Uint8Array.of(0), new Uint8Array(64).fill(255));
    for (const label of (storage.catalog as FullCatalog).allLabels()) indexLabel(view, label);
    makeTexts(storage, view, options);
  });
  // Without snapshots, nothing replays the log.
  storage.trimLog(storage.committedSeq());
  dropSnapshots(options.dataDir);
}

/**
 * Rebuilds the data file from the rows that can be read without LMDB. Fails DATA_CORRUPT when some rows
 * cannot be read.
 */
export function rebuildData(dbUuid: string, options: RebuildOptions): void {
  const { dataDir } = options;
  const [graph, fresh] = [join(dataDir, 'graph'), join(dataDir, 'graph.repair')];
  rmSync(fresh, { recursive: true, force: true });
  try {
    mkdirSync(fresh, { mode: 0o700 });
    const { isComplete, lost } = loadRows(join(graph, 'data.mdb'), fresh, dbUuid, options);
    if (!isComplete) {
      const hint =
        'Write what is left to a file with `trellis verify --salvage`, then `trellis load` it.';
      fail('DATA_CORRUPT', { what: `rows are lost, ${lost} at least` }, { hint });
    }
    const { rows, broken } = checkData(join(fresh, 'data.mdb'));
    checkIntegrity(rows.length + broken.length === 0, 'the new data file is not sound');
    syncPath(join(fresh, 'data.mdb'));
    swapGraph(graph, fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  dropSnapshots(dataDir);
}

function loadRows(
  from: string,
  to: string,
  dbUuid: string,
  { limits, textEnabled, textLanguage, vectorTypes }: RebuildOptions,
): Salvaged {
  const storage = openStorage(to, { limits, mode: 'create', vectorTypes });
  try {
    const { env } = storage;
    env.transact(() => {
      env.meta.put(metaKey.databaseUuid, Buffer.from(dbUuid));
      return true;
    });
    const reader = new DumpReader(storage, { limits, textEnabled, textLanguage });
    const salvaged = salvage(from, (block) => reader.write(block));
    if (salvaged.isComplete) reader.end();
    return salvaged;
  } finally {
    storage.close();
  }
}

function dropSnapshots(dataDir: string): void {
  const folder = join(dataDir, 'vec');
  if (!existsSync(folder)) return;
  for (const file of readdirSync(folder)) {
    if (file.endsWith('.snap')) rmSync(join(folder, file));
  }
}

function indexLabel(view: LoadView, label: Label): void {
  const indexed = label.properties.filter(({ indexId }) => indexId !== 0);
  if (indexed.length === 0) return;
  for (const ids of view.scan(label.id)) {
    for (const id of ids) {
      const record = view.record(id);
      if (record === undefined) continue;
      for (const property of indexed) {
        const value = decodeProperty(record, property);
        if (value !== null) view.addEntry(indexKey(prefixOf(property, value), 0), id);
      }
    }
  }
}
