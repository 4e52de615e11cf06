// `trellis backup` copies a database: the running server makes the copy, or this process if there is no
// server.
import { backUp } from '../../../engine/internal.js';
import { backupName, backupPath } from '../../lifecycle/backup-directory.js';
import { withStorage } from '../support/data-at-rest.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { callServer, isLocked } from '../support/running-server.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, keyFlag, projectFlags } from '../../terminal/command.js';
import { shownPath } from '../../terminal/format.js';
import { printErrorLine, printLine } from '../../telemetry/log.js';

interface Made {
  /** Cluster only. Position of the backup in the log, and whether the log is kept from this position on. */
  position?: string;
  kept?: boolean;
}

export const backup: Command = {
  name: 'backup',
  about: 'Back up the database. The server can keep running.',
  words: '[NAME]',
  examples: ['trellis backup', 'trellis backup before-upgrade'],
  flags: { ...projectFlags, ...keyFlag },
  run: async (line) => {
    const config = configFromArguments(line);
    const path = backupPath(config, line.words[0] ?? backupName());
    try {
      await withStorage(config, (storage) => backUp(storage.env, config.dataDir, path));
    } catch (error) {
      if (!isLocked(error)) throw error;
      const { position, kept: isRetained } = (await callServer(config, 'backup', {
        name: path,
      })) as Made;
      printLine(`backup ${shownPath(path)}${position === undefined ? '' : ` at ${position}`}`);
      if (isRetained === false) printErrorLine('the log of the cluster is not kept for it');
      return exitCodes.ok;
    }
    printLine(`backup ${shownPath(path)}`);
    return exitCodes.ok;
  },
};
