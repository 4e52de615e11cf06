// Kept code makes a start faster and changes nothing: taken when it is of this bundle and whole, else
// passed over, whatever has become of the file.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runBundle } from '../../server/lifecycle/compile-cache.js';
import { makeFolder } from '../support/project.js';

/** Of the same length whatever the digit: V8 itself tells texts apart by no more. */
const text = (digit: number): string =>
  `exports.where = () => bundleUrl; exports.join = require('node:path').join;
   exports.answer = () => ${digit}; exports.load = (of) => importModule(of); exports.answer();`;

interface Exports {
  answer(): number;
  where(): string;
}

function bundleIn(folder: string) {
  const url = pathToFileURL(join(folder, 'some.cjs')).href;
  const code = join(folder, 'code');
  const write = (digit: number): void => writeFileSync(join(folder, 'some.cjs'), text(digit));
  const run = (mark = 'a', keepAfterMs?: number): Exports =>
    runBundle({ url, mark, keepAfterMs }) as unknown as Exports;
  const files = (): string[] => (existsSync(code) ? readdirSync(code) : []);
  /** Runs the bundle until its code is kept; gives the file. */
  const keep = async (): Promise<string> => {
    write(1);
    const before = files().map((name) => readFileSync(join(code, name), 'latin1'));
    expect(run('a', 0).answer()).toBe(1);
    await expect
      .poll(() => files().map((name) => readFileSync(join(code, name), 'latin1')))
      .not.toEqual(before);
    await expect.poll(() => files().filter((name) => name.endsWith('.tmp'))).toEqual([]);
    return join(code, files()[0]!);
  };
  return { url, code, write, run, files, keep };
}

describe('a bundle', () => {
  it('imports its modules at run time, with cached code in another process too', async () => {
    const { url, code, keep } = bundleIn(makeFolder());
    await keep();
    expect(existsSync(code)).toBe(true);
    // The text of `keep` in a process of its own: V8 takes the code of before.
    const runner = new URL('../../dist/server/lifecycle/compile-cache.js', import.meta.url).href;
    const source = `import { runBundle } from '${runner}';
      const found = runBundle({ url: '${url}', mark: 'a' });
      console.log(Object.keys(await found.load('node:path')).includes('join'));`;
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      source,
    ]);
    expect(stdout.trim()).toBe('true');
  });

  it('runs with its arguments, and writes no cache unless it is asked to', async () => {
    const { url, write, run, files } = bundleIn(makeFolder());
    write(1);
    expect([run().answer(), run().where()]).toEqual([1, url]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(files()).toEqual([]);
  });

  it('runs with kept code of its own mark, and of no other', async () => {
    const { write, run, keep } = bundleIn(makeFolder());
    await keep();
    write(2);
    // The old answer: the code was taken, as nothing but the mark could forbid.
    expect(run('a').answer()).toBe(1);
    expect(run('b').answer()).toBe(2);
  });

  it('ignores changed cached code, and writes it again', async () => {
    const { write, run, keep } = bundleIn(makeFolder());
    const file = await keep();
    const whole = readFileSync(file);
    const flipped = [0, 4, 8, 12, 16, 20, 30, 64, whole.length >> 1, whole.length - 1];
    const damaged = [
      ...flipped.map((at) => Buffer.from(whole).fill(whole[at]! ^ 0x55, at, at + 1)),
      ...[0, 3, 4, 100, whole.length >> 1, whole.length - 1].map((end) => whole.subarray(0, end)),
      Buffer.concat([whole, Buffer.alloc(4)]),
      Buffer.concat([whole.subarray(0, 64), Buffer.alloc(whole.length - 64)]),
    ];
    write(2);
    for (const bytes of damaged) {
      writeFileSync(file, bytes);
      expect(run().answer()).toBe(2);
    }
    expect(await keep()).toBe(file);
    // V8 itself remembers the text with 2.
    write(3);
    expect(run().answer()).toBe(1);
  });

  it('runs where nothing can be kept', async () => {
    const folder = makeFolder();
    const { code, write, run } = bundleIn(folder);
    writeFileSync(code, '');
    write(1);
    expect(run('a', 0).answer()).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(readFileSync(code, 'utf8')).toBe('');
    rmSync(code);
    mkdirSync(join(code, `a-${process.versions.v8}-${process.arch}`), { recursive: true });
    expect(run('a', 0).answer()).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await expect.poll(() => readdirSync(code).length).toBe(1);
  });
});
