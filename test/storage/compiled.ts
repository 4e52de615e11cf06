// The storage sources as JavaScript in a folder of their own, for tests that need other processes or threads: those cannot
// load TypeScript.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ModuleKind, ScriptTarget, transpile } from 'typescript';

const root = new URL('../..', import.meta.url).pathname;

/** Path of the folder; it holds base/ and storage/ as modules, and goes when the process ends. */
export function compileStorage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-compiled-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const room of ['base', 'storage']) {
    mkdirSync(join(folder, room));
    for (const file of readdirSync(join(root, 'engine', room))) {
      const source = readFileSync(join(root, 'engine', room, file), 'utf8');
      const output = transpile(source, { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 });
      writeFileSync(join(folder, room, file.replace(/\.ts$/, '.js')), output);
    }
  }
  return folder;
}
