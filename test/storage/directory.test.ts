// The data directory: its lock, its manifest, and damage that is found before LMDB maps the file.
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { check } from '../../engine/storage/check/check.js';
import { checkDataFile } from '../../engine/storage/folder/data-file.js';
import { openDataDirectory } from '../../engine/storage/folder/manifest.js';
import type * as Probe from '../../engine/storage/folder/preopen-check.js';
import { compileStorage } from './support/compiled.js';
import { freshFolder, labelNamed, openGarden, values, write } from './support/garden.js';

const withCode = (code: string) => expect.objectContaining({ code });
const dataFile = (path: string) => join(path, 'graph', 'data.mdb');

/** A closed directory with some data. */
function filled(): string {
  const path = freshFolder();
  const directory = openDataDirectory(path);
  const storage = openGarden(join(path, 'graph'));
  const plant = labelNamed(storage, 'Plant');
  write(storage, (view) => {
    for (let i = 0; i < 2000; i++) view.createNode(plant, values({ species: `s${i}` }));
  });
  storage.close();
  directory.close({ clean: true });
  return path;
}

/** Overwrites bytes of a file. */
function damage(path: string, offset: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, offset);
  closeSync(file);
}

describe('a data directory', () => {
  it('is created one time, keeps its identity, and records how it was closed', () => {
    const path = join(freshFolder(), 'deep', 'data');
    const first = openDataDirectory(path);
    expect(first.wasClean).toBe(true);
    first.setPort(6969);
    expect(JSON.parse(readFileSync(join(path, 'LOCK'), 'utf8'))).toMatchObject({
      pid: process.pid,
      port: 6969,
    });
    first.close({ clean: false });
    const second = openDataDirectory(path);
    expect([second.dbUuid, second.restoreEpoch, second.wasClean]).toEqual([
      first.dbUuid,
      first.restoreEpoch,
      false,
    ]);
    const storage = openGarden(join(path, 'graph'));
    expect(check(storage.env, { dbUuid: second.dbUuid })).toEqual([]);
    expect(check(storage.env, { dbUuid: 'another' })).toMatchObject([{ invariant: 'I17' }]);
    storage.close();
    second.close({ clean: true });
    const third = openDataDirectory(path);
    expect(third.wasClean).toBe(true);
    third.close({ clean: true });
    expect(statSync(dataFile(path)).mode & 0o777).toBe(0o600);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it('starts again when the first start was cut short before the data existed', async () => {
    const path = freshFolder();
    const manifest = (folder: string) =>
      JSON.parse(readFileSync(join(folder, 'MANIFEST.json'), 'utf8')) as { lmdb: unknown };
    expect(manifest(filled()).lmdb).toMatchObject({ page_size: 4096 });
    const compiled = await compileStorage();
    const script = `
      import { openDataDirectory } from '${compiled}/storage/folder/manifest.js';
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const mkdir = fs.mkdirSync;
      fs.mkdirSync = (path, options) => {
        if (path.endsWith('graph')) process.kill(process.pid, 'SIGKILL');
        return mkdir(path, options);
      };
      syncBuiltinESMExports();
      openDataDirectory('${path}');`;
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', script]).signal).toBe(
      'SIGKILL',
    );
    expect(manifest(path).lmdb).toBeNull();
    openDataDirectory(path).close({ clean: true });
    expect(() => checkDataFile(dataFile(path))).not.toThrow();
  });

  it.each([
    [
      'data without a manifest',
      'DATA_DIR_BAD',
      (path: string) => rmSync(join(path, 'MANIFEST.json')),
    ],
    [
      'a damaged manifest',
      'DATA_DIR_BAD',
      (path: string) => damage(join(path, 'MANIFEST.json'), 30, Buffer.from('!')),
    ],
    [
      'an unfinished restore',
      'DATA_DIR_BAD',
      (path: string) => writeFileSync(join(path, 'RESTORING'), ''),
    ],
    [
      'a newer format',
      'FORMAT_TOO_NEW',
      (path: string) => {
        const file = join(path, 'MANIFEST.json');
        writeFileSync(file, readFileSync(file, 'utf8').replace('"major": 2', '"major": 3'));
      },
    ],
    ['no data file', 'DATA_CORRUPT', (path: string) => rmSync(dataFile(path))],
    ['an empty data file', 'DATA_CORRUPT', (path: string) => truncateSync(dataFile(path), 0)],
    ['a one-byte data file', 'DATA_CORRUPT', (path: string) => truncateSync(dataFile(path), 1)],
    [
      'a cut data file',
      'DATA_CORRUPT',
      (path: string) => truncateSync(dataFile(path), statSync(dataFile(path)).size - 4096),
    ],
    [
      'a cut data file after a crash',
      'DATA_CORRUPT',
      (path: string) => {
        openDataDirectory(path).close({ clean: false });
        truncateSync(dataFile(path), 10_000);
      },
    ],
    [
      'text for data',
      'DATA_CORRUPT',
      (path: string) => writeFileSync(dataFile(path), 'hello '.repeat(5000)),
    ],
    [
      'a zeroed header',
      'DATA_CORRUPT',
      (path: string) => damage(dataFile(path), 0, new Uint8Array(4096)),
    ],
    [
      'another page size',
      'DATA_CORRUPT',
      (path: string) => damage(dataFile(path), 49, Uint8Array.of(0x40)),
    ],
  ])('is refused with %s', (_, code, spoil) => {
    const path = filled();
    spoil(path);
    expect(() => openDataDirectory(path)).toThrowError(withCode(code));
    // The refusal gave the lock back.
    expect(() => openDataDirectory(path)).toThrowError(withCode(code));
  });

  it('is refused when it is a file, or cannot be made', () => {
    const path = join(freshFolder(), 'file');
    writeFileSync(path, '');
    expect(() => openDataDirectory(path)).toThrowError(withCode('DATA_DIR_BAD'));
    expect(() => openDataDirectory(join(path, 'below'))).toThrowError(withCode('DATA_DIR_BAD'));
  });

  it('is refused with a newer minor format, and stays unchanged', () => {
    const path = filled();
    mkdirSync(join(path, 'vec'));
    const file = join(path, 'MANIFEST.json');
    const { crc32: _, ...manifest } = JSON.parse(readFileSync(file, 'utf8'));
    Object.assign(manifest, { format: { major: 2, minor: 9 }, later: true });
    const sum = crc32(JSON.stringify(manifest)).toString(16).padStart(8, '0');
    const text = JSON.stringify({ ...manifest, crc32: sum });
    writeFileSync(file, text);
    expect(() => openDataDirectory(path)).toThrowError(withCode('FORMAT_TOO_NEW'));
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

describe('the lock', () => {
  it('keeps a second opener out, here and in other processes, and outlives no kill -9', async () => {
    const path = freshFolder();
    const compiled = await compileStorage();
    const child = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      `import { openDataDirectory } from '${compiled}/storage/folder/manifest.js';
       openDataDirectory('${path}'); console.log('held'); setInterval(() => {}, 1000);`,
    ]);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    expect(() => openDataDirectory(path)).toThrowError(
      expect.objectContaining({
        code: 'DATA_LOCKED',
        message: expect.stringContaining(`process ${child.pid}`),
      }),
    );
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    const directory = openDataDirectory(path);
    expect(() => openDataDirectory(path)).toThrowError(withCode('DATA_LOCKED'));
    directory.close({ clean: true });
    openDataDirectory(path).close({ clean: true });
  });
});

describe('reading the data file', () => {
  it('distinguishes damaged rows from lost pages', async () => {
    const { probeData } = (await import(
      `${await compileStorage()}/storage/folder/preopen-check.js`
    )) as typeof Probe;
    const path = filled();
    const whole = await probeData(join(path, 'graph'));
    expect(whole.entries).toBeGreaterThan(6000);
    expect([whole.rows, whole.broken]).toEqual([[], []]);
    const at = readFileSync(dataFile(path)).lastIndexOf('"s77"');
    damage(dataFile(path), at + 2, Buffer.from('8'));
    expect(await probeData(join(path, 'graph'))).toEqual({
      entries: whole.entries - 1,
      rows: [expect.stringContaining('records')],
      broken: [],
    });
    truncateSync(dataFile(path), 40_960);
    const { broken } = await probeData(join(path, 'graph'));
    expect(broken).toContainEqual(expect.stringContaining('is beyond the end of the file'));
  });

  it('is not needed for an intact file whose last pages were never written', () => {
    const path = freshFolder();
    const directory = openDataDirectory(path);
    const storage = openGarden(join(path, 'graph'));
    const plant = labelNamed(storage, 'Plant');
    let below = 0;
    for (let i = 0; i < 30; i++) {
      storage.commitGroup((group) => {
        group.request(0, (view) => view.createNode(plant, values({})));
        expect(() =>
          group.request(0, (view) => {
            for (let j = 0; j < 60; j++)
              view.createNode(plant, values({ tags: ['x'.repeat(3000 + 100 * j)] }));
            // Whoever looks for an id has what was made so far written.
            view.idOf(new Uint8Array(16).fill(255));
            throw new RangeError('undone');
          }),
        ).toThrow('undone');
      });
      const head = readFileSync(dataFile(path)).subarray(0, 8192);
      const lastPage = Math.max(head.readUInt32LE(144), head.readUInt32LE(4096 + 144));
      if (statSync(dataFile(path)).size < lastPage * 4096) below++;
      expect(() => checkDataFile(dataFile(path))).not.toThrow();
    }
    expect(below).toBeGreaterThan(0);
    storage.close();
    directory.close({ clean: true });
  });
});

describe('damage inside values', () => {
  it('is detected when a whole value with its checksum is under another key', () => {
    const path = filled();
    const graph = join(path, 'graph');
    const before = openGarden(graph);
    const plant = labelNamed(before, 'Plant').id;
    const [a, b] = [...before.reader().scan(plant)][0]!.subarray(1100, 1102);
    const [one, other] = [a, b].map((id) => before.reader().record(id!)!);
    before.close();
    expect(one!.length).toBe(other!.length);
    const bytes = readFileSync(dataFile(path));
    const places = [one, other].map((record) => bytes.indexOf(record!));
    const whole = places.map((at) => bytes.slice(at, at + one!.length + 4));
    damage(dataFile(path), places[0]!, whole[1]!);
    damage(dataFile(path), places[1]!, whole[0]!);
    const storage = openGarden(graph);
    for (const id of [a, b]) {
      expect(() => storage.reader().record(id!)).toThrowError(withCode('DATA_CORRUPT'));
    }
    storage.close();
  });

  it('is found by its checksum when the value is read, and by check', () => {
    const path = filled();
    const bytes = readFileSync(dataFile(path));
    const at = bytes.lastIndexOf('"s1234"');
    damage(dataFile(path), at + 3, Buffer.from('9'));
    const storage = openGarden(join(path, 'graph'));
    const view = storage.reader();
    const ids = [...view.scan(labelNamed(storage, 'Plant').id)].flatMap((batch) => [...batch]);
    const faults = ids.filter((id) => {
      try {
        return view.record(id) === undefined;
      } catch (error) {
        expect(error).toMatchObject({ code: 'DATA_CORRUPT' });
        return true;
      }
    });
    expect(faults.length).toBe(1);
    expect(check(storage.env).map(({ invariant }) => invariant)).toContain('I15');
    storage.close();
  });
});
