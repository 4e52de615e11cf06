// `trellis fmt` on files: what it writes, what it leaves alone, what it says.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runCommand } from '../../../server/command/cli.js';

test('W10 trellis fmt formats files, leaves invalid ones unchanged, and checks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-fmt-'));
  const err = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const [loose, faulty] = [join(folder, 'a.hx'), join(folder, 'b.hx')];
  try {
    writeFileSync(loose, '\uFEFFN::P{a:U8}\r\n');
    const said = () => err.mock.calls.at(-1)![0] as string;
    expect(await runCommand(['fmt', folder, '--check'])).toBe(1);
    expect(said()).toBe('1 file: 1 to change, 0 faulty');
    expect(readFileSync(loose, 'utf8')).toBe('\uFEFFN::P{a:U8}\r\n');
    writeFileSync(faulty, 'N::P {');
    expect(await runCommand(['fmt', folder])).toBe(65);
    expect(err.mock.calls.some(([line]) => /E001/.test(String(line)))).toBe(true);
    expect(said()).toBe('2 files: 1 changed, 1 faulty');
    expect([readFileSync(loose, 'utf8'), readFileSync(faulty, 'utf8')]).toEqual([
      'N::P { a: U8 }\n',
      'N::P {',
    ]);
    expect(await runCommand(['fmt', loose, '--check'])).toBe(0);
    expect(await runCommand(['fmt', join(folder, 'c.hx')])).toBe(78);
    rmSync(faulty);
    expect(await runCommand(['fmt', '--project', folder, '--check'])).toBe(0);
  } finally {
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true });
  }
});
