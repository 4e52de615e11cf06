// A process that ends with a database open: however it ends and whatever the threads do just then, it ends,
// with the status that was meant, and loses nothing acknowledged. Before, `process.exit` amid a write
// hung for ever: lmdb-js waits for a lock that the stopped thread holds.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder, removeFolder, root } from '../support/project.js';
import { Random } from '../support/random.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
/** What a thread does behind a write that was cut off is ended amid a call of LMDB in one of twenty. */
const roundsOf = (task: string): number => (long ? 100 : task === 'one long write' ? 2 : 1);

const source = `
N::Row { INDEX x: U32 }
QUERY addOne(x: U32) =>
    row <- AddN<Row>({ x: x })
    RETURN row
QUERY addMany(xs: [U32]) =>
    FOR x IN xs {
        row <- AddN<Row>({ x: x })
    }
    RETURN "done"
QUERY count() =>
    rows <- N<Row>::COUNT
    RETURN rows`;

/** What goes on as the process ends. */
const work = {
  'small writes': `
    for (let lane = 0; lane < 8; lane++)
      (async () => { for (;;) { await db.call('addOne', { x: 1 }); tell(1); } })();`,
  'one long write': `
    const xs = Array.from({ length: 100_000 }, (_, x) => x);
    db.call('addMany', { xs }).then(() => tell(100_000));`,
  'its opening': '',
  reads: `
    for (let lane = 0; lane < 8; lane++)
      (async () => { for (;;) { await db.call('count', {}); await setImmediate(); } })();`,
};

/** How it ends, and the status that follows. */
const ends = {
  'process.exit': ['process.exit(3)', 3],
  'an error nobody catches': [`throw new Error('on purpose')`, 1],
} as const;

/** Ends `ms` after the database is open; while it is opened, that long after its beginning. */
function script(folder: string, task: keyof typeof work, end: keyof typeof ends, ms: number) {
  const index = JSON.stringify(join(root, 'dist/bin/index.js'));
  const timer = `setTimeout(() => { ${ends[end][0]}; }, ${ms});`;
  return `
    import { writeSync } from 'node:fs';
    import { setImmediate } from 'node:timers/promises';
    import { open } from ${index};
    const tell = (rows) => writeSync(1, rows + '\\n');
    ${task === 'its opening' ? timer : ''}
    const sources = [{ path: 'a.hx', text: ${JSON.stringify(source)} }];
    const db = await open({ dataDir: ${JSON.stringify(join(folder, 'data'))}, sources });
    tell(-1);
    ${task === 'its opening' ? '' : timer}
    ${work[task]}`;
}

function run(text: string) {
  const command = ['--input-type=module', '-e', text];
  const child = spawnSync(process.execPath, command, { encoding: 'utf8', timeout: 150_000 });
  const told = child.stdout.split('\n').map(Number);
  return { ...child, acknowledged: told.filter((rows) => rows > 0).reduce((a, b) => a + b, 0) };
}

describe('a process that ends with a database open', () => {
  const folders: string[] = [];
  afterAll(() => folders.forEach(removeFolder));
  const tasks = Object.keys(work) as (keyof typeof work)[];
  const grid = tasks.flatMap((task) =>
    (Object.keys(ends) as (keyof typeof ends)[]).map((end) => ({ task, end })),
  );

  it.each(grid)('amid $task, by $end', ({ task, end }) => {
    const random = new Random(task.length * 31 + end.length);
    const folder = makeFolder();
    folders.push(folder);
    let acknowledged = 0;
    for (let round = 0; round < roundsOf(task); round++) {
      const ms = task === 'its opening' ? 60 + random.below(200) : 20 + random.below(150);
      const child = run(script(folder, task, end, ms));
      expect(child.signal, `ended by itself, ${child.stderr}`).toBe(null);
      expect(child.status, child.stderr).toBe(ends[end][1]);
      expect(child.stderr).not.toContain('FATAL');
      acknowledged += child.acknowledged;
    }
    const index = JSON.stringify(join(root, 'dist/bin/index.js'));
    const told = run(`
      import { open } from ${index};
      const sources = [{ path: 'a.hx', text: ${JSON.stringify(source)} }];
      const db = await open({ dataDir: ${JSON.stringify(join(folder, 'data'))}, sources });
      console.log((await db.call('count', {})).rows);
      await db.close();`);
    expect(told.status, told.stderr).toBe(0);
    expect(told.acknowledged).toBeGreaterThanOrEqual(acknowledged);
    if (task === 'one long write') expect(told.acknowledged % 100_000).toBe(0);
  });
});
