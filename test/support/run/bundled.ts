// A child of a test as JavaScript: what is TypeScript in one file, packages where they are installed.
import { rmSync } from 'node:fs';
import { join, parse } from 'node:path';
import { buildSync } from 'esbuild';
import { root } from '../project.js';

/**
 * Bundles a file, named from the project root, at a depth where the engine finds its compiled module; goes with this
 * process.
 */
export function bundled(entry: string): string {
  const path = join(root, `dist/test/${parse(entry).name}-${process.pid}.mjs`);
  buildSync({
    entryPoints: [join(root, entry)],
    outfile: path,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'silent',
  });
  process.once('exit', () => rmSync(path, { force: true }));
  return path;
}
