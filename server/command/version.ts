// `trellis version`.
import { exitCodes } from '../process/exit-code.js';
import { packageVersion } from '../process/program-file.js';
import type { Command } from '../terminal/command.js';
import { printLine } from '../observe/log.js';

export const version: Command = {
  name: 'version',
  about: 'Prints the version of TrellisDB.',
  flags: {},
  run: () => {
    printLine(packageVersion());
    return exitCodes.ok;
  },
};
