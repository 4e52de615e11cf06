// Entries of Piscina's threads: no ES module is linked by `require` in them, which aborts the process where
// the thread is ended meanwhile (Node 20.19 to 24); and a process whose threads are ended at any moment
// goes on.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/project.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

/** As the package has them, and as the tests do. */
const entries = [
  'dist/bin/answer-thread.cjs',
  'dist/bin/compile-thread.cjs',
  'dist/bin/worker.cjs',
  'dist/engine/database/schema/compile-thread.cjs',
  'dist/engine/embed/answer-thread.cjs',
  'dist/engine/database/lane/worker.cjs',
];

/** What Node 20.17 does: `require` of an ES module fails, so that what needs it is seen. */
const strict = '--no-experimental-require-module';

/** Ends compile threads at moments between their birth and their first task, `together` at once. */
const storm = (entry: string, ms: number, together: number): string => `
  const { Piscina } = require('piscina');
  const options = { filename: ${JSON.stringify(entry)} };
  const until = Date.now() + ${ms};
  let ended = 0;
  const one = async () => {
    while (Date.now() < until) {
      const threads = new Piscina({ ...options, minThreads: 1, maxThreads: 1 });
      threads.on('error', () => {});
      await new Promise((done) => setTimeout(done, Math.random() * 250));
      await threads.destroy();
      ended++;
    }
  };
  Promise.all(Array.from({ length: ${together} }, one)).then(() => console.log(ended));`;

describe('the entries of pool threads', () => {
  it.each(entries)('%s needs no `require` of an ES module', (entry) => {
    const script = `
      const of = require(${JSON.stringify(join(root, entry))});
      Promise.resolve(of.default ?? of).then((handler) => console.log(typeof handler));`;
    const told = execFileSync(process.execPath, [strict, '-e', script], { encoding: 'utf8' });
    expect(told).toBe('function\n');
  });

  it('are those of every pool there is', () => {
    const named = readdirSync(join(root, 'engine'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(join(root, 'engine', path), 'utf8'))
      .filter((text) => text.includes('new TaskThread('))
      .flatMap((text) => [...text.matchAll(/new URL\('\.\/([^']+)'/g)].map(([, name]) => name));
    expect(named.sort()).toEqual(['answer-thread.cjs', 'compile-thread.cjs', 'worker.cjs']);
  });

  it('may be ended while they load', () => {
    const entry = join(root, 'dist/engine/database/schema/compile-thread.cjs');
    const script = storm(entry, long ? 120_000 : 2_000, 4);
    const ended = execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', cwd: root });
    expect(Number(ended)).toBeGreaterThan(10);
  });
});
