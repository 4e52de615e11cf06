// An import is complete, or reports what is missing: kinds of damage x positions in a file x ways to import x
// what came before and after, compared with the expected data. Files are corrected and imported again;
// processes are killed at every step of a load, of taking one back, and of going on with one. Nothing is
// doubled, nothing lost, and the last line says what is in. TRELLIS_TEST_LONG=1 tries all of it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { dump } from '../../engine/database/maintenance/dump.js';
import { verifyStorage } from '../../engine/database/maintenance/verify.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import { makeFolder, writeProject } from '../support/project.js';
import { commandHere } from '../support/server/command-here.js';
import { runCli } from '../support/server/server.js';

const isLong = Boolean(process.env.TRELLIS_TEST_LONG);

const source = `
N::Item { key: String, n: I64, text: String }
E::Next { From: Item, To: Item }
N::User { UNIQUE INDEX email: String, UNIQUE INDEX code: I64, bio: String }
QUERY items() => i <- N<Item>::COUNT RETURN i
`;

/** Rows of three pieces. */
const many = 5200;
const pad = 'x'.repeat(500);

type Line = string | Buffer;
type Damage = (line: string, i: number) => Line;

const csvRow = (i: number, length = 20): string => `${i},k${i},${i},${pad.slice(0, length)}`;
const jsonRow = (i: number, length = 20): string => {
  const properties = { key: `k${i}`, n: i, text: pad.slice(0, length) };
  return JSON.stringify({ node: 'Item', id: String(i), properties });
};

const damages: Record<'csv' | 'ndjson', Record<string, Damage>> = {
  csv: {
    'a stray quote': (line) => `${line}"x`,
    'an open quote': (line, i) => line.replace(`k${i}`, `"k${i}`),
    'a quote and more': (line, i) => line.replace(`k${i}`, `"k${i}"x`),
    'no UTF-8': (line) => Buffer.from(`${line}\xff`, 'latin1'),
    'a zero byte': (line) => `${line}\0`,
    'a cell more': (line) => `${line},7`,
    'a cell less': (line) => line.slice(0, line.lastIndexOf(',')),
    'a wrong type': (line, i) => line.replace(`,${i},x`, ',seven,x'),
    'a name that is taken': (line, i) => line.replace(`${i},`, `${i === 0 ? 1 : 0},`),
  },
  ndjson: {
    'no JSON': (line) => line.slice(0, -3),
    'no UTF-8': (line) => Buffer.from(line.replace('xx', '\xff'), 'latin1'),
    'a wrong type': (line) => line.replace(/"n":\d+/, '"n":"x"'),
    'an unknown member': (line) => line.replace('"n"', '"m"'),
    'no type': (line) => line.replace('"node"', '"nod"'),
    'an unknown type': (line) => line.replace('"Item"', '"Itme"'),
    'control characters': (line) => `\x07${line}`,
  },
};

interface Made {
  folder: string;
  data: string;
  path: string;
  /** Of the bad record, in the file. */
  line: number;
  good: string[];
}

/** A project with a file of `count` items, whose row `at` is damaged, and edges from each to the next. */
function make(
  form: 'csv' | 'ndjson',
  damage: Damage,
  at: number,
  count: number,
  length = 20,
): Made {
  const folder = makeFolder();
  writeProject(folder, { sources: { 'main.hx': source } });
  const row = form === 'csv' ? csvRow : jsonRow;
  const rows = Array.from({ length: count }, (_, i) => row(i, length));
  const header = form === 'csv' ? ['id,key,n,text'] : [];
  const made = {
    folder,
    data: join(folder, 'data'),
    path: join(folder, form === 'csv' ? 'Item.csv' : 'items.ndjson'),
    line: at + 1 + header.length,
    good: [...header, ...rows],
  };
  const lines: Line[] = [...header, ...rows];
  lines[at + header.length] = damage(rows[at]!, at);
  writeFileSync(made.path, joined(lines));
  writeFileSync(
    join(folder, 'Next.csv'),
    `from,to\n${rows
      .slice(1)
      .map((_, i) => `${i},${i + 1}\n`)
      .join('')}`,
  );
  return made;
}

const joined = (lines: readonly Line[]): Buffer =>
  Buffer.concat(lines.flatMap((line) => [Buffer.from(line as string), Buffer.from('\n')]));

const mend = ({ path, good }: Made): void => writeFileSync(path, joined(good));

const argvOf = ({ folder, path, data }: Made, flags: readonly string[]): string[] => [
  ...['import', folder, path, join(folder, 'Next.csv'), '--data', data],
  ...flags,
];

const run = (made: Made, ...flags: string[]) => commandHere(argvOf(made, flags), made.folder);

const killedAt = async (made: Made, failpoint: string, ...flags: string[]): Promise<void> => {
  const env = { TRELLIS_FAILPOINT: failpoint };
  const done = await runCli(argvOf(made, flags), { cwd: made.folder, timeoutMs: 60_000, env });
  expect([failpoint, done.signal, done.stderr]).toEqual([failpoint, 'SIGKILL', '']);
};

/** What is in the data: numbers of items and of edges, sorted; and all of it verified. */
function found({ data }: Made): { items: number[]; edges: number } {
  const storage = openStorage(join(data, 'graph'), { limits: defaultLimits, mode: 'attach' });
  try {
    expect(verifyStorage(storage)).toEqual([]);
    const rows = Buffer.concat([...dump(storage)])
      .toString()
      .split('\n')
      .slice(1, -2)
      .map((line) => JSON.parse(line) as { node?: string; properties: { n?: string } });
    const items = rows.filter(({ node }) => node === 'Item').map(({ properties }) => properties.n);
    return {
      items: items.map(Number).sort((a, b) => a - b),
      edges: rows.filter(({ node }) => node === undefined).length,
    };
  } finally {
    storage.close();
  }
}

/** What must be there without row `bad`, and without the edges at it. */
function oracle(count: number, bad?: number): { items: number[]; edges: number } {
  const items = Array.from({ length: count }, (_, i) => i).filter((i) => i !== bad);
  const atEnd = bad === 0 || bad === count - 1;
  return { items, edges: count - 1 - (bad === undefined ? 0 : atEnd ? 1 : 2) };
}

const refusedLines = ({ path }: Made): string[] => {
  const file = `${path}.rejects.ndjson`;
  if (!existsSync(file)) return [];
  const rows = readFileSync(file, 'utf8').trim().split('\n');
  return rows.map((row) => {
    const { file: at, line } = JSON.parse(row) as { file: string; line: number };
    return `${at.slice(at.lastIndexOf('/') + 1)}:${line}`;
  });
};

const lastLine = (text: string): string => text.trim().split('\n').at(-1)!;

const places = (count: number): number[] => [0, 1, count >> 1, count - 3, count - 1];

const grid = (['csv', 'ndjson'] as const).flatMap((form) =>
  Object.keys(damages[form]).flatMap((kind) => places(40).map((at) => ({ form, kind, at }))),
);
const some = grid.filter((_, i) => isLong || i % 31 === 0);

describe('a bad record', () => {
  it.each(some)('$kind in row $at of $form is refused alone', async ({ form, kind, at }) => {
    const count = 40;
    const made = make(form, damages[form][kind]!, at, count);
    const done = await run(made);
    expect([done.code, done.stderr]).toEqual([1, '']);
    const there = oracle(count, at);
    expect(found(made)).toEqual(there);
    const lost = count - 1 - there.edges;
    const refused = refusedLines(made);
    expect(refused[0]).toBe(`${made.path.slice(made.folder.length + 1)}:${made.line}`);
    expect(refused).toHaveLength(1 + lost);
    const rows = there.items.length + there.edges;
    expect(lastLine(done.stdout)).toBe(`${rows} rows are in the data; ${1 + lost} are not`);
    // The same again, and mended: nothing is doubled without a word.
    expect((await run(made)).stdout).toContain('nothing was loaded again');
    mend(made);
    const known = await run(made);
    expect([known.code, known.stderr]).toEqual([78, expect.stringMatching(/^IMPORT_KNOWN: \w+\./)]);
    expect(found(made)).toEqual(there);
    const replaced = await run(made, '--replace');
    expect([replaced.code, replaced.stderr]).toEqual([0, '']);
    expect(found(made)).toEqual(oracle(count));
    expect(lastLine(replaced.stdout)).toBe(`${2 * count - 1} rows are in the data`);
    expect(refusedLines(made)).toEqual([]);
    expect((await run(made)).stdout).toContain('nothing was loaded again');
    expect(found(made)).toEqual(oracle(count));
  });

  it.each(some)('$kind in row $at of $form ends a strict import', async ({ form, kind, at }) => {
    const count = 40;
    const made = make(form, damages[form][kind]!, at, count);
    for (let time = 0; time < 2; time++) {
      const done = await run(made, '--strict');
      expect(done.code).toBe(65);
      const place = `${made.path.slice(made.path.lastIndexOf('/') + 1)}:${made.line}`;
      expect(lastLine(done.stderr)).toMatch(
        new RegExp(`^ROW_REFUSED: Row \\S*${place} was rejected`),
      );
      expect(lastLine(done.stderr)).toMatch(/Nothing of the import is in the data\.$/);
      expect(found(made)).toEqual({ items: [], edges: 0 });
    }
    mend(made);
    expect((await run(made, '--strict')).code).toBe(0);
    expect(found(made)).toEqual(oracle(count));
  });
});

interface History {
  /** Each is killed at its failpoint, where it has one. */
  runs: [string | undefined, ...string[]][];
  /** The row that is damaged; the last but one unless said. */
  at?: number;
  /** After the first run. */
  isMended?: boolean;
}

const mended = (...runs: History['runs']): History => ({ runs, isMended: true });

/** Of a large file. */
const histories: Record<string, History> = {
  'killed, then mended': mended(['loadPiece@1'], [undefined]),
  'killed at the second piece, then mended': mended(['loadPiece@2'], [undefined]),
  'killed, then the same': { runs: [['loadPiece@1'], [undefined]] },
  'killed, mended, killed as it goes on': {
    ...mended(['loadPiece@2'], ['adoptLoad@1'], ['takeBack@1'], [undefined]),
    at: many >> 1,
  },
  'killed at the end, then replaced': mended(
    ['loadPiece@3'],
    ['takeBack@1', '--replace'],
    ['takeBack@1', '--replace'],
    [undefined],
  ),
  'strict, killed as it takes back': mended(['takeBack@1', '--strict'], [undefined, '--strict']),
  'strict, killed, then not strict': { runs: [['takeBack@2', '--strict'], [undefined]] },
};
for (const point of ['W9@1', 'W9@2', 'W9@3', 'loadPiece@3', 'listEdges@1', 'takeBack@3']) {
  if (!isLong) break;
  for (const flags of [[], ['--strict']]) {
    // A strict one ends before its last piece, and no other is taken back.
    const isOfStrict = point.startsWith('takeBack') || point.startsWith('W9');
    const isOfOthers = !point.startsWith('takeBack');
    if (flags.length > 0 ? !isOfStrict : !isOfOthers) continue;
    const first: History['runs'][number] = [point, ...flags];
    histories[`${first.join(' ')}, then mended`] = mended(first, [undefined, '--replace']);
    histories[`${first.join(' ')}, then the same`] = { runs: [first, [undefined]] };
  }
}
const shortest = ['killed, mended, killed as it goes on'];
const told = Object.keys(histories).filter((one) => isLong || shortest.includes(one));

describe('an import that is killed', () => {
  it.each(told)('%s', { timeout: 240_000 }, async (name) => {
    const { runs, at: bad = many - 2, isMended = false } = histories[name]!;
    const made = make('csv', damages.csv['a stray quote']!, bad, many, 500);
    for (const [at, [failpoint, ...flags]] of runs.entries()) {
      if (at === 1 && isMended) mend(made);
      if (failpoint !== undefined) await killedAt(made, failpoint, ...flags);
      else {
        const done = await run(made, ...flags);
        expect([done.code, done.stderr]).toEqual([isMended ? 0 : 1, '']);
      }
    }
    expect(found(made)).toEqual(isMended ? oracle(many) : oracle(many, bad));
    const refused = refusedLines(made);
    expect(refused.slice(0, 1)).toEqual(isMended ? [] : [`Item.csv:${bad + 2}`]);
  });
});

describe('an import of files that were loaded in part', () => {
  it('says so, and does what its flag says', async () => {
    const made = make('csv', (line) => line, 0, many, 500);
    await killedAt(made, 'loadPiece@1');
    // One of its files alone.
    const alone = ['import', made.folder, made.path, '--data', made.data];
    const part = await commandHere(alone, made.folder);
    expect([part.code, part.stderr]).toEqual([
      78,
      expect.stringMatching(/^IMPORT_KNOWN: Item\.csv.* by an import of Item\.csv.*, Next\.csv/),
    ]);
    // Another file of that name.
    const others = Array.from({ length: 9 }, (_, i) => csvRow(5000 + i));
    writeFileSync(made.path, joined(['id,key,n,text', ...others]));
    writeFileSync(join(made.folder, 'Next.csv'), 'from,to\n5000,5001\n');
    const refused = await run(made);
    expect([refused.code, refused.stderr]).toEqual([
      78,
      expect.stringMatching(
        /IMPORT_KNOWN: .*was begun and not finished, and it has other rows now/,
      ),
    ]);
    const replaced = await run(made, '--replace');
    expect(lastLine(replaced.stdout)).toBe('10 rows are in the data');
    expect(found(made)).toEqual({ items: others.map((_, i) => 5000 + i), edges: 1 });
  });

  it('of a strict one, elements that it changed are as they were', async () => {
    const folder = makeFolder();
    writeProject(folder, { sources: { 'main.hx': source } });
    const data = join(folder, 'data');
    const file = (name: string, ...lines: string[]): string => {
      writeFileSync(join(folder, name), `email,code,bio\n${lines.join('\n')}\n`);
      return join(folder, name);
    };
    const base = file('base.csv', 'a,1,moss', 'b,2,fern', 'c,3,leaf');
    const users = (...argv: string[]) =>
      commandHere(['import', folder, '--node', 'User', '--data', data, ...argv], folder);
    expect((await users(base)).code).toBe(0);
    const bytes = (): string => {
      const storage = openStorage(join(data, 'graph'), { limits: defaultLimits, mode: 'attach' });
      expect(verifyStorage(storage)).toEqual([]);
      const text = Buffer.concat([...dump(storage)]).toString();
      storage.close();
      return text;
    };
    const before = bytes();
    // Values go from one to another, so that the order of taking back matters.
    const more = file(
      'more.csv',
      'a,9,rock',
      'b,1,sand',
      'a,2,clay',
      'd,7,new',
      'd,8,newer',
      'e,x,',
    );
    const strict = await users(more, '--upsert', 'email', '--strict');
    expect([strict.code, lastLine(strict.stderr)]).toEqual([
      65,
      expect.stringMatching(/more\.csv:7 .*Nothing of the import is in the data\.$/),
    ]);
    expect(bytes()).toBe(before);
    const done = await users(more, '--upsert', 'email');
    expect(done.code).toBe(1);
    expect(bytes()).not.toBe(before);
  });
});
