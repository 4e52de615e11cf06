// `trellis backup` (operations.md 8): by the running server, or from the directory itself.
import { backUp } from '../../../engine/index.js';
import { backupName, backupPath } from '../../process/backup-place.js';
import { withStorage } from '../../process/data-at-rest.js';
import { exitCodes } from '../../process/exit-code.js';
import { askServer, isLocked } from '../../process/running-server.js';
import { configOf } from '../../project/line-config.js';
import { type Command, keyFlag, projectFlags } from '../../terminal/command.js';
import { shownPath } from '../../terminal/wording.js';
import { printLine } from '../../observe/log.js';

export const backup: Command = {
  name: 'backup',
  about:
    'Copies the newest state of the data into `backup.dir`, while a server goes on or at rest.',
  words: '[NAME]',
  flags: { ...projectFlags, ...keyFlag },
  run: async (line) => {
    const config = configOf(line);
    const path = backupPath(config, line.words[0] ?? backupName());
    try {
      await withStorage(config, (storage) => backUp(storage.env, config.dataDir, path));
    } catch (error) {
      if (!isLocked(error)) throw error;
      await askServer(config, 'backup', { name: path });
    }
    printLine(`backup ${shownPath(path)}`);
    return exitCodes.ok;
  },
};
