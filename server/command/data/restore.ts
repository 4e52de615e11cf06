// `trellis restore` copies a backup into an empty data directory.
import { existsSync } from 'node:fs';
import { isAbsolute, normalize, resolve } from 'node:path';
import { armFailpoint, fail, mayBeFilled, restore } from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { backupDir, backupPath } from '../../lifecycle/backup-directory.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { ignoreInGit } from '../../project/git-ignore.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, projectFlags } from '../../terminal/command.js';
import { shownPath } from '../../terminal/format.js';
import { printLine } from '../../telemetry/log.js';

/**
 * Returns the folder of a backup: a path, or a name inside `backup.dir` as `trellis backup NAME` takes it.
 * Fails CONFIG_INVALID if neither exists.
 */
function findBackup(config: Config, word: string): string {
  const path = resolve(word);
  if (existsSync(path)) return path;
  const named = isName(word) ? backupPath(config, word) : path;
  if (existsSync(named)) return named;
  const dir = shownPath(backupDir(config));
  const hint = `\`trellis backup\` writes backups to ${dir} (\`backup.dir\`).`;
  return fail('CONFIG_INVALID', { what: `There is no backup ${shownPath(path)}.` }, { hint });
}

/** Whether a word is relative and stays below the folder that it is relative to. */
const isName = (word: string): boolean => !isAbsolute(word) && !normalize(word).startsWith('..');

function requireEmpty(dataDir: string): void {
  if (mayBeFilled(dataDir)) return;
  const hint =
    'Stop its server and move the directory away, or restore into another one with --data DIR.';
  fail('DATA_DIR_BAD', { what: `${shownPath(dataDir)} already has data` }, { hint });
}

export const restoreBackup: Command = {
  name: 'restore',
  about: 'Restore a backup into an empty data directory.',
  words: 'BACKUP',
  examples: ['trellis restore before-upgrade --data ./restored'],
  flags: {
    ...projectFlags,
    follow: {
      about: 'Backup of a cluster: keep following its log, instead of starting a separate history.',
    },
  },
  run: async (line) => {
    const config = configFromArguments(line);
    const from = findBackup(config, line.words[0]!);
    requireEmpty(config.dataDir);
    armFailpoint(config.failpoint);
    await restore(from, config.dataDir, { newEpoch: !line.switches.has('follow') });
    ignoreInGit(config.dataDir);
    printLine(`restored ${shownPath(config.dataDir)} from ${shownPath(from)}`);
    return exitCodes.ok;
  },
};
