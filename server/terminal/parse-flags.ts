// The command line as data: what a command takes, said once for the reading of arguments, for its
// help and for the nearest name of what was mistyped. Knows no command.
import { parseArgs } from 'node:util';
import { excerpt, fail, nearestName } from '../../engine/index.js';
import type { Command, CommandLine, Flags } from './command.js';

/** Every command takes them, so none says so. */
const everywhere: Flags = { help: { about: 'Says what the command takes.' } };

/**
 * Reads `--name value`, `--name=value`, `--switch` and words; fails CONFIG_INVALID for what the
 * command does not take.
 */
export function parseCommandLine(argv: readonly string[], command: Command): CommandLine {
  const known: Flags = { ...command.flags, ...everywhere };
  const options = Object.fromEntries(
    Object.entries(known).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  options.help = Object.assign(options.help!, { short: 'h' });
  // Not strict: Node's own words for a fault know nothing of the nearest name.
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  const line: CommandLine = { words: [], flags: new Map(), switches: new Set() };
  for (const token of tokens) {
    if (token.kind === 'positional') line.words.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
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

function refuseFlag(given: string, command: Command, known: readonly string[]): never {
  const near = nearestName(given.replace(/^-+/, ''), known);
  const what = `trellis ${command.name} takes no ${excerpt(given)}.`;
  return fail(
    'CONFIG_INVALID',
    { what },
    near === undefined ? hintOf(command) : { hint: `Did you mean --${near}?` },
  );
}

const hintOf = (command: Command): { hint: string } => ({ hint: `Usage: ${usageOf(command)}` });

/** Too few or too many; what alternatives take, their command says. */
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

/** What `trellis help COMMAND` prints. */
export function helpOf(command: Command): string {
  const rows = Object.entries({ ...command.flags, ...everywhere }).map(
    ([flag, { value, about }]): [string, string] => [
      value === undefined ? `--${flag}` : `--${flag} ${value}`,
      about,
    ],
  );
  return `${command.about}\n\nUsage: ${usageOf(command)}\n\n${columns(rows)}`;
}

/** Names with what they mean beside them. */
export function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`).join('\n');
}
