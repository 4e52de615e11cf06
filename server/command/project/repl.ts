// `trellis repl` runs a shell for queries, on the running server or on the data directory.
import { dirname, join } from 'node:path';
import { makeOwnFolder, writeOwnFile } from '../../folder/generated-file.js';
import { readProjectFile } from '../../folder/project-file.js';
import { printErrorLine } from '../../telemetry/log.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { requireProgram } from '../../project/compiled-project.js';
import { configFromArguments } from '../support/cli-config.js';
import { openQueryRunner } from '../../repl/query-runner.js';
import { Repl } from '../../repl/repl.js';
import { type Command, type CommandLine, keyFlag, projectFlags } from '../../terminal/command.js';

export const repl: Command = {
  name: 'repl',
  about: 'Start an interactive shell for queries.',
  words: '[PROJECT_DIR]',
  flags: { ...projectFlags, ...keyFlag, write: { about: 'Allow queries that write.' } },
  run: (line) => runShell(line),
};

async function runShell(line: CommandLine): Promise<number> {
  const config = configFromArguments(line, line.words[0]);
  const { program, sources } = requireProgram(config);
  const write = line.switches.has('write');
  const runner = await openQueryRunner(config, program, write);
  const { stdin: input, stdout: output } = process;
  const terminal = input.isTTY === true && output.isTTY === true;
  const { limits, projectDir } = config;
  const history = terminal ? historyIn(projectDir) : [];
  if (terminal) printErrorLine('.help says what there is besides queries.');
  const shell = { program, sources, limits, runner, write, input, output, terminal, history };
  try {
    const after = await new Repl(shell).run();
    if (terminal) saveHistory(projectDir, after);
  } finally {
    await runner.close();
  }
  return exitCodes.ok;
}

const historyPath = (projectDir: string): string => join(projectDir, '.trellis', 'shell-history');

export function historyIn(projectDir: string): string[] {
  try {
    const text = readProjectFile(projectDir, historyPath(projectDir), 'shell-history') ?? '';
    return text.split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

/** If the folder is not writable, the shell runs without a history. */
export function saveHistory(projectDir: string, history: readonly string[]): void {
  const path = historyPath(projectDir);
  const rules = { within: projectDir, mode: 0o600 };
  try {
    makeOwnFolder(dirname(path), rules);
    writeOwnFile(path, `${history.join('\n')}\n`, rules);
  } catch {
    printErrorLine('The history could not be kept.');
  }
}
