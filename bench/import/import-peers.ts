// The peers of `bench import social`: Kuzu copies the files, and SQLite gets their lines by prepared statements in
// one transaction a file. Both load into a folder that is empty before and gone after.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyKuzu } from '../ldbc/ldbc-contender.js';
import { readFolder } from '../ldbc/ldbc-folder.js';
import { loadSqlite } from '../ldbc/ldbc-sqlite.js';
import { openKuzu } from '../peer/kuzu-peer.js';
import { openSqlite } from '../peer/sqlite-peer.js';
import type { ImportCost } from '../support/import-run.js';

/** Opens a database, and measures `load` until it is closed, and so on the disk. */
async function measure<T extends { close(): unknown }>(
  open: (folder: string) => Promise<T | undefined>,
  load: (db: T) => unknown,
): Promise<ImportCost | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'import-peer-'));
  try {
    const db = await open(folder);
    if (db === undefined) return undefined;
    const started = performance.now();
    const before = process.cpuUsage();
    await load(db);
    await db.close();
    const { user, system } = process.cpuUsage(before);
    return { seconds: (performance.now() - started) / 1000, cpu: (user + system) / 1e6 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Undefined, with a printed reason, when it cannot be had here; so is `sqliteImport`. */
export const kuzuImport = (files: string): Promise<ImportCost | undefined> =>
  measure(
    (folder) => openKuzu(join(folder, 'graph')),
    (db) => copyKuzu(db, readFolder(files)),
  );

export const sqliteImport = (files: string): Promise<ImportCost | undefined> =>
  measure(
    (folder) => openSqlite(join(folder, 'graph.sqlite')),
    (db) => loadSqlite(db, readFolder(files), []),
  );
