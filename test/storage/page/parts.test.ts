// A data file that several threads read by shares is judged as by one that reads all of it (T6): over trees that
// are deep enough to be shared out, whatever has happened to a page. Seeded.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { probeData } from '../../../engine/storage/folder/preopen-check.js';
import {
  type DataErrors,
  checkData,
  checkPart,
  joinParts,
  tablesOf,
} from '../../../engine/storage/page/file-check.js';
import { PageFile } from '../../../engine/storage/page/page.js';
import { metasOf, newestOf } from '../../../engine/storage/page/page-meta.js';
import { PageWalk } from '../../../engine/storage/page/btree-walk.js';
import { Random } from '../../support/random.js';
import { fill, ofPages, pageOf, pageSize } from '../support/damage.js';
import { freshFolder, labelNamed, openGarden, values, write } from '../support/garden.js';

const rounds = process.env.TRELLIS_TEST_LONG ? 200 : 6;
const graph = join(freshFolder(), 'graph');
const path = join(graph, 'data.mdb');
const storage = openGarden(graph);
fill(storage, 0, 60);
const plant = labelNamed(storage, 'Plant');
// Two keys fill a page, above the leaves too: few entries make a deep tree.
for (let i = 0; i < 40; i++) {
  write(storage, (view) => {
    const species = `${'y'.repeat(1500)}${(i * 37) % 40}`;
    view.createNode(plant, values({ species }));
  });
}
storage.close();
const sound = readFileSync(path);

const inParts = (of: number): DataErrors =>
  joinParts(Array.from({ length: of }, (_, index) => checkPart(path, { index, of })));

const told = ({ entries, rows, broken }: DataErrors) => {
  return { entries, rows: [...rows].sort(), broken: [...broken].sort() };
};

/** Of two ways to a page, one thread takes the first, and two take both. */
const isTwofold = ({ broken }: DataErrors): boolean =>
  broken.some((line) => line.includes('two places'));

describe('a file that several threads check in shares', () => {
  it('has a tree deep enough to share', () => {
    const file = new PageFile(path);
    const meta = newestOf(metasOf(file));
    const depths = [...tablesOf(meta, new PageWalk(file, meta.lastPage), () => undefined).values()];
    file.close();
    expect(Math.max(...depths.map(({ depth }) => depth))).toBeGreaterThan(3);
    expect(depths.filter(({ depth }) => depth === 2).length).toBeGreaterThan(2);
  });

  it('passes if it is sound', () => {
    const whole = checkData(path);
    expect(whole).toMatchObject({ rows: [], broken: [] });
    for (const of of [2, 3, 7, 40]) expect(inParts(of), `${of}`).toEqual(whole);
  });

  it.each(Object.entries(ofPages))('reports the same as one reader for %s', async (_, spoil) => {
    let damaged = 0;
    for (let seed = 1; seed <= rounds; seed++) {
      await setImmediate();
      const random = new Random(seed);
      const bytes = Buffer.from(sound);
      spoil(bytes, (below) => random.below(below));
      writeFileSync(path, bytes);
      const whole = checkData(path);
      if (whole.broken.length > 0) damaged++;
      for (const of of [2, 3, 7]) {
        const parts = inParts(of);
        const where = `seed ${seed}, ${of} parts`;
        expect(parts.broken.length > 0, where).toBe(whole.broken.length > 0);
        if (!isTwofold(whole) && !isTwofold(parts)) expect(told(parts), where).toEqual(told(whole));
      }
    }
    writeFileSync(path, sound);
    expect(damaged).toBeGreaterThan(0);
  });

  it('is checked in shares by the child process of a start', async () => {
    // Worth several threads by its size, of which nearly all is a hole that takes no room.
    truncateSync(path, 2 ** 27);
    expect(await probeData(graph)).toEqual(checkData(path));
    const random = new Random(1);
    const noise = Buffer.from(sound);
    for (let i = 0; i < 3; i++) {
      const at = pageOf(noise.subarray(2 * pageSize), (below) => random.below(below));
      noise.fill(i, at + 2 * pageSize, at + 3 * pageSize);
    }
    writeFileSync(path, noise);
    truncateSync(path, 2 ** 27);
    const faults = await probeData(graph);
    expect(faults.broken.length).toBeGreaterThan(0);
    expect(told(faults)).toEqual(told(checkData(path)));
  });
});
