// Removal of large files little by little: the name goes at once, what has another name keeps its contents, and what
// a crash leaves is removed by its name.
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  removedSuffix,
  LargeFile,
  removeLargeFile,
  removeLargeFolder,
} from '../../engine/fs/large-file.js';
import { makeFolder } from '../support/project.js';

/** More than is removed at once, and not a multiple of it. */
const bytes = Buffer.alloc(19 * 2 ** 20 + 5, 'abc');

describe('a large file', () => {
  it('holds what was written, wherever', () => {
    const path = join(makeFolder(), 'a');
    const file = new LargeFile(path, 'wx');
    file.write(bytes.subarray(100), 100);
    file.write(bytes.subarray(0, 100), 0);
    file.sync();
    file.close();
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(() => new LargeFile(path, 'wx')).toThrow('EEXIST');
  });

  it('loses its name immediately, with all its contents', async () => {
    const folder = makeFolder();
    const path = join(folder, 'a');
    writeFileSync(path, bytes);
    const removed = removeLargeFile(path);
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, 'another');
    await removed;
    expect(readdirSync(folder)).toEqual(['a']);
    expect(readFileSync(path, 'utf8')).toBe('another');
  });

  it('stays whole where it has another name', async () => {
    const folder = makeFolder();
    const [path, other] = [join(folder, 'a'), join(folder, 'b')];
    writeFileSync(path, bytes);
    linkSync(path, other);
    await removeLargeFile(path);
    expect(readdirSync(folder)).toEqual(['b']);
    expect(readFileSync(other).equals(bytes)).toBe(true);
  });

  it('may be absent, or left by a crash', async () => {
    const folder = makeFolder();
    await removeLargeFile(join(folder, 'nothing'));
    writeFileSync(join(folder, `a${removedSuffix}`), bytes.subarray(0, 100));
    await removeLargeFile(join(folder, `a${removedSuffix}`));
    expect(readdirSync(folder)).toEqual([]);
  });
});

it('a folder is deleted with its files, and files linked elsewhere stay', async () => {
  const folder = makeFolder();
  const inner = join(folder, 'copy', 'vec');
  mkdirSync(inner, { recursive: true });
  writeFileSync(join(folder, 'copy', 'data'), bytes);
  writeFileSync(join(folder, 'kept'), bytes);
  linkSync(join(folder, 'kept'), join(inner, 'linked'));
  await removeLargeFolder(join(folder, 'copy'));
  await removeLargeFolder(join(folder, 'nothing'));
  expect(readdirSync(folder)).toEqual(['kept']);
  expect(readFileSync(join(folder, 'kept')).equals(bytes)).toBe(true);
});
