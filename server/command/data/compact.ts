// `trellis compact` rewrites the data file without its free pages.
import { compactGraph } from '../../../engine/internal.js';
import { failNoData, hasData } from '../support/data-at-rest.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, projectFlags } from '../../terminal/command.js';
import { shownPath } from '../../terminal/format.js';
import { printLine } from '../../telemetry/log.js';

export const compact: Command = {
  name: 'compact',
  about: 'Compact the data file. Stop the server first.',
  flags: projectFlags,
  run: async (line) => {
    const { dataDir, limits } = configFromArguments(line);
    if (!hasData(dataDir)) failNoData(dataDir);
    const { before, after } = await compactGraph(dataDir, limits);
    printLine(`compacted ${shownPath(dataDir)}: ${before} bytes before, ${after} after`);
    return exitCodes.ok;
  },
};
