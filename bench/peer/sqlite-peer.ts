// SQLite inside this process (better-sqlite3): a database file that is as durable as ours, with prepared
// statements. Needs a compiler or a prebuilt binary; without them one printed line says why it is left out.
// Invariant: a committed transaction is on the disk (WAL, synchronous = FULL).
import { loadPeers } from './peer-install.js';

/** Parameters by name, such as `@personId`. */
type Args = Record<string, unknown>;

export interface SqliteStatement {
  all(args?: Args): Record<string, unknown>[];
  get(args?: Args): Record<string, unknown> | undefined;
  run(...args: unknown[]): { lastInsertRowid: number | bigint };
  /** A statement whose rows are the first column. */
  pluck(): { all(args?: Args): unknown[] };
}

export interface Sqlite {
  exec(text: string): unknown;
  pragma(text: string): unknown;
  prepare(text: string): SqliteStatement;
  /** A function that runs in one transaction. */
  transaction<T extends unknown[]>(work: (...args: T) => void): (...args: T) => void;
  close(): void;
}

type SqliteClass = new (path: string) => Sqlite;

export const sqliteSpec = 'better-sqlite3@12.9.0';

/** Opens a database file; undefined, with a printed reason, when it cannot be had here. */
export async function openSqlite(path: string): Promise<Sqlite | undefined> {
  const loaded = (await loadPeers([sqliteSpec])).get('better-sqlite3');
  if (loaded === undefined) return undefined;
  const { default: Database } = loaded as { default: SqliteClass };
  try {
    const db = new Database(path);
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    // 256 MiB of pages, and reads from the page cache of the kernel: as much as ours maps.
    db.pragma('cache_size = -262144');
    db.pragma('mmap_size = 4294967296');
    return db;
  } catch (error) {
    // The package is there without its native part.
    console.log(`SQLite is left out: ${(error as Error).message.split('\n')[0]}`);
    return undefined;
  }
}
