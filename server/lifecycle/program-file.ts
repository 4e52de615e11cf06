// Locates the files of the program, which is compiled file by file or bundled into one folder.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fail } from '../../engine/internal.js';

/** Returns the file to run for another process of this program. */
export function programFile(): string {
  const ownFile = fileURLToPath(new URL('./main.js', import.meta.url));
  return existsSync(ownFile) ? ownFile : fileURLToPath(new URL('../main.js', import.meta.url));
}

/**
 * Returns the version of the package that this file belongs to, compiled or not. Returns 0.0.0 without a
 * package.json.
 */
export function packageVersion(): string {
  for (const up of ['../package.json', '../../package.json', '../../../package.json']) {
    try {
      const text = readFileSync(new URL(up, import.meta.url), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      // Try one level further up.
    }
  }
  return '0.0.0';
}

/** Returns the folder of project templates, which ships unchanged from the sources. */
export function templateFolder(): string {
  const folders = ['../../server/template', '../template', '../../../server/template'];
  const paths = folders.map((folder) => fileURLToPath(new URL(folder, import.meta.url)));
  return paths.find(existsSync) ?? fail('CONFIG_INVALID', { what: 'There are no templates here.' });
}
