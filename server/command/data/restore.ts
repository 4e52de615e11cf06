// `trellis restore` (operations.md 8): a backup into a data directory that is empty.
import { resolve } from 'node:path';
import { armFailpoint, restore } from '../../../engine/index.js';
import { exitCodes } from '../../process/exit-code.js';
import { ignoreInGit } from '../../project/git-ignore.js';
import { configOf } from '../../project/line-config.js';
import { type Command, projectFlags } from '../../terminal/command.js';
import { shownPath } from '../../terminal/wording.js';
import { printLine } from '../../observe/log.js';

export const restoreBackup: Command = {
  name: 'restore',
  about: 'Fills an empty data directory from a backup.',
  words: 'BACKUP',
  flags: projectFlags,
  run: async (line) => {
    const config = configOf(line);
    const from = resolve(line.words[0]!);
    armFailpoint(config.failpoint);
    await restore(from, config.dataDir);
    ignoreInGit(config.dataDir);
    printLine(`restored ${shownPath(config.dataDir)} from ${shownPath(from)}`);
    return exitCodes.ok;
  },
};
