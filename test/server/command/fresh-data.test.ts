// Data that no server has opened yet: what was just restored, loaded, salvaged or copied is read and written
// by every command that works on data at rest.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { makeFolder, writeProject } from '../../support/project.js';
import { commandHere } from '../../support/server/command-here.js';

const folder = makeFolder();
const app = join(folder, 'app');
const path = (name: string): string => join(folder, name);

const run = (line: string) => commandHere(line.split(' '));

beforeAll(async () => {
  writeProject(app, {
    sources: {
      'main.hx': `
N::A { UNIQUE INDEX x: I64 }
V::D { x: I64 }
QUERY all() => a <- N<A> RETURN a
QUERY add(x: I64) => a <- AddN<A>({ x: x }) RETURN a
`,
    },
  });
  writeFileSync(path('rows.csv'), 'x\n1\n2\n');
  for (const line of [
    `import ${path('rows.csv')} --project ${app} --node A`,
    `backup kept --project ${app}`,
    `dump ${path('dump')} --project ${app}`,
    `verify --salvage ${path('saved')} --project ${app}`,
  ])
    expect(await run(line)).toMatchObject({ code: 0 });
});

const made: [how: string, make: (to: string) => unknown][] = [
  ['restored', (to) => run(`restore ${join(app, '.trellis/data/backups/kept')} --data ${to}`)],
  ['loaded', (to) => run(`load ${path('dump')} --data ${to}`)],
  ['loaded from what was saved', (to) => run(`load ${path('saved')} --data ${to}`)],
  [
    'copied without what can be made again',
    (to) => {
      mkdirSync(join(to, 'graph'), { recursive: true });
      for (const name of ['MANIFEST.json', 'graph/data.mdb'])
        cpSync(join(app, '.trellis/data', name), join(to, name));
    },
  ],
];

/** Of those that find the same as another, enough to see that they do. */
const first = 2;
const lines = [
  'query @ all',
  'query @ add x=3 --write',
  'explain @ all',
  'dump + --project @',
  'backup one --project @',
  'verify --project @',
  'verify --deep --project @',
  'verify --repair-derived --project @',
  'verify --salvage + --project @',
  'compact --project @',
  'recall --project @',
  `import ${path('rows.csv')} --project @ --node A --reimport --rejects +`,
];

let count = 0;

it.each(made)('what was %s', async (how, make) => {
  for (const line of how.startsWith('copied') ? lines : lines.slice(0, first)) {
    const to = path(`data-${count++}`);
    await make(to);
    const argv = line.replace('@', app).replace('+', path(`new-${count}`));
    const { code, stderr: err } = await run(`${argv} --data ${to}`);
    // Rows that are there already are refused one by one.
    const wanted = line.startsWith('import') ? 1 : 0;
    expect({ line, code, err }).toMatchObject({ line, code: wanted });
    expect(err).not.toMatch(/ENOENT|INTERNAL/);
    rmSync(to, { recursive: true });
  }
});
