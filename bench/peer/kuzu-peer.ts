// Kuzu inside this process: connections, prepared statements, and COPY from files that are written
// for it and removed: CSV, and NumPy's format for columns of numbers (its CSV reader needs minutes
// for vectors).
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { loadPeers } from './peer-install.js';

interface Result {
  getAllSync(): Record<string, unknown>[];
}

interface Connection {
  query(text: string): Promise<Result>;
  prepare(text: string): Promise<object>;
  execute(statement: object, args: Record<string, unknown>): Promise<Result>;
  close(): Promise<void>;
}

interface KuzuModule {
  Database: new (path: string) => { close(): Promise<void> };
  Connection: new (database: object) => Connection;
}

export type Statement = (args: Record<string, unknown>) => Promise<Record<string, unknown>[]>;

/** Numbers of a column, row after row; `width` above 1 for vectors. */
export interface Column {
  values: BigInt64Array | Float32Array;
  width: number;
}

export interface Kuzu {
  query(text: string): Promise<void>;
  /**
   * A prepared statement, on every connection in turn. Rows are taken in one call: the asynchronous
   * way crosses threads per row and is ten times slower.
   */
  prepare(text: string): Promise<Statement>;
  /** COPY of rows given as CSV lines. */
  copy(table: string, lines: Iterable<string>): Promise<void>;
  /** COPY of columns of numbers. */
  copyColumns(table: string, columns: readonly Column[]): Promise<void>;
  close(): Promise<void>;
}

/** One connection for each core of this machine. */
const connectionCount = 2;

/** Opens a database file; undefined, with a printed reason, when it cannot be had here. */
export async function openKuzu(path: string): Promise<Kuzu | undefined> {
  const loaded = (await loadPeers(['kuzu@0.11.3'])).get('kuzu');
  if (loaded === undefined) return undefined;
  const kuzu = (loaded as { default?: KuzuModule }).default ?? (loaded as KuzuModule);
  const database = new kuzu.Database(path);
  const connections = Array.from({ length: connectionCount }, () => new kuzu.Connection(database));
  const [first] = connections as [Connection];
  return {
    query: async (text) => {
      await first.query(text);
    },
    prepare: async (text) => {
      const statements = await Promise.all(
        connections.map((connection) => connection.prepare(text)),
      );
      let turn = 0;
      return async (args) => {
        const at = turn++ % connections.length;
        const result = await connections[at]!.execute(statements[at]!, args);
        return result.getAllSync();
      };
    },
    copy: (table, lines) =>
      inFolder(async (folder) => {
        const file = join(folder, `${table}.csv`);
        const stream = createWriteStream(file);
        for (const line of lines) if (!stream.write(`${line}\n`)) await once(stream, 'drain');
        stream.end();
        await once(stream, 'finish');
        await first.query(`COPY ${table} FROM '${file}'`);
      }),
    copyColumns: (table, columns) =>
      inFolder(async (folder) => {
        const files = columns.map((column, i) => {
          const file = join(folder, `${i}.npy`);
          writeFileSync(file, numpyBytes(column));
          return `'${file}'`;
        });
        await first.query(`COPY ${table} FROM (${files.join(', ')}) BY COLUMN`);
      }),
    close: async () => {
      for (const connection of connections) await connection.close();
      await database.close();
    },
  };
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'trellisdb-copy-'));
  await work(folder);
  rmSync(folder, { recursive: true });
}

/** NPY version 1.0: magic, length of the header, header padded to 64 bytes, the numbers. */
function numpyBytes({ values, width }: Column): Buffer {
  const type = values instanceof Float32Array ? '<f4' : '<i8';
  const count = values.length / width;
  const shape = width === 1 ? `(${count},)` : `(${count}, ${width})`;
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': ${shape}, }`;
  const header = `${text.padEnd(64 * Math.ceil((text.length + 11) / 64) - 11)}\n`;
  const start = Buffer.alloc(10);
  start.write('\x93NUMPY\x01\x00', 'latin1');
  start.writeUInt16LE(header.length, 8);
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return Buffer.concat([start, Buffer.from(header, 'latin1'), bytes]);
}
