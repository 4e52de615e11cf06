// `trellis types`: the schema and the queries of a project as one TypeScript module (client.md 4).
// Opens no data and no socket.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { countUnknown, excerpt, fail, printTypeScript } from '../../../engine/index.js';
import { printErrorLine, printLine } from '../../observe/log.js';
import { exitCodes } from '../../process/exit-code.js';
import { packageVersion } from '../../process/program-file.js';
import { requireProgram } from '../../project/compiled-project.js';
import { configOf } from '../../project/line-config.js';
import { type Command, type CommandLine, projectFlags } from '../../terminal/command.js';
import { counted, shownPath } from '../../terminal/wording.js';

const int64 = ['number', 'bigint', 'string'] as const;
const dates = ['string', 'date'] as const;

export const types: Command = {
  name: 'types',
  about: 'Writes the types of schema and queries as TypeScript, for trellisdb/client and open().',
  words: '[PROJECT_DIR]',
  flags: {
    ...projectFlags,
    out: {
      value: 'FILE',
      about: 'Where to; PROJECT/trellis.gen.ts unless said, - is the terminal.',
    },
    int64: { value: 'number|bigint|string', about: 'What 64-bit integers of answers become.' },
    dates: { value: 'string|date', about: 'What dates of answers become.' },
    check: { about: 'Ends with 1 when the file is not what would be written.' },
  },
  run: (line) => writeTypes(line),
};

function writeTypes(line: CommandLine): number {
  const config = configOf(line, line.words[0]);
  const { program, sources } = requireProgram(config);
  const text = printTypeScript(program, {
    version: packageVersion(),
    files: sources.length,
    int64: chosen(line, 'int64', int64),
    dates: chosen(line, 'dates', dates),
  });
  for (const { name, output } of program.queries) {
    const { unknown } = countUnknown(output);
    if (unknown > 0) printErrorLine(`${name}: ${counted(unknown, 'member')} of unknown type.`);
  }
  const out = line.flags.get('out');
  if (out === '-') {
    printLine(text.trimEnd());
    return exitCodes.ok;
  }
  const path = resolve(out ?? join(config.projectDir, 'trellis.gen.ts'));
  const isThere = existsSync(path) && readFileSync(path, 'utf8') === text;
  if (line.switches.has('check')) {
    if (!isThere) printErrorLine(`${shownPath(path)} is not up to date: run \`trellis types\`.`);
    return isThere ? exitCodes.ok : exitCodes.diagnostics;
  }
  if (!isThere) writeFileSync(path, text);
  printLine(`${shownPath(path)}: ${counted(program.queries.length, 'query', 'queries')}`);
  return exitCodes.ok;
}

function chosen<T extends string>({ flags }: CommandLine, name: string, allowed: readonly T[]): T {
  const given = flags.get(name) ?? allowed[0]!;
  const found = allowed.find((each) => each === given);
  const what = `--${name} is one of ${allowed.join(', ')}, not ${excerpt(given)}.`;
  return found ?? fail('CONFIG_INVALID', { what });
}
