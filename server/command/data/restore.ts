// `trellis restore` copies a backup into an empty data directory.
import { existsSync } from 'node:fs';
import { isAbsolute, normalize, resolve } from 'node:path';
import { armFailpoint, restore } from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { backupPath } from '../../lifecycle/backup-directory.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { ignoreInGit } from '../../project/git-ignore.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, projectFlags } from '../../terminal/command.js';
import { shownPath } from '../../terminal/format.js';
import { printLine } from '../../telemetry/log.js';

/**
 * Returns the folder of a backup: a path, or a name inside `backup.dir` as `trellis backup NAME` takes it.
 */
function findBackup(config: Config, word: string): string {
  const path = resolve(word);
  if (existsSync(path)) return path;
  const named = isName(word) ? backupPath(config, word) : path;
  return existsSync(named) ? named : path;
}

/** Whether a word is relative and stays below the folder that it is relative to. */
const isName = (word: string): boolean => !isAbsolute(word) && !normalize(word).startsWith('..');

export const restoreBackup: Command = {
  name: 'restore',
  about: 'Restore a backup into an empty data directory.',
  words: 'BACKUP',
  flags: {
    ...projectFlags,
    follow: {
      about: 'Backup of a cluster: keep following its log, instead of starting a separate history.',
    },
  },
  run: async (line) => {
    const config = configFromArguments(line);
    const from = findBackup(config, line.words[0]!);
    armFailpoint(config.failpoint);
    await restore(from, config.dataDir, { newEpoch: !line.switches.has('follow') });
    ignoreInGit(config.dataDir);
    printLine(`restored ${shownPath(config.dataDir)} from ${shownPath(from)}`);
    return exitCodes.ok;
  },
};
