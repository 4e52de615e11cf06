// `trellis import` as a benchmark uses it: files of rows, and the command on a project and an empty data
// directory, timed from the start of the process to its end.
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
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
  const started = performance.now();
  const env = { ...process.env, TRELLIS_TEXT_ENABLED: String(text) };
  const argv = [main, 'import', project, ...files, '--data', dataDir];
  const done = spawnSync(process.execPath, argv, { env, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`import failed: ${done.stdout}${done.stderr}`);
  return (performance.now() - started) / 1000;
}
