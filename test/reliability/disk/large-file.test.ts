// What is large is out of the way of whoever waits for the disk: of a snapshot, a backup and a dump only little is
// not synchronised at a time, files are removed little by little, and none of it is done by the thread that takes
// connections or by the one that writes. Seen in the calls of a server that is recorded. Faults of this kind show in
// no answer: clients wait, half a second behind 300 MB.
import { basename, join } from 'node:path';
import { statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeFolder, removeFolder, writeProject } from '../../support/project.js';
import { noteProof } from '../../support/proof.js';
import { Random } from '../../support/random.js';
import { commandHere } from '../../support/server/command-here.js';
import { runCli, Server } from '../../support/server/server.js';
import { type IoRecord, Recorder, whyNoRecorder } from '../support/recorder.js';

const missing = whyNoRecorder();
if (missing !== undefined) console.info(`large files are not followed: ${missing}`);

const million = 2 ** 20;
/** What may be under way at a time, and a piece that was begun before. */
const unsyncedMost = 3 * million;
const freedMost = 8 * million;
/** A file that a thread others wait for may write, synchronise, remove. */
const small = million / 4;

const dimensions = 256;
const vectors = 7_000;
const config = { 'storage.ballast': 0, 'snapshot.after_writes': 1_000_000, 'text.enabled': false };
const sources = {
  'main.hx': `
V::Point { no: I64 }
QUERY add(vec: [F64]) => v <- AddV<Point>(vec, {no: -1}) RETURN v::ID
`,
};

interface File {
  path: string;
  size: number;
  unsynced: number;
}

/** LMDB's own, of which a commit changes a few pages. */
const isData = ({ path }: File): boolean => path.endsWith('/data/graph/data.mdb');

/** What a log says of large files. */
class Traffic {
  /** What is in the way. */
  readonly faults = new Set<string>();
  /** The most bytes of one file that were not synchronised, and that were freed by one call. */
  unsynced = 0;
  freed = 0;
  readonly written = new Set<string>();
  readonly gone = new Set<string>();
  readonly #files = new Map<number, File>();

  /** `busyOf`: what a thread that others wait for is called. */
  constructor(private readonly busyOf: (thread: number) => string | undefined) {}

  /** Of a record that is not to be judged yet only the files are kept. */
  apply(record: IoRecord, isJudged: boolean): void {
    const { kind, file: inode, at, bytes, to } = record;
    const path = String(kind === 'write' ? '' : bytes);
    if (kind === 'create') this.#files.set(inode, { path, size: 0, unsynced: 0 });
    if (kind === 'rename') return this.#rename(path, to);
    const gone = kind === 'unlink' && [...this.#files].find(([, file]) => file.path === path);
    const file = gone ? gone[1] : this.#files.get(inode);
    if (file === undefined) return;
    const before = file.size;
    if (kind === 'write') file.size = Math.max(file.size, at + bytes.length);
    if (kind === 'write' && !record.through) file.unsynced += bytes.length;
    if (isJudged && !isData(file)) this.#judge(record, file);
    if (kind === 'syncEnd') file.unsynced = 0;
    if (kind === 'resize') file.size = at;
    if (gone) this.#files.delete(gone[0]);
    const freed = gone ? before : before - file.size;
    if (isJudged && !isData(file)) this.#free(freed, file);
  }

  #rename(from: string, to: string): void {
    for (const file of this.#files.values()) {
      const isIt = file.path === from || file.path.startsWith(`${from}/`);
      if (isIt) file.path = to + file.path.slice(from.length);
    }
  }

  #judge({ kind, thread }: IoRecord, { path, size, unsynced }: File): void {
    if (size <= small) return;
    const busy = this.busyOf(thread);
    if (busy !== undefined) this.faults.add(`${busy}: ${kind} of ${basename(path)}`);
    if (kind === 'write') this.written.add(path);
    this.unsynced = Math.max(this.unsynced, unsynced);
    if (unsynced > unsyncedMost) this.faults.add(`much of ${path} is not synchronised`);
  }

  #free(bytes: number, { path }: File): void {
    if (bytes <= small) return;
    this.gone.add(path);
    this.freed = Math.max(this.freed, bytes);
    if (bytes > freedMost) this.faults.add(`much of ${path} is freed at once`);
  }
}

const isBetween = ({ position }: IoRecord, from: number, to: number): boolean =>
  position >= from && position < to;

test.skipIf(missing !== undefined)(
  'T21 a snapshot, a backup and a dump do not delay those who wait for the disk',
  async () => {
    const folder = makeFolder();
    writeProject(join(folder, 'project'), { sources, config });
    const random = new Random(5);
    const vector = (): number[] =>
      Array.from({ length: dimensions }, () => Math.round(random.next() * 1e4) / 1e4);
    const rows = Array.from({ length: vectors }, (_, no) =>
      JSON.stringify({ vector: 'Point', values: vector(), properties: { no } }),
    );
    const input = join(makeFolder(), 'points.ndjson');
    writeFileSync(input, rows.join('\n'));
    const recorder = new Recorder(folder, join(makeFolder(), 'log'));
    const server = new Server(folder, { env: recorder.env, args: ['--allow-preload'] });
    const paths = ['--project', join(folder, 'project'), '--data', server.data];
    const imported = await commandHere(['import', input, ...paths]);
    expect(imported.code, imported.stderr).toBe(0);

    await server.start();
    const begun = recorder.position();
    for (let round = 0; round < 4; round++) {
      await server.client.post('add', { vec: vector() });
      await server.client.post('_admin/snapshot');
    }
    await server.client.post('_admin/backup', { name: 'served' });
    const ended = recorder.position();
    await server.stop();
    const stopped = recorder.position();
    const dumped = await runCli(['dump', join(folder, 'all.ndjson'), ...paths], {
      env: { ...recorder.env, TRELLIS_LOG_LEVEL: 'error' },
      cwd: folder,
    });
    expect(dumped.code, dumped.stderr).toBe(0);

    const records = recorder.records();
    const dataFile = statSync(join(server.data, 'graph', 'data.mdb')).ino;
    const isWrite = ({ kind, file }: IoRecord): boolean => kind === 'write' && file === dataFile;
    const writer = records.find(isWrite)?.thread;
    expect(writer).toBeDefined();
    const traffic = new Traffic((thread) =>
      thread === server.pid ? 'main' : thread === writer ? 'the writer' : undefined,
    );
    // At its end, when nobody waits, a server writes what is large in one go.
    for (const record of records)
      traffic.apply(record, record.position >= begun && !isBetween(record, ended, stopped));
    expect([...traffic.faults]).toEqual([]);
    // Or nothing was seen.
    const names = [...traffic.written].map((path) => basename(path));
    expect(names).toEqual(expect.arrayContaining(['Point.tmp', 'data.mdb', 'all.ndjson']));
    expect(traffic.gone.size).toBeGreaterThanOrEqual(2);
    const [unsynced, freed] = [traffic.unsynced, traffic.freed].map((bytes) =>
      (bytes / million).toFixed(1),
    );
    noteProof(
      'T21',
      `beside writers ${unsynced} MB at most of a snapshot, a backup, a dump wait for the disk, ` +
        `${freed} MB are freed at once`,
    );
    removeFolder(folder);
  },
  120_000,
);
