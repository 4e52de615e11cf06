// Where the program itself lies: compiled file by file, or bundled into one folder.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fail } from '../../engine/internal.js';

/** The file to run for another process of this program. */
export function programFile(): string {
  const beside = fileURLToPath(new URL('./main.js', import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL('../main.js', import.meta.url));
}

/** Of the package this file belongs to, compiled or not. */
export function packageVersion(): string {
  for (const up of ['../package.json', '../../package.json', '../../../package.json']) {
    try {
      const text = readFileSync(new URL(up, import.meta.url), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      // One level further up.
    }
  }
  return '0.0.0';
}

/** The folder of project templates, which is shipped as it stands in the sources. */
export function templateFolder(): string {
  const places = ['../../server/template', '../template', '../../../server/template'];
  const paths = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return paths.find(existsSync) ?? fail('CONFIG_INVALID', { what: 'There are no templates here.' });
}
