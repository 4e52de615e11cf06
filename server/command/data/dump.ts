// `trellis dump` writes every element as one line of text. It reads the data directory, or a backup that the
// running server makes for it.
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Storage, dump as dumpOf, fail, openStorage } from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { backupName, backupPath } from '../../lifecycle/backup-directory.js';
import { withStorage } from '../support/data-at-rest.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { type WriteBlock, writeNewFile } from '../support/new-file.js';
import { callServer, isLocked } from '../support/running-server.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, keyFlag, projectFlags } from '../../terminal/command.js';
import { shownPath } from '../../terminal/format.js';
import { printLine } from '../../telemetry/log.js';

export const dump: Command = {
  name: 'dump',
  about: 'Write all data to a text file for `load` or `import`.',
  words: 'FILE',
  flags: { ...projectFlags, ...keyFlag },
  run: async (line) => {
    const config = configFromArguments(line);
    const out = resolve(line.words[0]!);
    if (existsSync(out)) {
      const hint = 'A dump writes over nothing: name another file.';
      fail('CONFIG_INVALID', { what: `${shownPath(out)} exists already.` }, { hint });
    }
    // The file is created first: if that fails, no backup is made in vain.
    await writeNewFile(out, (write) => dumpInto(write, config));
    printLine(`dumped to ${shownPath(out)}`);
    return exitCodes.ok;
  },
};

async function dumpInto(write: WriteBlock, config: Config): Promise<void> {
  try {
    await withStorage(config, (storage) => dumpStorage(storage, write));
  } catch (error) {
    if (!isLocked(error)) throw error;
    await dumpServed(write, config);
  }
}

/** Dumps a backup of one commit, so that no reader holds pages of the server. Always removes the backup. */
async function dumpServed(write: WriteBlock, config: Config): Promise<void> {
  const path = backupPath(config, `dump-${backupName()}`);
  await callServer(config, 'backup', { name: path });
  try {
    const storage = openStorage(join(path, 'graph'), { limits: config.limits, mode: 'attach' });
    try {
      dumpStorage(storage, write);
    } finally {
      storage.close();
    }
  } finally {
    rmSync(path, { recursive: true });
  }
}

function dumpStorage(storage: Storage, write: WriteBlock): void {
  for (const block of dumpOf(storage)) write(block);
}
