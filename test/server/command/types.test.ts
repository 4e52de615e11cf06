// `trellis types` on files: where it writes, with which settings, and again whenever sources change.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadConfig } from '../../../server/config/config.js';
import { runCommand } from '../../../server/command/cli.js';
import { Development } from '../../../server/lifecycle/dev-mode.js';
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

test('--watch writes again when the sources change, and waits while they have errors', async () => {
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

test('--split writes a part for each source, and takes away only what it has written', async () => {
  writeFileSync(join(folder, 'b.hx'), 'N::Other { n: I64 }\nQUERY two() => RETURN N<Other>\n');
  const split = ['types', folder, '--split'];
  expect(await runCommand([...split, '--check'])).toBe(1);
  expect(await runCommand(split)).toBe(0);
  expect(await runCommand([...split, '--check'])).toBe(0);
  const parts = (): string[] => readdirSync(join(folder, 'trellis.gen')).sort();
  expect(parts()).toEqual(['a.ts', 'b.ts', 'elements.ts']);
  writeFileSync(join(folder, 'trellis.gen/mine.ts'), '// Mine.\n');
  rmSync(join(folder, 'b.hx'));
  expect(await runCommand([...split, '--check'])).toBe(1);
  expect(await runCommand(split)).toBe(0);
  expect(parts()).toEqual(['a.ts', 'elements.ts', 'mine.ts']);
  // A part that was changed by hand is made again.
  const changed = `${text('trellis.gen/a.ts')}changed`;
  writeFileSync(join(folder, 'trellis.gen/a.ts'), changed);
  expect(await runCommand([...split, '--check'])).toBe(1);
  expect(await runCommand(split)).toBe(0);
  expect(await runCommand([...split, '--check'])).toBe(0);
  // In one file again, no part is left.
  expect(await runCommand(['types', folder])).toBe(0);
  expect(parts()).toEqual(['mine.ts']);
  for (const out of ['-', join(folder, 'types.mts.txt')]) {
    expect(await runCommand([...split, '--out', out])).toBe(78);
  }
  writeFileSync(join(folder, 'trellis.toml'), '[types]\nsplit = true\n');
  expect(await runCommand(['types', folder])).toBe(0);
  expect(parts()).toEqual(['a.ts', 'elements.ts', 'mine.ts']);
});

test('a module of more than 2 MiB is refused, with the way out', async () => {
  const properties = Array.from({ length: 400 }, (_, i) => `property${i}: String`).join(', ');
  const queries = Array.from({ length: 190 }, (_, i) => {
    return `QUERY q${i}() => x <- N<Big>::!{property${i}} RETURN x\n`;
  });
  source(`N::Big { ${properties} }\n${queries.join('')}`);
  expect(await runCommand(['types', folder])).toBe(78);
  expect(vi.mocked(console.error).mock.calls.flat().join()).toContain('--split');
  expect(text()).toBe('');
  expect(await runCommand(['types', folder, '--split'])).toBe(0);
});

test('trellis dev writes them to the configured path, and continues if it cannot', () => {
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
