// A `load` or `restore` that ends at any step leaves a directory that is refused, or one that holds
// everything. Ending is played: from the n-th call on that changes a file, every such call fails, as it
// would for a process that is gone. TRELLIS_TEST_LONG=1 tries every n.
import fs, { cpSync, existsSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { backUp, restore } from '../../engine/database/maintenance/backup.js';
import { dump } from '../../engine/database/maintenance/dump.js';
import { openDataDirectory } from '../../engine/storage/folder/manifest.js';
import type { Config } from '../../server/config/config.js';
import { loadDump } from '../../server/command/data/load.js';
import { foundIn } from './directory-content.js';
import { freshFolder, labelNamed, openGarden, values, write } from '../storage/support/garden.js';

const step = process.env.TRELLIS_TEST_LONG ? 1 : 7;

const changing = [
  'copyFileSync',
  'fsyncSync',
  'ftruncateSync',
  'linkSync',
  'mkdirSync',
  'openSync',
  'renameSync',
  'rmSync',
  'unlinkSync',
  'utimesSync',
  'writeFileSync',
  'writeSync',
] as const;

const files = fs as unknown as Record<string, (...given: unknown[]) => unknown>;
const originals = new Map(changing.map((name) => [name, files[name]!]));

function restoreFiles(): void {
  for (const [name, original] of originals) files[name] = original;
  syncBuiltinESMExports();
}
afterEach(restoreFiles);

/** Lets the calls below `last` through; returns how many there were. */
async function until(last: number, work: () => Promise<unknown>): Promise<number> {
  let calls = 0;
  for (const [name, original] of originals) {
    files[name] = (...given) => {
      // Reading changes nothing.
      if (name === 'openSync' && given[1] === 'r') return original(...given);
      if (++calls >= last) throw Object.assign(new RangeError('the process is gone'), { name });
      return original(...given);
    };
  }
  syncBuiltinESMExports();
  try {
    await work();
  } catch (error) {
    if (calls < last) throw error;
  } finally {
    restoreFiles();
  }
  return calls;
}

const source = freshFolder();
const opened = openDataDirectory(source);
const storage = openGarden(join(source, 'graph'));
write(storage, (view) => {
  const plant = labelNamed(storage, 'Plant');
  for (let i = 0; i < 50; i++) view.createNode(plant, values({ species: `s${i}` }));
});
const text = Buffer.concat([...dump(storage)]);
const dumped = join(freshFolder(), 'dump');
fs.writeFileSync(dumped, text);
const backup = join(freshFolder(), 'backup');
await backUp(storage.env, source, backup);
storage.close();
opened.close({ clean: true });

/** What a start finds, in a copy: here the lock of the process that is gone is still held. */
function found(path: string): string {
  if (!existsSync(path)) return 'nothing';
  const copy = join(freshFolder(), 'copy');
  cpSync(path, copy, { recursive: true });
  rmSync(join(copy, 'LOCK'), { force: true });
  return foundIn(copy, text);
}

const works: [string, (path: string) => Promise<unknown>][] = [
  ['restore', (path) => restore(backup, path)],
  [
    'load',
    (path) => {
      const config = {
        dataDir: path,
        limits: defaultLimits,
        vectorTypes: {},
        text: { enabled: true, language: 'english' },
      };
      return loadDump(dumped, config as unknown as Config);
    },
  ],
];

describe('ended at any step', () => {
  it.each(works)('%s leaves all or nothing', { timeout: 300_000 }, async (_, work) => {
    const path = join(freshFolder(), 'whole');
    const steps = await until(Number.POSITIVE_INFINITY, () => work(path));
    expect(steps).toBeGreaterThan(10);
    expect(found(path)).toBe('all');
    const ends: string[] = [];
    for (let last = 1; last <= steps; last += last < 12 ? 1 : step) {
      const cut = join(freshFolder(), 'cut');
      await until(last, () => work(cut));
      ends.push(found(cut));
    }
    for (const end of ends)
      expect(['nothing', 'DATA_DIR_BAD', 'DATA_CORRUPT', 'all']).toContain(end);
    expect(ends).toContain('DATA_DIR_BAD');
  });
});
