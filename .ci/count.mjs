// Counts what the reports of a folder say: `node .ci/count.mjs FOLDER`; fails where a test does. With
// `--again REPORT`: prints the files of that report that failed and are few enough to run once more.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

/** More failed files than this are no chance. */
const fewFiles = 4;

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const failedIn = (file) => file.assertionResults.filter(({ status }) => status === 'failed');
/** A file whose tests did not begin, or not end. */
const isBroken = (file) => file.status === 'failed' && failedIn(file).length === 0;
const hasFailed = (file) => file.status === 'failed' || failedIn(file).length > 0;

function printAgain(path) {
  // A runner that crashed leaves no report: that is no matter of chance.
  if (!existsSync(path)) return;
  const files = read(path).testResults.filter(hasFailed);
  if (files.length > fewFiles) return;
  for (const { name } of files) console.log(relative(process.cwd(), name));
}

/** Whether both other runs of a file were without fault. */
function isUnsteady(folder, name) {
  const paths = [1, 2].map((time) => join(folder, `again-${time}-${basename(name)}.json`));
  return paths.every(
    (path) => existsSync(path) && read(path).success && read(path).numPassedTests > 0,
  );
}

function count(folder) {
  let [passed, failed] = [0, 0];
  const unsteadyFiles = new Set();
  for (const script of ['test', 'test:browser', 'test:cluster']) {
    const path = join(folder, `${script}.json`);
    if (!existsSync(path)) {
      // Without a browser, or log servers, there is no report of one; the run has said so.
      if (script === 'test') failed++;
      if (script === 'test') console.log('failed: the tests left no report');
      continue;
    }
    const { testResults, numPassedTests } = read(path);
    passed += numPassedTests;
    for (const file of testResults.filter(hasFailed)) {
      const names = failedIn(file).map(({ fullName }) => fullName);
      if (isBroken(file)) names.push(`${file.name} did not run: ${file.message}`);
      const unsteady = isUnsteady(folder, file.name);
      for (const name of names)
        console.log(`${unsteady ? 'unsteady, passed twice by itself' : 'failed'}: ${name}`);
      if (unsteady) unsteadyFiles.add(relative(process.cwd(), file.name));
      if (unsteady) passed += names.length;
      else failed += names.length;
    }
  }
  // Each of these belongs into the list of test/reliability/README.md until it no longer knows the clock.
  if (unsteadyFiles.size > 0) console.log(`unsteady: ${[...unsteadyFiles].join(', ')}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0;
}

const [first, second] = process.argv.slice(2);
if (first === '--again') printAgain(second);
else process.exitCode = count(first) ? 0 : 1;
