// A DROP of many elements of every form (without edges, indexed, with texts, vectors, small hubs, one hub):
// what is left is what a plain list says, in the type, the indexes, the keywords and the vectors, and the data are
// clean. Prints how long it took, and how long small writes of others waited for it.
import { describe, expect, it } from 'vitest';
import { noteProof } from '../../support/proof.js';
import { commandHere } from '../../support/server/command-here.js';
import { openEmbedded } from '../../support/server/embedded-server.js';

const long = process.env.TRELLIS_TEST_LONG === '1';

const own = 'name: String, half: I64';
const source = `
N::Bare { half: I64, number: I64 }
N::Plain { INDEX name: String, half: I64 }
N::Shared { INDEX kind: I64, INDEX name: String, half: I64 }
N::Doc { ${own}, text: String }
N::Hub { INDEX name: String, half: I64 }
N::Leaf { INDEX name: String, half: I64 }
V::Spot { INDEX name: String, half: I64 }
N::Note { text: String }
E::Tie { From: Hub, To: Leaf, Properties: { INDEX weight: I64 } }
QUERY note() => AddN<Note>({ text: "small" }) RETURN "ok"
QUERY addPlain(name: String) => AddN<Plain>({ name: name, half: 0 }) RETURN "ok"
QUERY addSpots(rows: [{ name: String, half: I64, x: F64 }]) =>
  FOR {name, half, x} IN rows { AddV<Spot>([x, 1.0, 2.0], { name: name, half: half }) }
  RETURN "ok"
${['Bare', 'Plain', 'Shared', 'Doc', 'Hub', 'Leaf']
  .map(
    (type) => `
QUERY drop${type}(halves: [I64]) =>
  gone <- DROP N<${type}>::WHERE(_::{half}::IS_IN(halves))
  RETURN gone
QUERY count${type}() => count <- N<${type}>::COUNT RETURN count`,
  )
  .join('')}
QUERY dropSpot(halves: [I64]) =>
  gone <- DROP V<Spot>::WHERE(_::{half}::IS_IN(halves))
  RETURN gone
QUERY countSpot() => count <- V<Spot>::COUNT RETURN count
QUERY listBare() => rows <- N<Bare> RETURN rows::{ key: number }
QUERY listPlain() => rows <- N<Plain> RETURN rows::{ key: name }
QUERY listShared() => rows <- N<Shared> RETURN rows::{ key: name }
QUERY listDoc() => rows <- N<Doc> RETURN rows::{ key: name }
QUERY listHub() => rows <- N<Hub> RETURN rows::{ key: name }
QUERY listSpot() => rows <- V<Spot> RETURN rows::{ key: name }
QUERY findPlain(name: String) => rows <- N<Plain>({name: name}) RETURN rows::{ key: name }
QUERY findShared(kind: I64) => rows <- N<Shared>({kind: kind}) RETURN rows::{ key: name }
QUERY findDoc(word: String) => rows <- SearchBM25<Doc>(word, 10000) RETURN rows::{ key: name }
QUERY findSpot(x: F64) => rows <- SearchV<Spot>([x, 1.0, 2.0], 20) RETURN rows::{ key: name }
QUERY ties() =>
  count <- E<Tie>::COUNT
  found <- E<Tie>({weight: 3})::COUNT
  ends <- N<Leaf>::InE<Tie>::COUNT
  RETURN count, found, ends
`;

interface Row {
  name: string;
  half: number;
  i: number;
}

interface Kind {
  type: string;
  line?: (row: Row) => string;
  /** Edges of each; `size` are all of them. */
  degree?: (size: number) => number;
  /** What a query that finds by value or word is to answer, of those that are left. */
  finds?: [string, Record<string, unknown>, (row: Row) => boolean][];
}

const node = (type: string, properties: object, id: string): string =>
  `${JSON.stringify({ node: type, id, properties })}\n`;
const words = ['wing', 'flow', 'heat', 'shock', 'layer'];
const leaves = 50;

const kinds: Record<string, Kind> = {
  'without edges': {
    type: 'Bare',
    line: ({ name, half, i }) => node('Bare', { half, number: i }, name),
  },
  'of values of their own': {
    type: 'Plain',
    line: ({ name, half }) => node('Plain', { name, half }, name),
    finds: [
      ['findPlain', { name: 'n0' }, ({ i }) => i === 0],
      ['findPlain', { name: 'n1' }, ({ i }) => i === 1],
    ],
  },
  'of values they share': {
    type: 'Shared',
    line: ({ name, half, i }) => node('Shared', { name, half, kind: i % 3 }, name),
    finds: [0, 1, 2].map((kind) => ['findShared', { kind }, ({ i }) => i % 3 === kind]),
  },
  'with texts': {
    type: 'Doc',
    line: ({ name, half, i }) =>
      node('Doc', { name, half, text: `${words[i % 5]} ${words[(i >> 1) % 5]} only${i}` }, name),
    finds: [
      ['findDoc', { word: 'wing' }, ({ i }) => i % 5 === 0 || (i >> 1) % 5 === 0],
      ['findDoc', { word: 'only1' }, ({ i }) => i === 1],
    ],
  },
  vectors: { type: 'Spot' },
  'small hubs': {
    type: 'Hub',
    line: ({ name, half }) => node('Hub', { name, half }, name),
    degree: () => 20,
  },
  'one hub': {
    type: 'Hub',
    line: ({ name, half }) => node('Hub', { name, half }, name),
    degree: (size) => size,
  },
};

const sizes = long ? [1, 129, 3_000, 100_000] : [1, 129, 800];

type Database = Awaited<ReturnType<typeof openEmbedded>>['db'];

async function load(db: Database, rows: readonly string[]): Promise<void> {
  const bytes = new Uint8Array(Buffer.from(rows.join('')));
  const load = db.database.load();
  await load.rows(bytes, 1, { offset: bytes.length, line: rows.length + 1 });
  await load.finish();
}

/** Makes so many of a kind; those that are one hub, or small ones, are fewer, and have that many edges. */
async function sow(db: Database, kind: Kind, size: number): Promise<Row[]> {
  const degree = kind.degree?.(size) ?? 0;
  const count = degree > 0 ? Math.max(2, Math.ceil(size / degree)) : size;
  const rows = Array.from({ length: count }, (_, i) => ({ name: `n${i}`, half: i % 2, i }));
  if (kind.line === undefined) {
    for (let at = 0; at < rows.length; at += 5_000) {
      const some = rows.slice(at, at + 5_000).map(({ name, half, i }) => ({ name, half, x: i }));
      await db.call('addSpots', { rows: some });
    }
    return rows;
  }
  const lines = rows.map(kind.line);
  if (degree > 0)
    for (let i = 0; i < leaves; i++) lines.push(node('Leaf', { name: `l${i}`, half: 0 }, `l${i}`));
  for (const { name } of rows)
    for (let i = 0; i < degree; i++) {
      const properties = { weight: i % 5 };
      lines.push(
        `${JSON.stringify({ edge: 'Tie', from: name, to: `l${i % leaves}`, properties })}\n`,
      );
    }
  await load(db, lines);
  return rows;
}

async function compare(db: Database, kind: Kind, left: readonly Row[], size: number) {
  const keysOf = (answer: unknown): unknown[] => {
    const { rows } = answer as { rows: { key: unknown } | { key: unknown }[] };
    return [rows]
      .flat()
      .map(({ key }) => key)
      .toSorted();
  };
  const keys = (rows: readonly Row[]): unknown[] =>
    rows.map(({ name, i }) => (kind.type === 'Bare' ? i : name)).toSorted();
  expect(await db.call(`count${kind.type}`)).toEqual({ count: left.length });
  expect(keysOf(await db.call(`list${kind.type}`))).toEqual(keys(left));
  for (const [query, args, is] of kind.finds ?? []) {
    const [found, wanted] = [keysOf(await db.call(query, args)), keys(left.filter(is))];
    // A search gives so many at most.
    if (wanted.length <= 10_000) expect(found, query).toEqual(wanted);
    else expect(found.length, query).toBe(kind.type === 'Doc' ? 10_000 : wanted.length);
  }
  if (kind.type === 'Spot') {
    const found = keysOf(await db.call('findSpot', { x: 1 }));
    const names = new Set(left.map(({ name }) => name));
    expect(found.filter((name) => !names.has(name as string))).toEqual([]);
    expect(found.length).toBe(Math.min(20, left.length));
  }
  if (kind.degree !== undefined) {
    const degree = kind.degree(size);
    const weighed = Array.from({ length: degree }, (_, i) => i).filter((i) => i % 5 === 3).length;
    const [count, found] = [left.length * degree, left.length * weighed];
    expect(await db.call('ties')).toEqual({ count, found, ends: count });
  }
}

describe('T15 a DROP of many elements', () => {
  it('leaves what a plain list says, and no trace of what went', async () => {
    const config = { 'limits.query_memory': '1GiB' };
    const { db, folder, dispose } = await openEmbedded({ sources: { 'main.hx': source }, config });
    try {
      const told: string[] = [];
      for (const [name, kind] of Object.entries(kinds)) {
        for (const size of sizes) {
          let left = await sow(db, kind, size);
          for (const halves of [[0], [0, 1]]) {
            const rest = left.filter(({ half }) => !halves.includes(half));
            let [longest, isOver] = [0, false];
            const writing = (async () => {
              while (!isOver) {
                const began = performance.now();
                await db.call('note');
                longest = Math.max(longest, performance.now() - began);
              }
            })();
            const began = performance.now();
            const answer = await db.call(`drop${kind.type}`, { halves });
            const ms = performance.now() - began;
            isOver = true;
            await writing;
            expect(answer, name).toEqual({ gone: left.length - rest.length });
            if (size === sizes.at(-1) && halves.length === 1)
              told.push(`${name} ${ms.toFixed(0)} (others ${longest.toFixed(0)})`);
            left = rest;
            await compare(db, kind, left, size);
          }
          if (kind.degree !== undefined) await db.call('dropLeaf', { halves: [0] });
        }
      }
      noteProof('T15', `ms of a DROP of half of ${sizes.at(-1)}: ${told.join(', ')}`);
      await db.close();
      const checked = await commandHere(['verify', '--deep', '--data', `${folder}/data`]);
      expect([checked.code, checked.stdout + checked.stderr]).toEqual([0, expect.any(String)]);
    } finally {
      await dispose();
    }
  }, 900_000);

  it('keeps its position among the calls of its caller, whether or not they were long before', async () => {
    const { db, dispose } = await openEmbedded({ sources: { 'main.hx': source } });
    try {
      await sow(db, kinds['of values of their own']!, 3_000);
      const answers: Promise<unknown>[] = [];
      for (let round = 0; round < 20; round++) {
        answers.push(db.call('addPlain', { name: 'before' }));
        answers.push(db.call('dropPlain', { halves: [0, 1] }));
        answers.push(db.call('addPlain', { name: 'behind' }));
      }
      const gone = (await Promise.all(answers)).filter((_, i) => i % 3 === 1);
      expect(gone).toEqual([{ gone: 3_001 }, ...new Array(19).fill({ gone: 2 })]);
      expect(await db.call('countPlain')).toEqual({ count: 1 });
    } finally {
      await dispose();
    }
  });

  it('of small hubs is bounded by the transaction, and by no count of edges below it', async () => {
    const { db, dispose } = await openEmbedded({ sources: { 'main.hx': source } });
    try {
      const rows = await sow(db, kinds['small hubs']!, 25_000);
      expect(await db.call('ties')).toMatchObject({ count: rows.length * 20 });
      expect(await db.call('dropHub', { halves: [0, 1] })).toEqual({ gone: rows.length });
      expect(await db.call('ties')).toEqual({ count: 0, found: 0, ends: 0 });
    } finally {
      await dispose();
    }
  });
});
