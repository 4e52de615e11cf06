// Makes copies of the data for nodes that have none, or outdated ones. A copy is made from the running
// database and sent in pieces, each with a checksum. Invariant: a copy is removed when it was not read for
// `idleMs`. The first copy removes what an earlier process left.
import { closeSync, openSync, readSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import {
  type CopiedFile,
  type Database,
  excerpt,
  fail,
  makeNodeCopy,
  removeLargeFolder,
} from '../../../engine/internal.js';

export interface NodeCopiesOptions {
  database: () => Database | undefined;
  dataDir: string;
}

interface RunningCopy {
  folder: string;
  files: readonly CopiedFile[];
  expiry: NodeJS.Timeout;
}

/** Maximum number of copies at the same time. Each takes the disk space of the data. */
const copiesMax = 4;
const idleMs = 120_000;
/** Maximum bytes of a piece. The thread that takes connections reads and checksums it. */
const chunkMax = 1024 * 1024;

export class NodeCopies {
  readonly #copies = new Map<string, RunningCopy>();
  #beginning = 0;
  /** Resolves when the copies of earlier processes are removed. */
  #cleared: Promise<void> | undefined;

  constructor(private readonly options: NodeCopiesOptions) {}

  get #folder(): string {
    return join(this.options.dataDir, 'copies');
  }

  /** Makes a copy and returns the list of its files. Fails OVERLOADED if there are too many. */
  async begin(): Promise<{ copy: string; files: readonly CopiedFile[] }> {
    const database = this.options.database();
    if (database?.cluster === undefined) fail('FEATURE_DISABLED', { feature: 'A cluster' });
    if (this.#copies.size + this.#beginning >= copiesMax)
      fail('OVERLOADED', { queue: 'The list of copies for other nodes' });
    const copy = randomUUID();
    const folder = join(this.#folder, copy);
    this.#beginning++;
    try {
      await this.#clear();
      const files = await makeNodeCopy((to) => database!.backUp(to), this.options.dataDir, folder);
      this.#copies.set(copy, { folder, files, expiry: this.#expiryOf(copy) });
      return { copy, files };
    } finally {
      this.#beginning--;
    }
  }

  async #clear(): Promise<void> {
    try {
      await (this.#cleared ??= removeLargeFolder(this.#folder));
    } catch (error) {
      this.#cleared = undefined;
      throw error;
    }
  }

  #expiryOf(copy: string): NodeJS.Timeout {
    // A copy that cannot be removed now is removed with the first copy of the next process.
    return setTimeout(() => void this.end(copy).catch(() => undefined), idleMs).unref();
  }

  /**
   * Returns a piece of a file: its CRC32 (u32, little-endian), then its bytes. Fails NOT_FOUND, PARAM_RANGE.
   */
  readChunk(copy: string, path: string, from: number, bytes: number): Uint8Array {
    const running = this.#copies.get(copy);
    const file = running?.files.find((one) => one.path === path);
    if (running === undefined || file === undefined)
      return fail('NOT_FOUND', { name: excerpt(`${copy} ${path}`), kind: 'copy' });
    running.expiry.refresh();
    const size = Math.min(bytes, chunkMax, file.bytes - from);
    const reply = Buffer.alloc(4 + Math.max(0, size));
    const descriptor = openSync(join(running.folder, path), 'r');
    try {
      readSync(descriptor, reply, 4, reply.length - 4, from);
    } finally {
      closeSync(descriptor);
    }
    reply.writeUInt32LE(crc32(reply.subarray(4)));
    return reply;
  }

  async end(copy: string): Promise<void> {
    const running = this.#copies.get(copy);
    if (running === undefined) return;
    clearTimeout(running.expiry);
    this.#copies.delete(copy);
    await removeLargeFolder(running.folder);
  }
}
