// kill -9 of a writing process, over and over: everything it acknowledged is there, nothing is
// there by halves, and every invariant holds. The child tells of each commit after it returned; the
// parent kills it at a random moment or failpoint.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { check } from '../../engine/storage/check/check.js';
import { openDataDirectory } from '../../engine/storage/folder/manifest.js';
import { decodeProperty } from '../../engine/storage/record/record.js';
import { compileStorage } from './support/compiled.js';
import { freshFolder, labelNamed, openGarden } from './support/garden.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const cycles = long ? 200 : 3;
/** Each directory sees so many: what is looked at after each would grow without end. */
const cyclesOfOne = 25;
const points = ['W5', 'W6', 'beforeSyncDataPages', 'W9'];

const compiled = await compileStorage();

/** Each request makes a node, a vector and five edges, all marked with its number. */
const writer = (path: string, first: number, failpoint: string) => `
  import fs from 'node:fs';
  import { armFailpoint } from '${compiled}/base/failpoint.js';
  import { defaultLimits } from '${compiled}/base/limits.js';
  import { openDataDirectory } from '${compiled}/storage/folder/manifest.js';
  import { openStorage } from '${compiled}/storage/open-storage.js';
  openDataDirectory('${path}');
  const storage = openStorage('${path}/graph', { limits: defaultLimits, mode: 'create' });
  const label = (name) => storage.catalog.labels().find((label) => label.name === name);
  const [plant, note, tells] = ['Plant', 'Note', 'Tells'].map(label);
  armFailpoint('${failpoint}');
  let number = ${first};
  for (;;) {
    const done = [];
    storage.commitGroup((group) => {
      for (let i = 0; i < 5; i++, number++) {
        try {
          group.request(Date.now(), (view) => {
            const values = [['serial', number], ['species', 'n' + number % 7]];
            const id = view.createNode(plant, new Map(values));
            const embedding = Float64Array.of(number, 1);
            const vector = view.createVector(note, embedding, new Map([['text', 'n' + number]]));
            for (let edge = 0; edge < 5; edge++) view.createEdge(tells, id, vector, new Map());
            if (number % 4 === 3) throw new RangeError('refused');
          });
          done.push(number);
        } catch (error) { if (!(error instanceof RangeError)) throw error; }
      }
    });
    fs.writeSync(1, done.join(' ') + '\\n');
  }`;

/** Runs the writer until it is dead; returns the numbers it acknowledged. */
function killedWriter(path: string, first: number, cycle: number): Promise<number[]> {
  // Every second cycle dies at a failpoint, the others at a random moment.
  const failpoint =
    cycle % 2 === 0 ? '' : `${points[(cycle >> 1) % points.length]}@${1 + (cycle % 40)}:kill`;
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', writer(path, first, failpoint)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let output = '';
  child.stdout.on('data', (data) => {
    if (output === '' && failpoint === '')
      setTimeout(() => child.kill('SIGKILL'), 20 + Math.random() * 200);
    output += data;
  });
  return new Promise((resolve) =>
    child.once('close', () => {
      // An unfinished line was not acknowledged.
      const lines = output
        .slice(0, output.lastIndexOf('\n') + 1)
        .split('\n')
        .filter(Boolean);
      resolve(lines.flatMap((line) => line.split(' ').map(Number)));
    }),
  );
}

describe('a writer killed at any moment', () => {
  it(
    `loses nothing it acknowledged (${cycles} cycles)`,
    async () => {
      let path = '';
      let acknowledged = new Set<number>();
      let [next, total] = [0, 0];
      for (let cycle = 0; cycle < cycles; cycle++) {
        if (cycle % cyclesOfOne === 0) {
          path = freshFolder();
          openDataDirectory(path).close({ clean: true });
          openGarden(join(path, 'graph')).close();
          acknowledged = new Set();
          next = 0;
        }
        const before = acknowledged.size;
        for (const number of await killedWriter(path, next, cycle)) acknowledged.add(number);
        const directory = openDataDirectory(path);
        expect(directory.wasClean).toBe(false);
        const storage = openGarden(join(path, 'graph'));
        const view = storage.reader();
        const [plant, tells] = [labelNamed(storage, 'Plant'), labelNamed(storage, 'Tells')];
        const serial = plant.properties.find(({ name }) => name === 'serial')!;
        const present = new Set<number>();
        for (const ids of view.scan(plant.id)) {
          for (const id of ids) {
            present.add(decodeProperty(view.record(id)!, serial) as number);
            expect(view.degree(id, tells.id, 'out')).toBe(5);
          }
        }
        expect([...acknowledged].filter((number) => !present.has(number))).toEqual([]);
        expect([...present].filter((number) => number % 4 === 3)).toEqual([]);
        expect(view.count(labelNamed(storage, 'Note').id)).toBe(present.size);
        expect(check(storage.env, { dbUuid: directory.dbUuid })).toEqual([]);
        next = Math.max(-1, ...present) + 1;
        total += acknowledged.size - before;
        storage.close();
        directory.close({ clean: false });
      }
      expect(total).toBeGreaterThan(cycles * 3);
    },
    long ? 3_600_000 : 60_000,
  );
});
