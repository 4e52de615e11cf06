// `trellis dev` runs the server for development: it watches the sources, logs plain text, and accepts queries
// that are written in the request.
import { openDatabase } from '../../../engine/internal.js';
import { processEnvironment } from '../../config/config.js';
import { serve } from '../../lifecycle/server.js';
import { configFromArguments } from '../support/cli-config.js';
import type { Command } from '../../terminal/command.js';
import { serveFlags } from './serve.js';

const defaults = new Map([
  ['server.watch', 'true'],
  ['log.format', 'text'],
  ['server.ad_hoc_queries', 'true'],
]);

export const dev: Command = {
  name: 'dev',
  about: 'Start a development server that reloads when you save a file.',
  words: '[PROJECT_DIR]',
  flags: serveFlags,
  run: (line) => {
    const reread = () => configFromArguments(line, line.words[0], defaults);
    return serve({
      config: reread(),
      environment: processEnvironment,
      allowPreload: line.switches.has('allow-preload'),
      openDatabase,
      dev: { reread },
    });
  },
};
