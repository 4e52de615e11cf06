// `trellis types` on files: where it writes, with which settings, and again whenever sources change.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadConfig } from '../../../server/config/config.js';
import { runCommand } from '../../../server/command/cli.js';
import { Development } from '../../../server/process/development.js';
import { loadProgram, programOptions } from '../../../server/project/program.js';
import { makeFolder } from '../../support/project.js';

let folder: string;
beforeEach(() => {
  folder = makeFolder();
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  source('QUERY one(n: I64) => RETURN n\n');
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const source = (text: string): void => writeFileSync(join(folder, 'a.hx'), text);
const text = (name = 'trellis.gen.ts'): string => {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

test('--watch writes again when the sources change, and waits while they have faults', async () => {
  const listeners = process.listeners('SIGTERM');
  const running = runCommand(['types', folder, '--watch']);
  await expect.poll(text).toContain('one(params');
  source('QUERY one(');
  source('QUERY two(n: I64) => RETURN n\n');
  await expect.poll(text).toContain('two(params');
  source('QUERY two(');
  await expect
    .poll(() => vi.mocked(console.error).mock.calls.flat().join())
    .toContain('have 1 error');
  source('QUERY three() => RETURN 1\n');
  await expect.poll(text).toContain('three(params');
  const [end] = process.listeners('SIGTERM').filter((one) => !listeners.includes(one));
  end!('SIGTERM');
  expect(await running).toBe(0);
});

test('the configuration says where to and how; flags win', async () => {
  writeFileSync(join(folder, 'trellis.toml'), '[types]\nout = "src/db.ts"\nint64 = "bigint"\n');
  expect(await runCommand(['types', folder])).toBe(78);
  mkdirSync(join(folder, 'src'));
  expect(await runCommand(['types', folder, '--check'])).toBe(1);
  expect(await runCommand(['types', folder])).toBe(0);
  expect(text('src/db.ts')).toContain('n: bigint');
  expect(await runCommand(['types', folder, '--check'])).toBe(0);
  expect(await runCommand(['types', folder, '--check', '--int64', 'string'])).toBe(1);
  expect(await runCommand(['types', folder, '--out', join(folder, 'x.ts')])).toBe(0);
  expect(text('x.ts')).toBe(text('src/db.ts'));
  expect(text()).toBe('');
});

test('trellis dev writes them where the configuration asks for it, and goes on where it cannot', () => {
  for (const [out, isThere] of [
    ['types.ts', true],
    ['none/types.ts', false],
    ['', false],
  ] as const) {
    const config = loadConfig({
      projectDir: folder,
      flags: new Map([['types.out', out]]),
      environment: {},
    });
    const told: string[] = [];
    const log = (_: unknown, line: string): void => void told.push(line);
    const development = new Development(config, log, () => config);
    const { program } = loadProgram(programOptions(config));
    development.writeTypes(program!, 1);
    development.close();
    expect(out !== '' && text(out).includes('one(params')).toBe(isThere);
    expect(told.length).toBe(out.includes('/') ? 1 : 0);
  }
});
