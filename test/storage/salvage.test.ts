// Rows saved from damaged data files, and files made anew from them (operations.md 8): nothing ends by
// a signal or a defect, what is written is what was there, and every row that is missing is accounted
// for. Seeded; TRELLIS_TEST_LONG=1 does more of it.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { defaultLimits } from '../../engine/base/limits.js';
import { dump } from '../../engine/database/maintenance/dump.js';
import { rebuildData } from '../../engine/database/maintenance/repair.js';
import { type Salvaged, salvage } from '../../engine/database/maintenance/recover-rows.js';
import { verifyStorage } from '../../engine/database/maintenance/verify.js';
import { checkData, tablesOf } from '../../engine/storage/page/file-check.js';
import { openDataDirectory } from '../../engine/storage/folder/manifest.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import { PageFile } from '../../engine/storage/page/page.js';
import { metasOf, newestOf } from '../../engine/storage/page/page-meta.js';
import { PageWalk } from '../../engine/storage/page/btree-walk.js';
import type { TableName } from '../../engine/storage/table/table-name.js';
import { Random } from '../support/random.js';
import { fill, ofPages, pageSize } from './support/damage.js';
import { freshFolder, openGarden } from './support/garden.js';

const rounds = process.env.TRELLIS_TEST_LONG ? 60 : 3;

const source = freshFolder();
const directory = openDataDirectory(source);
const storage = openGarden(join(source, 'graph'));
fill(storage, 0, 60);
const sound = Buffer.concat([...dump(storage)])
  .toString()
  .trimEnd()
  .split('\n');
storage.close();
directory.close({ clean: true });
const good = readFileSync(join(source, 'graph/data.mdb'));
const rowsOf = (lines: string[]): string[] =>
  lines.filter((line) => /^\{"(node|edge|vector)"/.test(line));
const all = new Set(rowsOf(sound));

/** What is saved of these bytes; undefined when they are refused. */
function saved(bytes: Buffer): { rows: string[]; account: Salvaged } | undefined {
  const path = join(freshFolder(), 'data.mdb');
  writeFileSync(path, bytes);
  const blocks: Uint8Array[] = [];
  try {
    const account = salvage(path, (block) => void blocks.push(block));
    return { rows: rowsOf(Buffer.concat(blocks).toString().split('\n')), account };
  } catch (error) {
    expect(error).toBeInstanceOf(TrellisError);
    return undefined;
  }
}

/** Pages of the trees, by table, leaves and all. */
function pagesByTable(): Map<string, number[]> {
  const file = new PageFile(join(source, 'graph/data.mdb'));
  const meta = newestOf(metasOf(file));
  const walk = new PageWalk(file, meta.lastPage);
  const pages = new Map<string, number[]>();
  for (const [name, tree] of tablesOf(meta, walk, () => undefined)) {
    const found: number[] = [];
    pages.set(name, found);
    walk.tree(tree, meta.transaction, {
      entry() {},
      damage() {},
      page: (first) => void found.push(first),
    });
  }
  file.close();
  return pages;
}

describe('what can be read of a damaged file', () => {
  it('contains all rows of a sound file', () => {
    const { rows, account } = saved(good)!;
    expect(account).toMatchObject({ count: all.size, lost: 0, isComplete: true });
    expect(rows).toEqual(rowsOf(sound));
  });

  it.each(Object.entries(ofPages))(
    'is right and accounted for after %s',
    { timeout: 600_000 },
    async (_, spoil) => {
      for (let seed = 1; seed <= 4 * rounds; seed++) {
        // The runner is heard between two of thousands.
        await setImmediate();
        const generator = new Random(seed);
        const bytes = Buffer.from(good);
        spoil(bytes, (below) => generator.below(below));
        const found = saved(bytes);
        if (found === undefined) continue;
        const { rows, account } = found;
        const strange = rows.filter((row) => !all.has(row));
        expect(strange, `seed ${seed}`).toEqual([]);
        expect(new Set(rows).size, `seed ${seed}`).toBe(account.count);
        const missing = all.size - rows.length;
        if (missing > 0) expect(account.isComplete, `seed ${seed}`).toBe(false);
        const isTold = account.lines.every(
          (line) => !/^(meta|tables|labels):|how many|headers/.test(line),
        );
        if (isTold) expect(account.lost, `seed ${seed}`).toBe(missing);
      }
    },
  );

  it('contains the rows below an orphaned branch page', () => {
    const roots = newestOf(metasOf(new PageFile(join(source, 'graph/data.mdb'))));
    const file = new PageFile(join(source, 'graph/data.mdb'));
    const tables = tablesOf(roots, new PageWalk(file, roots.lastPage), () => undefined);
    file.close();
    expect(tables.get('records')!.depth).toBeGreaterThan(1);
    const root = tables.get('records')!.root;
    const bytes = Buffer.from(good);
    bytes.fill(0, root * pageSize, (root + 1) * pageSize);
    const { rows, account } = saved(bytes)!;
    expect(rows.length).toBe(all.size);
    expect(account.isComplete).toBe(true);
    expect(account.lines[0]).toContain(`records: page ${root}`);
  });

  it('names the elements of a lost page', () => {
    const leaf = pagesByTable().get('records')!.at(-1)!;
    const bytes = Buffer.from(good);
    bytes.fill(0, leaf * pageSize, (leaf + 1) * pageSize);
    const { account } = saved(bytes)!;
    expect(account.lost).toBeGreaterThan(0);
    const lost = account.lines.filter((line) => /^\w+ [0-9a-f-]{36} is lost$/.test(line));
    expect(lost.length).toBe(account.lost);
  });
});

describe('a rebuilt data file', () => {
  const derived: TableName[] = ['index', 'uuid', 'labels', 'out', 'in', 'derived'];
  const pages = pagesByTable();

  function damaged(page: number): string {
    const path = freshFolder();
    cpSync(source, path, { recursive: true });
    const bytes = Buffer.from(good);
    bytes.fill(0xff, page * pageSize, (page + 1) * pageSize);
    writeFileSync(join(path, 'graph/data.mdb'), bytes);
    return path;
  }

  const options = (dataDir: string) => ({
    limits: defaultLimits,
    textEnabled: true,
    textLanguage: 'english' as const,
    dataDir,
    vectorTypes: {},
  });

  it.each(derived.filter((name) => (pages.get(name)?.length ?? 0) > 0))(
    'has all rows if a page of %s is missing',
    (name) => {
      const own = pages.get(name)!;
      for (const page of own.slice(0, rounds > 3 ? own.length : 1)) {
        const path = damaged(page);
        expect(checkData(join(path, 'graph/data.mdb')).broken).not.toEqual([]);
        const opened = openDataDirectory(path);
        rebuildData(opened.dbUuid, options(path));
        const anew = openStorage(join(path, 'graph'), { limits: defaultLimits, mode: 'attach' });
        expect(verifyStorage(anew, { dbUuid: opened.dbUuid })).toEqual([]);
        const rows = rowsOf(
          Buffer.concat([...dump(anew)])
            .toString()
            .split('\n'),
        );
        expect(rows).toEqual(rowsOf(sound));
        anew.close();
        opened.close({ clean: true });
        openDataDirectory(path).close({ clean: true });
      }
    },
  );

  it('is refused if rows are lost, and the old file stays', () => {
    const path = damaged(pages.get('records')!.at(-1)!);
    const before = readFileSync(join(path, 'graph/data.mdb'));
    const opened = openDataDirectory(path);
    expect(() => rebuildData(opened.dbUuid, options(path))).toThrow(/rows are lost/);
    opened.close({ clean: false });
    expect(readFileSync(join(path, 'graph/data.mdb')).equals(before)).toBe(true);
  });
});
