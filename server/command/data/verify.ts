// `trellis verify` checks a data directory. It first reads the pages without LMDB, which damaged pages can
// crash. The deep check uses LMDB, in a child process, and only if the pages are sound. Only --repair-derived
// changes data.
import { join } from 'node:path';
import {
  type Salvaged,
  TrellisError,
  type Violation,
  checkData,
  defaultLimits,
  derivedInvariants,
  errorMessage,
  openDataDirectory,
  openStorage,
  rebuildData,
  repairDerived,
  salvage,
  takeLock,
  verifyStorage,
} from '../../../engine/internal.js';
import type { Config } from '../../config/config.js';
import { configFromArguments } from '../support/cli-config.js';
import { type Command, type CommandLine, projectFlags } from '../../terminal/command.js';
import { counted, shownPath } from '../../terminal/format.js';
import { printLine } from '../../telemetry/log.js';
import { failNoData, hasData } from '../support/data-at-rest.js';
import { exitCodeOf } from '../../lifecycle/exit-code.js';
import { writeNewFile } from '../support/new-file.js';
import { type Ended, type Report, endCodes, verifyInChild } from '../../lifecycle/verify-child.js';

export const verify: Command = {
  name: 'verify',
  about: 'Check, repair or salvage a data directory while no server is using it.',
  words: '[DATA_DIR]',
  flags: {
    ...projectFlags,
    deep: { about: 'Compare every index and vector snapshot with the rows.' },
    'repair-derived': { about: 'Rebuild all indexes from the rows.' },
    salvage: { value: 'FILE', about: 'Write a dump of everything that is readable.' },
    json: { about: 'Print JSON.' },
    'in-process': {
      about: 'Check inside this process. Damaged pages can crash it.',
      formerly: 'here',
    },
    live: { about: 'Read the newest commit while a server has the data open.' },
  },
  run: (line) => (line.switches.has('in-process') ? verifyForParent(line) : verifyData(line)),
};

/** Returns the data directory: the argument if it has data, else the directory of the project there. */
function directoryOf(line: CommandLine): string {
  const [word] = line.words;
  if (word === undefined) return configFromArguments(line).dataDir;
  if (hasData(word)) return word;
  const { dataDir } = configFromArguments(line, word);
  return hasData(dataDir) ? dataDir : failNoData(word);
}

async function verifyData(line: CommandLine): Promise<number> {
  const directory = directoryOf(line);
  if (!hasData(directory)) failNoData(directory);
  const salvage = line.flags.get('salvage');
  if (salvage !== undefined) return salvageInto(directory, salvage);
  if (line.switches.has('repair-derived') && !repair(directory, configFromArguments(line)))
    return endCodes.primary;
  const deep = line.switches.has('deep') || line.switches.has('repair-derived');
  const report =
    deep && !line.switches.has('in-process')
      ? verifyInChild(directory)
      : line.switches.has('live')
        ? live(directory)
        : verifyHere(directory, deep);
  if (line.switches.has('json')) printLine(JSON.stringify(report));
  else printReport(report);
  return codeOf(report.violations);
}

/** Runs as the child process. Prints an error as JSON to stdout, like the report. */
async function verifyForParent(line: CommandLine): Promise<number> {
  try {
    return await verifyData(line);
  } catch (error) {
    if (!(error instanceof TrellisError)) throw error;
    printLine(JSON.stringify({ error: error.data } satisfies Ended));
    return exitCodeOf(error.code);
  }
}

/** Rebuilds the indexes. Returns false if rows are damaged: they cannot be rebuilt. */
function repair(dataDir: string, { limits, text, vectorTypes }: Config): boolean {
  const opened = openDataDirectory(dataDir);
  let isDone = false;
  try {
    const { enabled: textEnabled, language: textLanguage } = text;
    const options = { limits, textEnabled, textLanguage, dataDir, vectorTypes };
    const { rows, broken } = checkData(dataFileOf(dataDir), { sums: opened.takeSums() });
    for (const what of rows) printLine(what);
    if (rows.length > 0) return false;
    if (broken.length > 0) rebuildData(opened.dbUuid, options);
    else {
      const storage = openStorage(join(dataDir, 'graph'), { limits, mode: 'attach' });
      repairDerived(storage, options);
      storage.close();
    }
    isDone = true;
    return true;
  } finally {
    opened.close({ clean: isDone });
  }
}

const dataFileOf = (directory: string): string => join(directory, 'graph', 'data.mdb');

/** Writes every readable element to a dump, and reports the others. */
async function salvageInto(directory: string, file: string): Promise<number> {
  const lock = takeLock(directory);
  let saved: Salvaged;
  try {
    saved = await writeNewFile(file, (write) => salvage(dataFileOf(directory), write));
  } finally {
    lock.release();
  }
  for (const what of saved.lines) printLine(what);
  printLine(
    `${shownPath(file)}: ${counted(saved.count, 'element')} that could be read; ` +
      `${counted(saved.lost, 'element')} could not`,
  );
  return saved.isComplete ? endCodes.clean : endCodes.primary;
}

function codeOf(violations: readonly Violation[]): number {
  if (violations.length === 0) return endCodes.clean;
  return violations.every(({ invariant }) => derivedInvariants.has(invariant))
    ? endCodes.derived
    : endCodes.primary;
}

function verifyHere(directory: string, deep: boolean): Report {
  try {
    const opened = openDataDirectory(directory, { readOnly: true });
    try {
      const { dbUuid } = opened;
      const sums = opened.takeSums();
      const { broken } = deep ? checkData(dataFileOf(directory), { sums }) : { broken: [] };
      // LMDB could return wrong data from such pages, or crash.
      if (broken.length > 0) return { directory, violations: broken.map(violationOf) };
      const storage = openStorage(join(directory, 'graph'), {
        limits: defaultLimits,
        mode: 'attach',
      });
      const violations = deep ? verifyStorage(storage, { dbUuid, dataDir: directory }) : [];
      storage.close();
      return { directory, violations };
    } finally {
      opened.close({ clean: false });
    }
  } catch (error) {
    if (!(error instanceof TrellisError) || error.code !== 'DATA_CORRUPT') throw error;
    return { directory, violations: [{ invariant: 'I15', what: errorMessage(error.data) }] };
  }
}

/** Returns the violated invariant of a finding, by the table that its first word names. */
function violationOf(what: string): Violation {
  const table = /^\w+/.exec(what)?.[0] ?? '';
  return { invariant: tableInvariants[table] ?? 'I15', what };
}

const tableInvariants: Record<string, string> = {
  index: 'I5',
  derived: 'I7',
  uuid: 'I16',
  labels: 'I6',
  out: 'I4',
  in: 'I4',
};

/** Checks the newest commit of a data directory while a server writes to it. */
function live(directory: string): Report {
  const storage = openStorage(join(directory, 'graph'), { limits: defaultLimits, mode: 'read' });
  try {
    return { directory, violations: verifyStorage(storage, { dataDir: directory }) };
  } finally {
    storage.close();
  }
}

function printReport({ directory, violations }: Report): void {
  for (const { invariant, what } of violations) printLine(`${invariant} ${what}`);
  const count = violations.length;
  printLine(`${shownPath(directory)}: ${count === 0 ? 'clean' : counted(count, 'fault')}`);
}
