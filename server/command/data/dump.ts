// `trellis dump` (operations.md 8): every element as one line of text, of the data at rest or of a
// copy that the running server makes.
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Storage, dump as dumpOf, fail, openStorage } from '../../../engine/index.js';
import type { Config } from '../../config/config.js';
import { backupName, backupPath } from '../../process/backup-place.js';
import { withStorage } from '../../process/data-at-rest.js';
import { exitCodes } from '../../process/exit-code.js';
import { askServer, isLocked } from '../../process/running-server.js';
import { configOf } from '../../project/line-config.js';
import { type Command, keyFlag, projectFlags } from '../../terminal/command.js';
import { shownPath } from '../../terminal/wording.js';
import { printLine } from '../../observe/log.js';

export const dump: Command = {
  name: 'dump',
  about: 'Writes all data to a file of text that `load` and `import` read.',
  words: 'FILE',
  flags: { ...projectFlags, ...keyFlag },
  run: async (line) => {
    const config = configOf(line);
    const out = resolve(line.words[0]!);
    if (existsSync(out)) {
      const hint = 'A dump writes over nothing: name another file.';
      fail('CONFIG_INVALID', { what: `${shownPath(out)} exists already.` }, { hint });
    }
    try {
      await withStorage(config, (storage) => write(storage, out));
    } catch (error) {
      if (!isLocked(error)) throw error;
      await dumpServed(config, out);
    }
    printLine(`dumped to ${shownPath(out)}`);
    return exitCodes.ok;
  },
};

/** A copy of one commit is dumped, so that no reader holds the server's pages. */
async function dumpServed(config: Config, out: string): Promise<void> {
  const path = backupPath(config, `dump-${backupName()}`);
  await askServer(config, 'backup', { name: path });
  const storage = openStorage(join(path, 'graph'), { limits: config.limits, mode: 'attach' });
  write(storage, out);
  storage.close();
  rmSync(path, { recursive: true });
}

function write(storage: Storage, out: string): void {
  const file = openSync(out, 'wx', 0o600);
  let isWhole = false;
  try {
    for (const block of dumpOf(storage)) {
      for (let at = 0; at < block.length; ) at += writeSync(file, block, at);
    }
    fsyncSync(file);
    isWhole = true;
  } finally {
    closeSync(file);
    // What is there only in part is not taken for a dump.
    if (!isWhole) rmSync(out);
  }
}
