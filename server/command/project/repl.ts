// `trellis repl`: a shell for queries, over the running server or the data directory itself.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { printErrorLine } from '../../observe/log.js';
import { exitCodes } from '../../process/exit-code.js';
import { requireProgram } from '../../project/compiled-project.js';
import { configOf } from '../../project/line-config.js';
import { openAsker } from '../../shell/asker.js';
import { Repl } from '../../shell/repl.js';
import { type Command, type CommandLine, keyFlag, projectFlags } from '../../terminal/command.js';

export const repl: Command = {
  name: 'repl',
  about: 'A shell for queries: history, completion, several lines.',
  words: '[PROJECT_DIR]',
  flags: { ...projectFlags, ...keyFlag, write: { about: 'Allows queries that write.' } },
  run: (line) => runShell(line),
};

async function runShell(line: CommandLine): Promise<number> {
  const config = configOf(line, line.words[0]);
  const { program, sources } = requireProgram(config);
  const write = line.switches.has('write');
  const asker = await openAsker(config, program, write);
  const { stdin: input, stdout: output } = process;
  const terminal = input.isTTY === true && output.isTTY === true;
  const path = join(config.projectDir, '.trellis', 'shell-history');
  const { limits } = config;
  const history = terminal ? historyIn(path) : [];
  if (terminal) printErrorLine('.help says what there is besides queries.');
  const shell = { program, sources, limits, asker, write, input, output, terminal, history };
  try {
    const after = await new Repl(shell).run();
    if (terminal) keep(path, after);
  } finally {
    await asker.close();
  }
  return exitCodes.ok;
}

function historyIn(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

/** Where the folder cannot be written there is no history, which is no reason to fail. */
function keep(path: string, history: readonly string[]): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${history.join('\n')}\n`, { mode: 0o600 });
  } catch {
    printErrorLine('The history could not be kept.');
  }
}
