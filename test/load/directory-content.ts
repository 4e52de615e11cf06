// Describes a directory after a `load` or `restore` that may have been interrupted.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { TrellisError } from '../../engine/base/errors.js';
import { defaultLimits } from '../../engine/base/limits.js';
import { dump } from '../../engine/database/maintenance/dump.js';
import { openDataDirectory } from '../../engine/storage/folder/manifest.js';
import { openStorage } from '../../engine/storage/open-storage.js';

/** What a start finds: nothing, all of `text`, how much else, or the code that it is refused with. */
export function foundIn(path: string, text: Buffer): string {
  if (!existsSync(path) || readdirSync(path).length === 0) return 'nothing';
  try {
    const directory = openDataDirectory(path);
    const again = openStorage(join(path, 'graph'), { limits: defaultLimits, mode: 'attach' });
    const all = Buffer.concat([...dump(again)]);
    again.close();
    directory.close({ clean: true });
    return all.equals(text) ? 'all' : `${all.length} of ${text.length} bytes`;
  } catch (error) {
    if (error instanceof TrellisError) return error.code;
    throw error;
  }
}
