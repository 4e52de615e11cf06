// `trellis import`: files into a database, either by opening its data directory or through a running
// server. Shows how far it is on a terminal, keeps rows that were refused in a file, and goes on
// where it stopped when it is run again with the same files.
import { appendFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import {
  type ElementType,
  type FedRow,
  LoadFeed,
  errorMessage,
  fail,
  openDatabase,
} from '../../engine/index.js';
import type { Config } from '../config/config.js';
import { dateReader } from '../import/csv-date.js';
import { databaseOptions } from '../config/database-options.js';
import { exitCodes } from '../process/exit-code.js';
import { type ImportFile, ImportSource, findFiles, nameOf } from '../import/import-source.js';
import { createLog, printLine } from '../observe/log.js';
import { loadProgram, programOptions } from '../project/program.js';
import type { ImportTarget } from '../import/import-target.js';
import { ignoreInGit } from '../project/git-ignore.js';
import { configOf } from '../project/line-config.js';
import { type Command, type CommandLine, keyFlag, projectFlags } from '../terminal/command.js';
import { ProgressBar } from '../terminal/progress-bar.js';
import { RemoteImport } from '../import/remote-import.js';

const kinds = ['node', 'edge', 'vector'] as const;

export const importFiles: Command = {
  name: 'import',
  about: 'Loads files of rows (NDJSON, CSV) into the data, or into a running server.',
  words: '[PROJECT_DIR] FILE...',
  flags: {
    ...projectFlags,
    ...keyFlag,
    url: { value: 'URL', about: 'The server to load into, such as http://127.0.0.1:6969.' },
    node: { value: 'TYPE', about: 'The rows of a CSV file are nodes of this type.' },
    edge: { value: 'TYPE', about: 'The rows of a CSV file are edges of this type.' },
    vector: { value: 'TYPE', about: 'The rows of a CSV file are vectors of this type.' },
    rejects: { value: 'FILE', about: 'Where refused rows go; FILE.rejects.ndjson unless said.' },
    'date-format': { value: 'FORMAT', about: 'How dates are written in a CSV file.' },
  },
  run: importCommand,
};

/** Gives 0, or 1 when rows were refused. */
async function importCommand(line: CommandLine): Promise<number> {
  const [first] = line.words;
  const hasProject =
    first !== undefined && statSync(first, { throwIfNoEntry: false })?.isDirectory() === true;
  const paths = hasProject ? line.words.slice(1) : line.words;
  if (paths.length === 0) fail('CONFIG_INVALID', { what: 'trellis import needs a file.' });
  const config = configOf(line, hasProject ? first : undefined);
  const files = findFiles(paths, (path) => csvType(line, config, path));
  const format = line.flags.get('date-format');
  const source = new ImportSource(files, format === undefined ? undefined : dateReader(format));
  const rejects = new RejectFile(line.flags.get('rejects') ?? `${paths[0]}.rejects.ndjson`, source);
  const url = line.flags.get('url');
  const started = performance.now();
  const target =
    url === undefined
      ? await importHere(config, files, source, rejects)
      : await importThere(url, line, config, files, source, rejects);
  report(target, rejects, (performance.now() - started) / 1000);
  return target.rejected === 0 ? exitCodes.ok : exitCodes.diagnostics;
}

/** The type of the rows of a CSV file: a flag says it, or the name of the file. */
function csvType(line: CommandLine, config: Config, path: string): ElementType {
  const { program } = loadProgram(programOptions(config));
  if (program === undefined) fail('SOURCE_INVALID', { what: 'The sources have errors.' });
  const { schema } = program;
  const all: Record<(typeof kinds)[number], readonly ElementType[]> = {
    node: schema.nodes,
    edge: schema.edges,
    vector: schema.vectors,
  };
  for (const kind of kinds) {
    const given = line.flags.get(kind);
    if (given === undefined) continue;
    const type = all[kind].find(({ name }) => name === given);
    return type ?? fail('CONFIG_INVALID', { what: `The schema has no ${kind} type ${given}.` });
  }
  const name = basename(path).replace(/\.csv$/i, '');
  const types = kinds.flatMap((kind) => all[kind].filter((type) => type.name === name));
  if (types.length === 1) return types[0]!;
  const hint = 'Say what its rows are with --node, --edge or --vector.';
  return fail('CONFIG_INVALID', { what: `No single type is called ${name}.` }, { hint });
}

async function importHere(
  config: Config,
  files: readonly ImportFile[],
  source: ImportSource,
  rejects: RejectFile,
): Promise<ImportTarget> {
  const { program } = loadProgram(programOptions(config));
  if (program === undefined) fail('SOURCE_INVALID', { what: 'The sources have errors.' });
  const log = createLog({ level: 'warn', format: 'text' });
  const database = await openDatabase(databaseOptions(config, program, log));
  try {
    const load = database.load(nameOf(files));
    const feed = new LoadFeed(load, { onRejects: (rows) => rejects.add(rows) });
    try {
      await pump(files, source, feed);
      await load.finish();
    } catch (error) {
      await load.close();
      throw error;
    }
    return feed;
  } finally {
    await database.close();
    ignoreInGit(config.dataDir);
  }
}

async function importThere(
  url: string,
  line: CommandLine,
  config: Config,
  files: readonly ImportFile[],
  source: ImportSource,
  rejects: RejectFile,
): Promise<ImportTarget> {
  const key = line.flags.get('key') ?? config.auth.api_key;
  const remote = new RemoteImport(url, key, nameOf(files), (rows) => rejects.add(rows));
  await pump(files, source, remote);
  return remote;
}

async function pump(
  files: readonly ImportFile[],
  source: ImportSource,
  target: ImportTarget,
): Promise<void> {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const bar = new ProgressBar(process.stderr, total);
  const shown = (): number => target.nodes + target.edges + target.vectors;
  for await (const block of source.blocks()) {
    await target.write(block);
    bar.show(source.readBytes, shown());
  }
  await target.end();
  bar.end();
}

/** Refused rows as NDJSON; the file is made when there is one. */
class RejectFile {
  isUsed = false;

  constructor(
    readonly path: string,
    private readonly source: ImportSource,
  ) {}

  add(rows: readonly FedRow[]): void {
    const lines = rows.map(({ line, error, text }) => {
      const place = this.source.placeOf(line);
      const { code } = error;
      const message = errorMessage(error);
      return `${JSON.stringify({ file: place.path, line: place.line, code, message, row: text })}\n`;
    });
    appendFileSync(this.path, lines.join(''), { mode: 0o600 });
    this.isUsed = true;
  }
}

function report(target: ImportTarget, rejects: RejectFile, seconds: number): void {
  const { nodes, edges, vectors, rejected, resumed, repeated } = target;
  const rate = Math.round((nodes + edges + vectors) / Math.max(seconds, 0.001));
  const parts = [`${nodes} nodes`, `${edges} edges`, `${vectors} vectors`];
  if (repeated) {
    printLine(`these files were imported before: ${parts.join(', ')}; nothing was loaded again`);
    return;
  }
  const before = resumed > 0 ? ` (after ${resumed} rows loaded before)` : '';
  printLine(`imported ${parts.join(', ')}${before} in ${seconds.toFixed(1)} s, ${rate} rows/s`);
  if (rejected > 0) printLine(`${rejected} rows were refused: see ${rejects.path}`);
}
