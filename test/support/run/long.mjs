// The long run: `npm run test:long`, with names of files for a part of it. Its parts are runs of their
// own, one after the other: a runner that gives up a file, or dies, begins nothing that was to come
// later. What each was to run is compared with its report, and files that did not end are named.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const runner = join(root, 'node_modules/vitest/vitest.mjs');
const folder = join(root, 'dist/test');
/** Same as in test/vitest.config.ts. */
const parts = ['work', 'figures'];
const names = process.argv.slice(2);

/**
 * Folder for the databases of the first part: in memory, if there is enough. Waiting for a disk is half
 * of the time of tests that open thousands of databases, and these tests promise nothing about the disk:
 * kills end processes, and power cuts use recorded writes. Figures are measured on a disk.
 */
function placeOf(part) {
  const memory = '/dev/shm';
  const plenty = 8 * 2 ** 30;
  try {
    const { bavail, bsize } = statfsSync(memory);
    return part === 'work' && bavail * bsize > plenty ? { TMPDIR: memory } : {};
  } catch {
    return {}; // Not of this system.
  }
}

function vitest(command, part, options, stdio) {
  const long = { TRELLIS_TEST_LONG: '1', TRELLIS_TEST_PART: part };
  const env = { ...process.env, ...long, ...placeOf(part) };
  const argv = [runner, command, '--config', 'test/vitest.config.ts', ...names, ...options];
  return spawnSync(process.execPath, argv, { cwd: root, env, stdio, encoding: 'utf8' });
}

/** The files that a part is to run. */
function filesOf(part) {
  const { status, stdout, stderr } = vitest('list', part, ['--filesOnly', '--json'], 'pipe');
  if (status !== 0) throw new Error(`The files of ${part} cannot be listed: ${stderr}`);
  return JSON.parse(stdout).map(({ file }) => file);
}

function resultsIn(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).testResults;
  } catch {
    return []; // A runner that dies leaves no report.
  }
}

const hasEnded = ({ assertionResults }) =>
  assertionResults.length > 0 && assertionResults.every(({ status }) => status !== 'pending');
const hasFailed = ({ status, assertionResults }) =>
  status === 'failed' || assertionResults.some((one) => one.status === 'failed');

/** Runs a part; returns what there is to say of it, and whether all of it has passed. */
function run(part, files) {
  const report = join(folder, `long-${part}.json`);
  rmSync(report, { force: true });
  console.log(`\nThe long run, ${part}: ${files.length} files`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status, signal } = vitest('run', part, reporters, 'inherit');
  const results = resultsIn(report);
  const failed = results.filter(hasFailed).map(({ name }) => name);
  const ended = new Set(results.filter(hasEnded).map(({ name }) => name));
  const lost = files.filter((file) => !ended.has(file) && !failed.includes(file));
  const counts = `${files.length - failed.length - lost.length} of ${files.length} files passed`;
  const named = (what) => (file) => `  ${what}: ${relative(root, file)}`;
  const lines = [
    `${part}: ${counts}, the runner ended with ${signal ?? status}`,
    ...failed.map(named('failed')),
    ...lost.map(named('did not end')),
  ];
  return { lines, hasPassed: status === 0 && lost.length === 0 };
}

mkdirSync(folder, { recursive: true });
const planned = parts.map((part) => ({ part, files: filesOf(part) }));
const ran = planned.filter(({ files }) => files.length > 0);
const all = ran.map(({ part, files }) => run(part, files));
console.log('\nThe long run');
for (const { lines } of all) console.log(lines.join('\n'));
if (all.length === 0) console.log('no file has such a name');
process.exitCode = all.length > 0 && all.every(({ hasPassed }) => hasPassed) ? 0 : 1;
