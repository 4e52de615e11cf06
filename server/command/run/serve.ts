// `trellis serve` runs the server of a project in production.
import { openDatabase } from '../../../engine/internal.js';
import { processEnvironment } from '../../config/config.js';
import { serve } from '../../lifecycle/server.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, type Flags, projectFlags } from '../../terminal/command.js';

/** Flags of `serve` and `dev`. */
export const serveFlags: Flags = {
  ...projectFlags,
  host: { value: 'H', about: 'Listen address, or unix:PATH (default: 127.0.0.1).' },
  port: { value: 'N', about: 'Listen port, 0 for any free port (default: 6969).' },
  workers: { value: 'N', about: 'Maximum number of reader threads (default: CPU cores - 1).' },
  watch: { about: 'Reload the sources when they change (default in `dev`).' },
  'no-watch': { about: 'Reload only on request (default in `serve`).' },
  'exit-when-idle': {
    value: 'TIME',
    about: 'Exit after this long without a request, for example 15m.',
  },
  'insecure-no-auth': { about: 'Accept requests from other machines without an API key. Unsafe.' },
  'allow-preload': { about: 'Start even if LD_PRELOAD is set.' },
};

export const serveProject: Command = {
  name: 'serve',
  about: 'Start the server.',
  words: '[PROJECT_DIR]',
  flags: serveFlags,
  run: (line) =>
    serve({
      config: configFromArguments(line, line.words[0]),
      environment: processEnvironment,
      allowPreload: line.switches.has('allow-preload'),
      openDatabase,
    }),
};
