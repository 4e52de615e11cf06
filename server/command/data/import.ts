// `trellis import` loads files into a database, by its data directory or through a running server. It shows
// progress on a terminal and writes rejected rows to a file. Run again with the same files, corrected or not,
// it continues where it stopped.
//
// Invariant: the last line says what is in the data, and what is not.
import { existsSync, lstatSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import {
  LoadFeed,
  type Program,
  TrellisError,
  errorHint,
  fail,
  openDatabase,
} from '../../../engine/internal.js';
import { shownKey } from '../../auth/environment-key.js';
import type { Config } from '../../config/config.js';
import { databaseOptions } from '../../config/database-options.js';
import { loadedFiles } from '../../import/file-rows.js';
import { type ImportFile, findFiles } from '../../import/import-file.js';
import { type FileSettings, readMap } from '../../import/import-map.js';
import { ImportSource, nameOf } from '../../import/import-source.js';
import type { ImportTarget } from '../../import/import-target.js';
import { ignoreInGit } from '../../project/git-ignore.js';
import { RejectFile } from '../../import/reject-file.js';
import { RemoteImport } from '../../import/remote-import.js';
import { createLog, printErrorLine, printLine } from '../../telemetry/log.js';
import { exitCodes } from '../../lifecycle/exit-code.js';
import { isLocked, findServer } from '../support/running-server.js';
import { configFromArguments } from '../support/cli-config.js';
import { loadProgram, programOptions } from '../../project/program.js';
import { type Command, type CommandLine, keyFlag, projectFlags } from '../../terminal/command.js';
import { ProgressBar } from '../../terminal/progress-bar.js';
import { counted, shownPath } from '../../terminal/format.js';

export const importFiles: Command = {
  name: 'import',
  about: 'Import NDJSON or CSV files into the data directory, or into a running server.',
  words: '[PROJECT_DIR] [[TYPE=]FILE...]',
  flags: {
    ...projectFlags,
    ...keyFlag,
    url: { value: 'URL', about: 'Server to import into, for example http://127.0.0.1:6969.' },
    mapping: {
      value: 'FILE',
      about: 'Mapping file (TOML): the type of each file, and its columns.',
      formerly: 'map',
    },
    node: { value: 'TYPE', about: 'Import the rows as nodes of this type.' },
    edge: { value: 'TYPE', about: 'Import the rows as edges of this type.' },
    vector: { value: 'TYPE', about: 'Import the rows as vectors of this type.' },
    delimiter: { value: 'C', about: 'CSV delimiter (default: a comma).' },
    'date-format': { value: 'FORMAT', about: 'Format of dates in CSV files (default: RFC 3339).' },
    'from-key': {
      value: 'PROPERTY',
      about: 'Unique property by which edges name their start node.',
    },
    'to-key': { value: 'PROPERTY', about: 'Unique property by which edges name their end node.' },
    upsert: {
      value: 'PROPERTY',
      about: 'Update the element with the same value of this unique property; otherwise create it.',
    },
    rejects: { value: 'FILE', about: 'File for rejected rows (default: FILE.rejects.ndjson).' },
    reimport: { about: 'Import files again that were imported before.', formerly: 'again' },
    replace: { about: 'Replace what an earlier import of the same files created.' },
    strict: { about: 'Stop at the first rejected row, and undo the whole import.' },
  },
  run: importCommand,
};

/** The settings of one import. */
interface Job {
  line: CommandLine;
  config: Config;
  program: Program;
  files: readonly ImportFile[];
  source: ImportSource;
  rejects: RejectFile;
  again: boolean;
  strict: boolean;
  replace: boolean;
  /** Receives the rows. Set before the first row. */
  target?: ImportTarget;
}

/** Returns exit code 0, or 1 if rows were rejected. */
async function importCommand(line: CommandLine): Promise<number> {
  const { flags } = line;
  const [first] = line.words;
  const isFolder = first !== undefined && statSync(first, { throwIfNoEntry: false })?.isDirectory();
  const project = isFolder && !flags.has('project') ? first : undefined;
  const words = project === undefined ? line.words : line.words.slice(1);
  const mapping = flags.get('mapping');
  if (words.length === 0 && mapping === undefined) {
    const hint = 'Name files, or a mapping with --mapping.';
    fail('CONFIG_INVALID', { what: 'trellis import needs a file.' }, { hint });
  }
  const config = configFromArguments(line, project);
  const { program } = loadProgram(programOptions(config));
  if (program === undefined) fail('SOURCE_INVALID', { what: 'The sources have errors.' });
  const map = mapping === undefined ? undefined : readMap(mapping);
  const files = findFiles({ words, flags: settingsOf(flags), map }, program.schema);
  const source = new ImportSource(files, program.schema);
  const rejects = new RejectFile(flags.get('rejects') ?? rejectsPath(words[0] ?? mapping!), source);
  const started = performance.now();
  source.checkHeaders();
  const has = (flag: string): boolean => line.switches.has(flag);
  const how = { again: has('reimport'), strict: has('strict'), replace: has('replace') };
  if (how.again && how.replace)
    fail('CONFIG_INVALID', { what: '--reimport and --replace cannot be used together.' });
  const job: Job = { line, config, program, files, source, rejects, ...how };
  try {
    const target = await (flags.has('url') ? importRemotely(job) : importLocally(job));
    report(target, rejects, (performance.now() - started) / 1000);
    return target.rejected === 0 ? exitCodes.ok : exitCodes.diagnostics;
  } catch (error) {
    return failed(job, error);
  }
}

/** A signal has asked the command to stop. */
class Stopped extends Error {
  constructor(readonly signal: 'SIGINT' | 'SIGTERM') {
    super(signal);
  }
}

/** Adds to an error what is in the data. */
function failed({ target, source }: Job, error: unknown): number {
  if (error instanceof TrellisError && error.code === 'ROW_REFUSED') {
    const { path, line } = source.locationOf(Number(error.data.args!.line));
    const args = { ...error.data.args, line: `${shownPath(path)}:${line}` };
    throw new TrellisError({ ...error.data, args });
  }
  if (!target?.hasListener) throw error;
  const left = leftAt(target, source);
  if (error instanceof TrellisError) {
    const hint = errorHint(error.data) ?? '';
    throw new TrellisError({ ...error.data, hint: `${hint} ${left}`.trimStart() });
  }
  printErrorLine(left);
  if (error instanceof Stopped) return 128 + constants.signals[error.signal];
  throw error;
}

function leftAt(target: ImportTarget, source: ImportSource): string {
  const { doneLine, resumed, nodes, edges, vectors } = target;
  const rows = nodes + edges + vectors + resumed;
  const again = 'The same command goes on, also when a file was mended, and loads nothing twice.';
  const are = rows === 1 ? 'is' : 'are';
  if (doneLine === 0) {
    const unheard = 'of what was sent last the server has not answered';
    return `${counted(rows, 'row')} of these files ${are} in the data; ${unheard}. ${again}`;
  }
  const { path, line } = source.locationOf(doneLine);
  const from = `what follows from ${shownPath(path)}:${line} on is not`;
  return `${counted(rows, 'row')} of these files ${are} in the data; ${from}. ${again}`;
}

const typeFlags = ['node', 'edge', 'vector'] as const;
const settingFlags = [...typeFlags, 'delimiter', 'date-format'] as const;
const keyFlags = ['from-key', 'to-key', 'upsert'] as const;

/** Flags apply to all files and override the mapping. */
function settingsOf(flags: ReadonlyMap<string, string>): FileSettings {
  const types = typeFlags.filter((name) => flags.has(name)).map((name) => `--${name}`);
  if (types.length > 1)
    fail('CONFIG_INVALID', { what: `${types.join(' and ')} exclude each other.` });
  const columns: Record<string, string> = {};
  for (const name of [...settingFlags, ...keyFlags]) {
    const value = flags.get(name);
    if (value !== undefined) columns[name.replace('-', '_')] = value;
  }
  return columns;
}

/** `TYPE=FILE` names the same file as `FILE`. */
function rejectsPath(word: string): string {
  const path = existsSync(word) ? word : word.replace(/^\w+=/, '');
  const rejects = `${path.replace(/[/\\]+$/, '')}.rejects.ndjson`;
  // The user who created the data folder could have put a link there to any file.
  if (lstatSync(rejects, { throwIfNoEntry: false })?.isSymbolicLink()) {
    const what = `${rejects} is a link: nothing is written through it.`;
    fail('CONFIG_INVALID', { what }, { hint: 'Remove it, or name another file with --rejects.' });
  }
  return rejects;
}

async function importLocally(job: Job): Promise<ImportTarget> {
  const { config, program, files, rejects, again, replace, strict: isStrict } = job;
  const log = createLog({ level: 'warn', format: 'text' });
  const database = await openDatabase(databaseOptions(config, program, log)).catch((error) => {
    throw isLocked(error) ? withUrl(error, config) : error;
  });
  try {
    const known = { again, replace, isStrict, files: loadedFiles(files) };
    const load = database.load(nameOf(files), { ...known, isExclusive: true });
    const feed = new LoadFeed(load, { onRejects: (rows) => rejects.add(rows) });
    job.target = feed;
    try {
      await pump(job, feed);
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

/** Adds the address of the running server to the hint: it accepts the same rows. */
function withUrl(error: TrellisError, config: Config): TrellisError {
  const server = findServer(config);
  const isAtPort = typeof server === 'object' && server.socketPath === undefined;
  if (!isAtPort) return error;
  return new TrellisError({ ...error.data, hint: `Load into its server: --url ${server.origin}` });
}

async function importRemotely(job: Job): Promise<ImportTarget> {
  const { line, config, files, rejects, again, strict, replace } = job;
  const key = line.flags.get('key') ?? shownKey(config.auth.api_key);
  const url = line.flags.get('url')!;
  const tenant = line.flags.get('tenant') ?? '';
  const to = { url, key, tenant, name: nameOf(files), again, strict, replace };
  const remote = new RemoteImport(to, (rows) => rejects.add(rows));
  await remote.begin(loadedFiles(files));
  job.target = remote;
  await pump(job, remote);
  return remote;
}

async function pump({ files, source }: Job, target: ImportTarget): Promise<void> {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const bar = new ProgressBar(process.stderr, total);
  const shown = (): number => target.nodes + target.edges + target.vectors;
  let stop: Stopped | undefined;
  const onSignal = (signal: 'SIGINT' | 'SIGTERM'): void => {
    stop = new Stopped(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal);
  try {
    for (const block of source.blocks()) {
      await target.write(block);
      if (stop) throw stop;
      bar.show(source.readBytes, shown());
    }
    await target.end();
  } finally {
    bar.end();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
  }
}

function printRejects(rejects: RejectFile, count: number): void {
  printLine(`${counted(count, 'row was', 'rows were')} refused: see ${rejects.path}`);
  for (const line of rejects.summary(count)) printLine(line);
}

function report(target: ImportTarget, rejects: RejectFile, seconds: number): void {
  const { nodes, edges, vectors, updated, rejected, resumed, repeated } = target;
  const rate = Math.round((nodes + edges + vectors) / Math.max(seconds, 0.001));
  const parts = [counted(nodes, 'node'), counted(edges, 'edge'), counted(vectors, 'vector')];
  if (repeated) {
    printLine(`these files were imported before: ${parts.join(', ')}; nothing was loaded again`);
    printLine('add --reimport to import them again');
    if (rejected > 0) printRejects(rejects, rejected);
    return;
  }
  rejects.end();
  const before = resumed > 0 ? ` (after ${counted(resumed, 'row')} loaded before)` : '';
  printLine(`imported ${parts.join(', ')}${before} in ${seconds.toFixed(1)} s, ${rate} rows/s`);
  if (updated > 0) printLine(`${updated} of them were there and have new values`);
  const rows = nodes + edges + vectors + resumed;
  if (rejected > 0) printRejects(rejects, rejected);
  const are = rows === 1 ? 'is' : 'are';
  const refused = rejected === 0 ? '' : `; ${rejected} ${rejected === 1 ? 'is' : 'are'} not`;
  printLine(`${counted(rows, 'row')} ${are} in the data${refused}`);
}
