// `trellis serve`: a project's server, as it runs in production.
import { openDatabase } from '../../../engine/index.js';
import { processEnvironment } from '../../config/config.js';
import { serve } from '../../lifecycle/server.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, type Flags, projectFlags } from '../../terminal/command.js';

/** `dev` takes the same. */
export const serveFlags: Flags = {
  ...projectFlags,
  host: { value: 'H', about: 'The address to listen at, or unix:PATH; 127.0.0.1 unless said.' },
  port: { value: 'N', about: 'The port to listen at; 6969 unless said, 0 for a free one.' },
  workers: { value: 'N', about: 'Threads that read, at most; one less than there are processors.' },
  watch: { about: 'Reloads the sources when they change.' },
  'no-watch': { about: 'Reloads only when it is asked to.' },
  'exit-when-idle': {
    value: 'TIME',
    about: 'Ends when nobody has asked for so long, such as 15m.',
  },
  'insecure-no-auth': { about: 'Answers other machines although there are no API keys.' },
  'allow-preload': { about: 'Starts although LD_PRELOAD puts foreign code into the server.' },
};

export const serveProject: Command = {
  name: 'serve',
  about: 'Serves a project over HTTP until it is told to stop.',
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
