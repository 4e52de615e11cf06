// `trellis version` prints the version.
import { exitCodes } from '../lifecycle/exit-code.js';
import { packageVersion } from '../lifecycle/program-file.js';
import type { Command } from '../terminal/command.js';
import { printLine } from '../telemetry/log.js';

export const version: Command = {
  name: 'version',
  about: 'Show the version of TrellisDB.',
  flags: {},
  run: () => {
    printLine(packageVersion());
    return exitCodes.ok;
  },
};
