// A call that was made before makes no hidden class of V8. Each costs microseconds and takes the inline
// caches of what reads the object; and of those that closures of generators make, the process keeps a
// word for good (the users of a prototype): it is what grew under a steady load.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder, root } from '../support/project.js';
import { bundled } from '../support/run/bundled.js';

const times = 15;
const log = join(makeFolder(), 'v8.log');

/** How many classes the second round of calls has made, by the name of what was called. */
function classesMade(lines: readonly string[]): Map<string, number> {
  const made = new Map<string, number>();
  let running: string | undefined;
  for (const line of lines) {
    const [, part, name] = /,mark (warm|run|end) (.*)$/.exec(line) ?? [];
    if (part !== undefined) running = part === 'run' ? name : undefined;
    if (part === 'run') made.set(name!, 0);
    else if (part === undefined && running !== undefined) made.set(running, made.get(running)! + 1);
  }
  return made;
}

it('a call makes no hidden class', () => {
  const bundle = bundled('test/exec/support/hidden-class-child.ts');
  const flags = ['--log-maps', '--no-log-maps-details', '--no-logfile-per-isolate'];
  const argv = [
    `--logfile=${log}`,
    bundle,
    join(root, 'test/exec/support/garden.hx'),
    String(times),
  ];
  execFileSync(process.execPath, [...flags, ...argv], { stdio: 'ignore' });
  const lines = readFileSync(log, 'latin1').split('\n');
  const made = classesMade(lines.filter((line) => line.startsWith('map,')));
  expect(made.get('canary')).toBeGreaterThanOrEqual(times);
  made.delete('canary');
  expect(made.size).toBeGreaterThan(90);
  expect([...made].filter(([, count]) => count > times / 3)).toEqual([]);
});
