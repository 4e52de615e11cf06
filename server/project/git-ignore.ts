// Keeps data out of version control, and thus out of packages made from a checkout: every `.trellis` folder
// has a `.gitignore` that ignores the whole folder.
import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Makes Git ignore a new `.trellis` folder. For a data directory elsewhere, the owner decides. */
export function ignoreInGit(dataDir: string): void {
  const folder = dirname(dataDir);
  const path = join(folder, '.gitignore');
  if (basename(folder) !== '.trellis' || !existsSync(folder) || existsSync(path)) return;
  try {
    writeFileSync(path, '*\n', { flag: 'wx' });
  } catch {
    // Ignore the error: the data do not depend on this file.
  }
}
