// The modules of `trellisdb/client`, for projects of their own to which tests copy them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/project.js';

/** Name to text. */
export function clientModules(): [string, string][] {
  const folder = join(root, 'server/client');
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts'));
  return names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
}
