// Damaged backups and dumps: a `restore` or `load` of one is refused with a code that says so, and what it leaves is
// no database, or everything is there. Seeded; TRELLIS_TEST_LONG=1 damages each file hundreds of times.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { defaultLimits } from '../../engine/base/limits.js';
import { backUp, restore } from '../../engine/database/maintenance/backup.js';
import { dump } from '../../engine/database/maintenance/dump.js';
import { openDataDirectory } from '../../engine/storage/folder/manifest.js';
import type { Config } from '../../server/config/config.js';
import { loadDump } from '../../server/command/data/load.js';
import { mutated } from '../support/byte-mutation.js';
import { Random } from '../support/random.js';
import { foundIn } from './directory-content.js';
import { freshFolder, labelNamed, openGarden, values, write } from '../storage/support/garden.js';

const rounds = process.env.TRELLIS_TEST_LONG ? 600 : 10;
const seed = Number(process.env.TRELLIS_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

const source = freshFolder();
const opened = openDataDirectory(source);
const storage = openGarden(join(source, 'graph'));
write(storage, (view) => {
  const plant = labelNamed(storage, 'Plant');
  for (let i = 0; i < 50; i++) view.createNode(plant, values({ species: `s${i}` }));
});
const text = Buffer.concat([...dump(storage)]);
const backup = join(freshFolder(), 'backup');
await backUp(storage.env, source, backup);
storage.close();
opened.close({ clean: true });

const found = (path: string): string => foundIn(path, text);

/** Codes of a file that cannot be used. */
const refusals = ['DATA_CORRUPT', 'DATA_DIR_BAD', 'FORMAT_TOO_NEW', 'FORMAT_UNKNOWN'];

/** How it ended, and what was left; what is neither all nor refused is in the list that comes back. */
async function tryEach(
  files: Iterable<[what: string, damaged: Buffer]>,
  work: (damaged: Buffer, to: string) => Promise<unknown>,
): Promise<{ wrong: string[]; refused: number }> {
  const wrong: string[] = [];
  let refused = 0;
  for (const [what, damaged] of files) {
    const to = join(freshFolder(), 'to');
    let end = 'done';
    try {
      await work(damaged, to);
    } catch (error) {
      end = error instanceof TrellisError ? error.code : String((error as Error).stack);
    }
    const left = found(to);
    const isRefused = refusals.includes(end) && (left === 'nothing' || refusals.includes(left));
    if (isRefused) refused++;
    else if (end !== 'done' || left !== 'all') wrong.push(`${what}: ${end}, then ${left}`);
    rmSync(to, { recursive: true, force: true });
  }
  return { wrong, refused };
}

function* damagesOf(sound: Buffer, other: Buffer, random: Random): Generator<[string, Buffer]> {
  yield ['empty', Buffer.alloc(0)];
  for (let i = 0; i < rounds; i++) yield [`seed ${seed}, ${i}`, mutated(sound, other, random)];
}

const note = readFileSync(join(backup, 'BACKUP.json'));
const noted = JSON.parse(note.toString()) as { files: object[] };
/** What is JSON, and no list of the files of a backup. */
const notes: [string, Buffer][] = [
  null,
  [],
  {},
  { files: null },
  { files: [] },
  { files: noted.files.slice(1) },
  { files: noted.files.slice(0, 1) },
  { files: [null, ...noted.files] },
  { files: noted.files.map((file) => ({ ...file, path: 7 })) },
  { files: noted.files.map((file) => ({ ...file, path: '../x' })) },
].map((content) => [JSON.stringify(content), Buffer.from(JSON.stringify(content))]);

describe('damaged copies', () => {
  it.each(['BACKUP.json', 'MANIFEST.json', 'graph/data.mdb'])(
    'restore refuses a backup whose %s is damaged',
    { timeout: 600_000 },
    async (name) => {
      const sound = readFileSync(join(backup, name));
      const random = new Random(seed);
      const own = name === 'BACKUP.json' ? notes : [];
      const files = [...own, ...damagesOf(sound, note, random)];
      const { wrong, refused } = await tryEach(files, async (damaged, to) => {
        const copy = join(freshFolder(), 'copy');
        cpSync(backup, copy, { recursive: true });
        writeFileSync(join(copy, name), damaged);
        await restore(copy, to);
      });
      expect(wrong, wrong.join('\n')).toEqual([]);
      expect(refused).toBeGreaterThan(rounds / 2);
    },
  );

  it('load refuses a damaged dump', { timeout: 600_000 }, async () => {
    const path = join(freshFolder(), 'dump');
    const files = [...damagesOf(text, text, new Random(seed))];
    const { wrong, refused } = await tryEach(files, (damaged, to) => {
      writeFileSync(path, damaged);
      const text = { enabled: true };
      const config = { dataDir: to, limits: defaultLimits, vectorTypes: {}, text };
      return loadDump(path, config as unknown as Config);
    });
    expect(wrong, wrong.join('\n')).toEqual([]);
    expect(refused).toBeGreaterThan(rounds / 2);
  });
});
