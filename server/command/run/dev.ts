// `trellis dev`: `serve` for the one who edits the sources: it watches them, speaks plain text,
// and runs queries that are written in the call.
import { openDatabase } from '../../../engine/index.js';
import { processEnvironment } from '../../config/config.js';
import { serve } from '../../lifecycle/server.js';
import { configFromArguments } from '../support/cli-config.js';
import type { Command } from '../../terminal/command.js';
import { serveFlags } from './serve.js';

const standard = new Map([
  ['server.watch', 'true'],
  ['log.format', 'text'],
  ['server.ad_hoc_queries', 'true'],
]);

export const dev: Command = {
  name: 'dev',
  about: 'Serves a project for whoever edits it: watches the sources, says what goes on.',
  words: '[PROJECT_DIR]',
  flags: serveFlags,
  run: (line) => {
    const reread = () => configFromArguments(line, line.words[0], standard);
    return serve({
      config: reread(),
      environment: processEnvironment,
      allowPreload: line.switches.has('allow-preload'),
      openDatabase,
      dev: { reread },
    });
  },
};
