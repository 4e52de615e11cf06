// Packages of others that only long tests need: installed once, outside of the project, in exact
// versions, without scripts. Where the registry is not reached, the tests say so and are left out.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const installMs = 240_000;

export interface Packages {
  folder: string;
  /** The module at a path below `node_modules`. */
  // biome-ignore lint/suspicious/noExplicitAny: what others export is theirs to type
  load(path: string): Promise<any>;
}

/** `specs`: `name@version`. A text says why they are not here. */
export async function packages(...specs: string[]): Promise<Packages | string> {
  if (process.env.TRELLIS_TEST_LONG !== '1') return 'only long tests install packages of others';
  const name = createHash('sha256').update(specs.join()).digest('hex').slice(0, 12);
  const folder = join(tmpdir(), `trellis-packages-${name}`);
  const fault = existsSync(folder) ? undefined : await install(folder, specs);
  if (fault !== undefined) return fault;
  return {
    folder,
    load: (path) => {
      const { href } = pathToFileURL(join(folder, 'node_modules', path));
      return import(/* @vite-ignore */ href);
    },
  };
}

async function install(folder: string, specs: readonly string[]): Promise<string | undefined> {
  const draft = `${folder}-${process.pid}`;
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, 'package.json'), '{"private":true}');
  const argv = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...specs];
  const options = { cwd: draft, timeout: installMs };
  const fault = await new Promise<string | undefined>((resolve) => {
    execFile('npm', argv, options, (error, _, stderr) => {
      resolve(error === null ? undefined : (stderr || String(error)).trim().slice(-300));
    });
  });
  if (fault !== undefined) return `not installed: ${fault}`;
  try {
    renameSync(draft, folder);
  } catch {
    // Another test has just done the same.
  }
  return undefined;
}
