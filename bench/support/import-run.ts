// Runs `trellis import` for a benchmark: writes files of rows, and runs the command on a project and an empty
// data directory. The time counts from the start of the process to its end. Also runs `trellis dump`.
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../bin/main.js', import.meta.url));

/** Writes rows as NDJSON. */
export function writeRows(path: string, rows: Iterable<object>): void {
  const file = openSync(path, 'w');
  let lines: string[] = [];
  const flush = (): void => {
    writeSync(file, lines.join(''));
    lines = [];
  };
  for (const row of rows) {
    if (lines.push(`${JSON.stringify(row)}\n`) === 5_000) flush();
  }
  flush();
  closeSync(file);
}

/** Seconds that an import of the files takes; `text`: with the keyword index. */
export function importSeconds(
  project: string,
  dataDir: string,
  files: readonly string[],
  text = true,
): number {
  return importCost(project, dataDir, files, text).seconds;
}

/** Seconds of time, and of CPU of all threads. */
export interface ImportCost {
  seconds: number;
  cpu: number;
}

/** `words`: files and flags. */
export function importCost(
  project: string,
  dataDir: string,
  words: readonly string[],
  text: boolean,
): ImportCost {
  const env = { ...process.env, TRELLIS_TEXT_ENABLED: String(text) };
  const before = childSeconds();
  const seconds = commandSeconds(['import', project, ...words, '--data', dataDir], env);
  return { seconds, cpu: childSeconds() - before };
}

/** Seconds of `trellis dump` of data that no server holds. */
export function dumpSeconds(project: string, data: string, file: string): number {
  return commandSeconds(['dump', file, '--project', project, '--data', data], process.env);
}

function commandSeconds(words: readonly string[], env: NodeJS.ProcessEnv): number {
  const started = performance.now();
  const done = spawnSync(process.execPath, [main, ...words], { env, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${words[0]} failed: ${done.stdout}${done.stderr}`);
  return (performance.now() - started) / 1000;
}

/** CPU of children that have ended, where the system says it (Linux); in ticks of 10 ms. */
function childSeconds(): number {
  if (!existsSync('/proc/self/stat')) return Number.NaN;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15);
  return (Number(user) + Number(system)) / 100;
}
