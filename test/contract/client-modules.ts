// The modules of `trellisdb/client`, for projects of their own to which tests copy them: those of its folder, and
// those of the engine that they share, in one folder.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../support/project.js';

const shared = ['engine/json/json-text.ts', 'engine/base/float.ts'];

/** Name to text. */
export function clientModules(): [string, string][] {
  const folder = 'server/client';
  const own = readdirSync(join(root, folder)).filter((name) => name.endsWith('.ts'));
  return [...own.map((name) => join(folder, name)), ...shared].map((path) => [
    basename(path),
    readFileSync(join(root, path), 'utf8').replace(
      /from '(?:\.\.\/)+(?:\w+\/)*([\w-]+\.js)'/g,
      "from './$1'",
    ),
  ]);
}
