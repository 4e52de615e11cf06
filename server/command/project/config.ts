// `trellis config print`: the configuration in force, and where each value comes from.
import { fail } from '../../../engine/index.js';
import { printConfig } from '../../config/secrets.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, projectFlags } from '../../terminal/command.js';
import { usageOf } from '../../terminal/parse-flags.js';
import { printLine } from '../../telemetry/log.js';

export const config: Command = {
  name: 'config',
  about: 'Prints the configuration in force, and where each value comes from.',
  words: 'print [PROJECT_DIR]',
  flags: {
    ...projectFlags,
    host: { value: 'H', about: 'As `serve` takes it.' },
    port: { value: 'N', about: 'As `serve` takes it.' },
    workers: { value: 'N', about: 'As `serve` takes it.' },
  },
  run: (line) => {
    if (line.words[0] !== 'print') {
      const hint = `Usage: ${usageOf(config)}`;
      fail('CONFIG_INVALID', { what: 'trellis config: the word is `print`.' }, { hint });
    }
    printLine(printConfig(configFromArguments(line, line.words[1])));
    return exitCodes.ok;
  },
};
