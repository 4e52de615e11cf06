// `trellis backup` (operations.md 8): by the running server, or from the directory itself.
import { backUp } from '../../../engine/index.js';
import { backupName, backupPath } from '../../lifecycle/backup-directory.js';
import { withStorage } from '../support/data-at-rest.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { askServer, isLocked } from '../support/running-server.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, keyFlag, projectFlags } from '../../terminal/command.js';
import { shownPath } from '../../terminal/format.js';
import { printErrorLine, printLine } from '../../telemetry/log.js';

interface Made {
  /** Of a node of a cluster: where the log goes on behind it, and whether it is kept from there. */
  position?: string;
  kept?: boolean;
}

export const backup: Command = {
  name: 'backup',
  about:
    'Copies the newest state of the data into `backup.dir`, while a server goes on or at rest.',
  words: '[NAME]',
  flags: { ...projectFlags, ...keyFlag },
  run: async (line) => {
    const config = configFromArguments(line);
    const path = backupPath(config, line.words[0] ?? backupName());
    try {
      await withStorage(config, (storage) => backUp(storage.env, config.dataDir, path));
    } catch (error) {
      if (!isLocked(error)) throw error;
      const { position, kept } = (await askServer(config, 'backup', { name: path })) as Made;
      printLine(`backup ${shownPath(path)}${position === undefined ? '' : ` at ${position}`}`);
      if (kept === false) printErrorLine('the log of the cluster is not kept for it');
      return exitCodes.ok;
    }
    printLine(`backup ${shownPath(path)}`);
    return exitCodes.ok;
  },
};
