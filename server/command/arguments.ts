// The command line as data: words, flags with and without values. Knows no command; cli.ts says
// which flags each takes.
import { excerpt, fail, nearestName } from '../../engine/index.js';

export interface CommandLine {
  /** Words that are no flags, the command first. */
  words: string[];
  flags: Map<string, string>;
  /** Flags without a value. */
  switches: Set<string>;
}

export interface FlagTable {
  /** Flags that take a value. */
  values: readonly string[];
  switches: readonly string[];
}

/**
 * Reads `--name value`, `--name=value` and `--switch`; fails CONFIG_INVALID for what the table does
 * not know.
 */
export function parseArguments(argv: readonly string[], table: FlagTable): CommandLine {
  const line: CommandLine = { words: [], flags: new Map(), switches: new Set() };
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!;
    if (!word.startsWith('--')) {
      line.words.push(word);
      continue;
    }
    const equals = word.indexOf('=');
    const name = equals < 0 ? word.slice(2) : word.slice(2, equals);
    if (table.switches.includes(name) && equals < 0) line.switches.add(name);
    else if (table.values.includes(name)) {
      const value = equals < 0 ? argv[++i] : word.slice(equals + 1);
      if (value === undefined) fail('CONFIG_INVALID', { what: `--${name} needs a value.` });
      line.flags.set(name, value!);
    } else refuseFlag(name, table);
  }
  return line;
}

function refuseFlag(name: string, { values, switches }: FlagTable): never {
  const known = [...values, ...switches];
  const near = nearestName(name, known);
  const list = known.map((flag) => `--${flag}`).join(', ');
  const hint = near === undefined ? `Known here: ${list}.` : `Did you mean --${near}?`;
  return fail('CONFIG_INVALID', { what: `--${excerpt(name)} is not known here.` }, { hint });
}
