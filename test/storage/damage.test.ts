// Damage to the files of a data directory (T6 of operations.md 12): whatever happens to a page, a start
// ends with DATA_CORRUPT or DATA_DIR_BAD, now and when it is tried again, or every answer is right or
// DATA_CORRUPT. Seeded; TRELLIS_TEST_LONG=1 makes 2,000 of them.
import { createHash } from 'node:crypto';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { dump } from '../../engine/database/maintenance/dump.js';
import { probe } from '../../engine/database/maintenance/background-check.js';
import { openDataDirectory } from '../../engine/storage/folder/manifest.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import { defaultLimits } from '../../engine/base/limits.js';
import { uuidAt } from '../../engine/storage/record/record.js';
import { Random } from '../support/random.js';
import { type Spoil, anywhere, fill, ofPages, pageOf, pageSize } from './support/damage.js';
import { freshFolder, openGarden } from './support/garden.js';

const rounds = process.env.TRELLIS_TEST_LONG ? 1200 : 20;
/** Everything that reads can show. Fails DATA_CORRUPT. */
function shown(graph: string): string {
  const storage = openStorage(graph, { limits: defaultLimits, mode: 'attach' });
  try {
    const hash = createHash('sha256');
    for (const block of dump(storage)) hash.update(block);
    const view = storage.reader();
    const labels = storage.catalog.labels();
    for (const label of labels) {
      for (const ids of view.scan(label.id)) {
        for (const id of ids) {
          const record = view.record(id);
          if (record === undefined) throw new TrellisError({ code: 'DATA_CORRUPT', args: {} });
          hash.update(`${view.idOf(record.slice(uuidAt.own, uuidAt.own + 16))}`);
          for (const edge of labels) {
            if (edge.kind !== 'edge') continue;
            hash.update(view.adjacency(id, edge.id, 'out'));
            hash.update(view.adjacency(id, edge.id, 'in'));
          }
          const vector = view.vector(id);
          const isMissing = label.kind === 'vector' && vector === undefined;
          if (isMissing) throw new TrellisError({ code: 'DATA_CORRUPT', args: {} });
          hash.update(`${vector}`);
        }
      }
      for (const property of label.properties) {
        if (property.indexId === 0) continue;
        const isText = property.type.kind === 'scalar' && property.type.name === 'String';
        for (let i = 0; isText && i < 40; i++) hash.update(view.lookup(property, `s${i}`));
        for (const ids of view.range(property, {})) hash.update(ids);
      }
    }
    return hash.digest('hex');
  } finally {
    storage.close();
  }
}

const path = freshFolder();
const graph = join(path, 'graph');
const names = ['graph/data.mdb', 'graph/pages.sum', 'MANIFEST.json'] as const;
type Files = Record<(typeof names)[number], Buffer>;
const filesNow = (): Files =>
  Object.fromEntries(names.map((name) => [name, readFileSync(join(path, name))])) as Files;

/** In place: a data file that was replaced is another file. */
function put(files: Files): void {
  for (const name of names) writeFileSync(join(path, name), files[name]);
}

let directory = openDataDirectory(path);
let storage = openGarden(graph);
fill(storage, 0, 40);
storage.close();
const older = readFileSync(join(path, 'graph/data.mdb'));
storage = openGarden(graph);
fill(storage, 40, 55);
storage.close();
directory.close({ clean: true });
const cleanly = filesNow();
const wanted = shown(graph);
directory = openDataDirectory(path);
storage = openGarden(graph);
fill(storage, 55, 57);
storage.close();
directory.close({ clean: false });
const killed = filesNow();
const wantedKilled = shown(graph);
afterAll(() => put(cleanly));

const stale: Spoil = (bytes, pick) => {
  const at = pageOf(older, pick);
  older.copy(bytes, at, at, at + pageSize);
};

/** What a start makes of the files as they are: the refusal, or what it shows. */
async function start(): Promise<string> {
  try {
    const opened = openDataDirectory(path);
    try {
      await probe({ dataDir: path, log: () => undefined }, opened);
      return shown(graph);
    } finally {
      opened.close({ clean: false });
    }
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    return error.code;
  }
}

const refusals: ReadonlySet<string> = new Set(['DATA_CORRUPT', 'DATA_DIR_BAD', 'FORMAT_TOO_NEW']);

async function judge(files: Files, name: keyof Files, spoil: Spoil, seed: number, right: string) {
  const generator = new Random(seed);
  const pick = (below: number): number => generator.below(below);
  const bytes = Buffer.from(files[name]);
  spoil(bytes, pick);
  put({ ...files, [name]: bytes });
  // The runner is heard between two of thousands.
  await setImmediate();
  for (const attempt of ['the first', 'the second']) {
    const answer = await start();
    const isSound = answer === right || refusals.has(answer);
    expect(isSound, `seed ${seed}, ${name}, ${attempt} start`).toBe(true);
  }
}

describe('a damaged file (T6)', () => {
  it.each(Object.entries({ ...ofPages, 'an earlier page': stale }))(
    'after a clean stop: %s of data.mdb',
    { timeout: 600_000 },
    async (_, spoil) => {
      for (let seed = 1; seed <= rounds / 10; seed++) {
        await judge(cleanly, 'graph/data.mdb', spoil, seed, wanted);
      }
    },
  );

  it.each(Object.entries(ofPages))(
    'after a crash: %s of data.mdb',
    { timeout: 600_000 },
    async (_, spoil) => {
      for (let seed = 1; seed <= rounds / 10; seed++) {
        await judge(killed, 'graph/data.mdb', spoil, seed, wantedKilled);
      }
    },
  );

  it('is detected when it was truncated anywhere', { timeout: 600_000 }, async () => {
    for (let seed = 1; seed <= rounds / 10; seed++) {
      put(cleanly);
      const size = new Random(seed).below(cleanly['graph/data.mdb'].length);
      truncateSync(join(path, 'graph/data.mdb'), size);
      expect(await start(), `${size} bytes`).toBe('DATA_CORRUPT');
    }
  });

  it.each(['graph/pages.sum', 'MANIFEST.json'] as const)(
    'has no effect, or is reported, in %s',
    { timeout: 600_000 },
    async (name) => {
      for (const spoil of Object.values(anywhere)) {
        for (let seed = 1; seed <= rounds / 10; seed++) {
          await judge(cleanly, name, spoil, seed, wanted);
        }
      }
    },
  );

  it('is detected when it belongs to another database', async () => {
    const other = freshFolder();
    const strange = openDataDirectory(other);
    openGarden(join(other, 'graph')).close();
    strange.close({ clean: true });
    put({ ...killed, 'graph/data.mdb': readFileSync(join(other, 'graph/data.mdb')) });
    expect(() => openDataDirectory(path)).toThrow(/that of another database/);
  });
});
