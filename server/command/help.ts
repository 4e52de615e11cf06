// `trellis help` prints all commands, one sentence each; `trellis help COMMAND` prints the flags of one.
import { excerpt, fail, nearestName } from '../../engine/internal.js';
import { exitCodes } from '../lifecycle/exit-code.js';
import { packageVersion } from '../lifecycle/program-file.js';
import type { Command } from '../terminal/command.js';
import { columns, helpOf } from '../terminal/parse-flags.js';
import { printLine } from '../telemetry/log.js';

/**
 * Returns the command `help` for a table of commands. The table is read when the command runs: `help` is
 * added to it.
 */
export function helpCommand(table: readonly Command[]): Command {
  return {
    name: 'help',
    about: 'Show help.',
    words: '[COMMAND]',
    flags: {},
    run: ({ words }) => {
      printLine(words[0] === undefined ? overview(table) : helpOf(find(table, words[0])));
      return exitCodes.ok;
    },
  };
}

function find(table: readonly Command[], name: string): Command {
  const names = table.map((each) => each.name);
  const near = nearestName(name, names);
  const hint = near === undefined ? 'Run `trellis help`.' : `Did you mean ${near}?`;
  return (
    table.find((each) => each.name === name) ??
    fail('CONFIG_INVALID', { what: `There is no command ${excerpt(name)}.` }, { hint })
  );
}

function overview(table: readonly Command[]): string {
  return [
    `TrellisDB ${packageVersion()}: a graph and vector database server`,
    'Usage: trellis COMMAND [WORDS] [--project DIR] [--data DIR]',
    columns(table.map(({ name, about }) => [name, about])),
    'Run `trellis help COMMAND` for the words and flags of a command.',
  ].join('\n\n');
}
