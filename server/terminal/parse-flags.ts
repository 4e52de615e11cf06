// Parses command lines by the declarations of the commands, and prints help from the same declarations.
// Suggests the nearest name for a mistyped flag.
import { parseArgs } from 'node:util';
import { excerpt, fail, nearestName } from '../../engine/internal.js';
import { printErrorLine } from '../telemetry/log.js';
import type { Command, CommandLine, Flags } from './command.js';

/** Flags of every command. */
const commonFlags: Flags = { help: { about: 'Show help for the command.' } };

/**
 * Parses `--name value`, `--name=value`, `--switch` and words. Fails CONFIG_INVALID for what the command does
 * not take.
 */
export function parseCommandLine(argv: readonly string[], command: Command): CommandLine {
  const known: Flags = { ...command.flags, ...commonFlags };
  const options = Object.fromEntries(
    Object.entries(known).flatMap(([name, { value, formerly }]) => {
      const type = value === undefined ? ('boolean' as const) : ('string' as const);
      return [name, ...(formerly === undefined ? [] : [formerly])].map((each) => [each, { type }]);
    }),
  );
  options.help = Object.assign(options.help!, { short: 'h' });
  // Not strict: errors of Node do not suggest the nearest name.
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  const line: CommandLine = { words: [], flags: new Map(), switches: new Set() };
  for (const token of tokens) {
    if (token.kind === 'positional') line.words.push(token.value);
    if (token.kind !== 'option') continue;
    const { rawName, value } = token;
    const name = currentName(token.name, known);
    if (!Object.hasOwn(known, name)) refuseFlag(rawName, command, Object.keys(known));
    const isSwitch = known[name]!.value === undefined;
    if (isSwitch && value !== undefined) {
      fail('CONFIG_INVALID', { what: `--${name} takes no value.` }, hintOf(command));
    } else if (isSwitch) line.switches.add(name);
    else if (value === undefined) fail('CONFIG_INVALID', { what: `--${name} needs a value.` });
    else line.flags.set(name, value);
  }
  if (!line.switches.has('help')) checkWords(line, command);
  return line;
}

/** Returns the name of a flag, also for its former name. Warns about the former name. */
function currentName(name: string, known: Flags): string {
  if (Object.hasOwn(known, name)) return name;
  const renamed = Object.entries(known).find(([, { formerly }]) => formerly === name);
  if (renamed === undefined) return name;
  printErrorLine(`--${name} is called --${renamed[0]} now.`);
  return renamed[0];
}

function refuseFlag(name: string, command: Command, known: readonly string[]): never {
  const near = nearestName(name.replace(/^-+/, ''), known);
  const what = `trellis ${command.name} takes no ${excerpt(name)}.`;
  return fail(
    'CONFIG_INVALID',
    { what },
    near === undefined ? hintOf(command) : { hint: `Did you mean --${near}?` },
  );
}

const hintOf = (command: Command): { hint: string } => ({ hint: `Usage: ${usageOf(command)}` });

/** Fails if there are too few or too many words. A command with alternatives checks them itself. */
function checkWords({ words }: CommandLine, command: Command): void {
  const wanted = command.words?.split(' ') ?? [];
  if (wanted.includes('|')) return;
  const needed = wanted.filter((word) => !word.startsWith('['));
  const endless = wanted.some((word) => word.includes('...'));
  if (words.length < needed.length) {
    const what = `trellis ${command.name} needs ${needed.join(' ').replaceAll('.', '')}.`;
    fail('CONFIG_INVALID', { what }, hintOf(command));
  }
  if (!endless && words.length > wanted.length) {
    const what = `trellis ${command.name} does not take ${excerpt(words[wanted.length]!)}.`;
    fail('CONFIG_INVALID', { what }, hintOf(command));
  }
}

export const usageOf = ({ name, words }: Command): string =>
  `trellis ${name}${words === undefined ? '' : ` ${words}`} [FLAGS]`;

/** Returns the text of `trellis help COMMAND`. */
export function helpOf(command: Command): string {
  const rows = Object.entries({ ...command.flags, ...commonFlags }).map(
    ([flag, { value, about }]): [string, string] => [
      value === undefined ? `--${flag}` : `--${flag} ${value}`,
      about,
    ],
  );
  const examples = command.examples?.map((each) => `\n  ${each}`).join('') ?? '';
  const shown = examples === '' ? '' : `Examples:${examples}\n\n`;
  return `${command.about}\n\nUsage: ${usageOf(command)}\n\n${shown}${columns(rows)}`;
}

/** Returns lines of two columns: names, then texts. */
export function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`).join('\n');
}
