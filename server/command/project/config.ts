// `trellis config print` prints the effective configuration, and where each value comes from.
import { fail } from '../../../engine/internal.js';
import { printConfig } from '../../config/secrets.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, projectFlags } from '../../terminal/command.js';
import { usageOf } from '../../terminal/parse-flags.js';
import { printLine } from '../../telemetry/log.js';

export const config: Command = {
  name: 'config',
  about: 'Show the effective configuration and where each value comes from.',
  words: 'print [PROJECT_DIR]',
  flags: {
    ...projectFlags,
    host: { value: 'H', about: 'Same as for `serve`.' },
    port: { value: 'N', about: 'Same as for `serve`.' },
    workers: { value: 'N', about: 'Same as for `serve`.' },
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
