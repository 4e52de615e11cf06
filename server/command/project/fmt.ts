// `trellis fmt` formats source files. A file with a syntax error stays unchanged.
import { lstatSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  fail,
  formatSource,
  printDiagnostic,
  readStandardInput,
} from '../../../engine/internal.js';
import { processEnvironment } from '../../config/config.js';
import { printErrorLine, printLine } from '../../telemetry/log.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { replaceUserFile } from '../support/new-file.js';
import { configFromArguments } from '../support/cli-config.js';
import { readSources } from '../../project/project.js';
import { colourCodeFrame, painterFor } from '../../terminal/colour.js';
import { type Command, type CommandLine, projectFlags } from '../../terminal/command.js';
import { counted, shownPath } from '../../terminal/format.js';

export const fmt: Command = {
  name: 'fmt',
  about: 'Format source files.',
  words: '[FILE...]',
  flags: {
    ...projectFlags,
    check: { about: 'Change nothing; exit with 1 if a file is not formatted.' },
  },
  run: (line) => {
    const isCheck = line.switches.has('check');
    if (line.words.length === 1 && line.words[0] === '-') return fromStdin(isCheck);
    return formatFiles(pathsOf(line), isCheck);
  },
};

function pathsOf(line: CommandLine): string[] {
  if (line.words.length > 0) return line.words.flatMap((word) => filesOf(word));
  const { projectDir, queriesDir } = configFromArguments(line);
  return readSources(projectDir, queriesDir).map(({ path }) => join(projectDir, path));
}

/** Returns a file, or the `.hx` files in a folder and below it. */
function filesOf(path: string): string[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder === undefined) fail('CONFIG_INVALID', { what: `${path} is not there.` });
  if (!isFolder) return [path];
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.hx'))
    .map((file) => join(path, file))
    .sort();
}

function formatFiles(paths: readonly string[], isCheck: boolean): number {
  let faulty = 0;
  let changed = 0;
  for (const path of paths) {
    if (lstatSync(path).isSymbolicLink()) {
      // The target of a link is formatted as a file of this project, or belongs to another project.
      printErrorLine(`${shownPath(path)} is a link: it is left as it is`);
      continue;
    }
    const source = readFileSync(path);
    const text = formatted(shownPath(path), source);
    if (text === undefined) faulty++;
    else if (!source.equals(Buffer.from(text))) {
      changed++;
      if (!isCheck) replaceUserFile(path, text);
      printLine(isCheck ? `${shownPath(path)} is not in style` : shownPath(path));
    }
  }
  const files = counted(paths.length, 'file');
  printErrorLine(`${files}: ${changed} ${isCheck ? 'to change' : 'changed'}, ${faulty} faulty`);
  if (faulty > 0) return exitCodes.source;
  return isCheck && changed > 0 ? exitCodes.diagnostics : exitCodes.ok;
}

function fromStdin(isCheck: boolean): number {
  const source = readStandardInput();
  const text = formatted('stdin', source);
  if (text === undefined) return exitCodes.source;
  if (!isCheck && text !== '') printLine(text.replace(/\n$/, ''));
  return isCheck && !source.equals(Buffer.from(text)) ? exitCodes.diagnostics : exitCodes.ok;
}

/** Returns undefined if the source has errors, which have been printed. */
function formatted(path: string, source: Buffer): string | undefined {
  const done = formatSource(path, source);
  if ('text' in done) return done.text;
  const paint = painterFor(process.stderr, processEnvironment);
  for (const each of done.diagnostics)
    printErrorLine(colourCodeFrame(paint, printDiagnostic(each, source.toString()), true));
  return undefined;
}
