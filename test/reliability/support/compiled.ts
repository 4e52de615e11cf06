// Programs and preload libraries in C, compiled where they are needed and kept per state of their
// source. Where there is no compiler, tests say so and are skipped.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/project.js';

/** Why nothing in C runs on this machine, or undefined. */
export function whyNoC(what: string): string | undefined {
  if (process.platform !== 'linux') return `${what} needs Linux`;
  const found = spawnSync('cc', ['--version'], { stdio: 'ignore' });
  return found.status === 0 ? undefined : `${what} needs a C compiler (cc)`;
}

/** The path of what `test/reliability/support/<file>` is compiled to. */
export function compiled(file: string, ...flags: string[]): string {
  const source = join(root, 'test/reliability/support', file);
  const hash = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 16);
  const cache = join(root, 'node_modules/.cache/trellis-c');
  const path = join(cache, `${file}.${hash}`);
  if (existsSync(path)) return path;
  mkdirSync(cache, { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  execFileSync('cc', ['-O2', '-o', unfinished, source, ...flags]);
  renameSync(unfinished, path);
  return path;
}
