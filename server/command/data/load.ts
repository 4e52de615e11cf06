// `trellis load` reads a dump into an empty data directory. `trellis import` reads one into other data.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  DumpReader,
  fail,
  mayBeFilled,
  openDataDirectory,
  openStorage,
} from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { ignoreInGit } from '../../project/git-ignore.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, projectFlags } from '../../terminal/command.js';
import { counted, shownPath } from '../../terminal/format.js';
import { printLine } from '../../telemetry/log.js';

export const load: Command = {
  name: 'load',
  about: 'Restore a dump into an empty data directory.',
  words: 'FILE',
  flags: projectFlags,
  run: (line) => loadDump(resolve(line.words[0]!), configFromArguments(line)),
};

export async function loadDump(from: string, config: Config): Promise<number> {
  if (!existsSync(from)) {
    const hint = '`trellis dump FILE` writes one.';
    fail('CONFIG_INVALID', { what: `There is no file ${shownPath(from)}.` }, { hint });
  }
  if (statSync(from).isDirectory())
    fail('CONFIG_INVALID', { what: `${shownPath(from)} is a folder, not a dump.` });
  const { dataDir, limits } = config;
  if (!mayBeFilled(dataDir)) {
    const hint = 'Rows of a dump go into other data with `trellis import`.';
    fail('DATA_DIR_BAD', { what: `${shownPath(dataDir)} is not empty` }, { hint });
  }
  const directory = openDataDirectory(dataDir, { unfinished: true });
  let clean = false;
  let count = 0;
  try {
    const storage = openStorage(join(dataDir, 'graph'), {
      limits,
      mode: 'attach',
      vectorTypes: config.vectorTypes,
    });
    try {
      const { enabled: textEnabled, language: textLanguage } = config.text;
      const reader = new DumpReader(storage, { limits, textEnabled, textLanguage });
      for await (const block of createReadStream(from, { highWaterMark: 1 << 20 })) {
        reader.write(block as Uint8Array);
      }
      reader.end();
      count = reader.count;
    } finally {
      await storage.close();
    }
    clean = true;
    ignoreInGit(dataDir);
  } finally {
    directory.close({ clean });
  }
  printLine(`loaded ${counted(count, 'element')} into ${shownPath(dataDir)}`);
  return exitCodes.ok;
}
