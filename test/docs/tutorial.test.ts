// Each tutorial, and each page that starts a server, is one test: its blocks run in their order, from an
// empty folder to the end, and the time is printed.
import { expect, test } from 'vitest';
import { blocksOf, readManual } from '../support/page.js';
import { tasksOf } from './block.js';
import { isTutorial, Journey } from './journey.js';

const pages = readManual().filter(isTutorial);

test.each(pages)('$path works from its first line to its last', async (page) => {
  const began = performance.now();
  const journey = await Journey.begin();
  let run = 0;
  try {
    for (const task of tasksOf(blocksOf(page))) {
      const where = `${page.path}:${task.block.line}`;
      const isRun = await journey.check(task).catch((error: Error) => {
        throw new Error(`${where}: ${error.message}`);
      });
      if (isRun) run++;
    }
  } finally {
    await journey.end();
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(`${page.path}: ${run} blocks in ${seconds} s\n`);
  expect(run).toBeGreaterThan(5);
});
