// Bulk loads against single calls: the same rows give the same dump, whatever way they came in, with
// the same rows refused; a load that was cut short goes on; a dump comes back as it was.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { randomOf } from '../../bench/support/seeded-random.js';
import { defaultLimits } from '../../engine/base/limits.js';
import { dump } from '../../engine/database/maintenance/dump.js';
import { DumpReader } from '../../engine/database/maintenance/restore-dump.js';
import { verifyStorage } from '../../engine/database/maintenance/verify.js';
import { type Storage, openStorage } from '../../engine/storage/open-storage.js';
import { freshFolder } from '../storage/support/garden.js';
import { makeFolder, writeProject } from '../support/project.js';
import { commandHere } from '../support/server/command-here.js';
import { type Server, runCli, startServer } from '../support/server/server.js';
import { type Twin, source, twins } from './row-pairs.js';

/** The dump with ids as numbers by first occurrence, and what was refused counted. */
function dumpOf(storage: Storage): string {
  const text = Buffer.concat([...dump(storage)]).toString();
  const ids = new Map<string, number>();
  const plain = text.replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, (id) => {
    if (!ids.has(id)) ids.set(id, ids.size);
    return `#${ids.get(id)}`;
  });
  return plain.slice(0, plain.lastIndexOf('{"trellis_dump_end"'));
}

function openGraph(data: string): Storage {
  return openStorage(join(data, 'graph'), { limits: defaultLimits, mode: 'create' });
}

/** Checks a stopped database and gives its dump. */
function inspect(data: string): string {
  const storage = openGraph(data);
  try {
    expect(verifyStorage(storage)).toEqual([]);
    return dumpOf(storage);
  } finally {
    storage.close();
  }
}

interface Indexes {
  indexes: { type: string; ef_measured: number }[];
}

const isLong = process.env.TRELLIS_TEST_LONG === '1';

const servers: Server[] = [];

async function start(): Promise<Server> {
  const config = { 'embedding.model': 'hash:3', 'storage.min_free': '1MiB' };
  const server = await startServer({ sources: { 'main.hx': source }, config });
  servers.push(server);
  return server;
}

afterAll(async () => {
  for (const server of servers) await server.stop().catch(() => undefined);
});

const importBody = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');

async function post(server: Server, path: string, body: string) {
  const type = path.startsWith('/_admin') ? 'x-ndjson' : 'json';
  const headers = { 'Content-Type': `application/${type}` };
  const url = `http://127.0.0.1:${server.port}${path}`;
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

async function byCalls(server: Server, list: readonly Twin[]): Promise<string[]> {
  const ids = new Map<string, string>();
  const refused: string[] = [];
  for (const { row, query, body } of list) {
    const known = { ...body };
    let lacksEnd = false;
    for (const end of ['a', 'b']) {
      if (known[end] === undefined) continue;
      lacksEnd ||= !ids.has(known[end] as string);
      known[end] = ids.get(known[end] as string);
    }
    const answer = lacksEnd ? undefined : await post(server, `/${query}`, JSON.stringify(known));
    if (answer?.status === 200) {
      const [id] = Object.values(answer.body) as unknown as string[];
      if (row.id) ids.set(row.id as string, id!);
    } else refused.push(answer === undefined ? 'NO_VALUE_FOUND' : String(answer.body.code));
  }
  return refused;
}

describe('bulk load', () => {
  it('gives the same data as single calls, and refuses the same rows', async () => {
    const list = twins();
    const single = await start();
    const refused = await byCalls(single, list);
    const bulk = await start();
    const answer = await post(bulk, '/_admin/import', importBody(list.map(({ row }) => row)));
    expect(answer.status).toBe(200);
    const rejects = answer.body.rejects as unknown as { error: { code: string } }[];
    expect(rejects.map(({ error }) => error.code)).toEqual(refused);
    expect(refused).toHaveLength(6);
    const found = await post(bulk, '/find', JSON.stringify({ words: 'topic3' }));
    expect(found.body).toEqual(
      (await post(single, '/find', JSON.stringify({ words: 'topic3' }))).body,
    );
    const near = { vec: [7, 1, -0.5] };
    const neighbours = await post(bulk, '/near', JSON.stringify(near));
    expect(neighbours.body).toEqual((await post(single, '/near', JSON.stringify(near))).body);
    await Promise.all([single.stop(), bulk.stop()]);
    expect(inspect(bulk.data)).toBe(inspect(single.data));
  });

  it('embeds texts, and accepts a load in parts, with other writes between', async () => {
    const server = await start();
    const rows = [
      { vector: 'Passage', embed: 'hello world', properties: { text: 'one' } },
      { node: 'Person', id: 'a', properties: { name: 'A' } },
      { node: 'Person', id: 'b', properties: { name: 'B' } },
    ];
    const first = await post(server, '/_admin/import?name=n&more=1', importBody(rows));
    // Nothing may be loaded yet: the part is short of a piece.
    expect(first.body.rejected).toBe(0);
    const last = importBody([
      { edge: 'Knows', from: 'a', to: 'b' },
      { edge: 'Knows', from: 'a', to: 'nobody' },
      'no row',
    ] as object[]);
    const second = await post(server, '/_admin/import?name=n', last);
    expect(second.body).toMatchObject({ nodes: 2, edges: 1, vectors: 1, rejected: 2 });
    const codes = (
      second.body.rejects as unknown as { line: number; error: { code: string } }[]
    ).map(({ line, error }) => [line, error.code]);
    expect(codes).toEqual([
      [5, 'NO_VALUE_FOUND'],
      [6, 'PARAM_TYPE'],
    ]);
    await server.stop();
    inspect(server.data);
  });

  it('reads CSV, writes refused rows to a file, and continues after a kill', async () => {
    const folder = makeFolder();
    writeProject(folder, {
      sources: {
        'main.hx': source,
        'Person.csv': `id,name,age,bio,tags,active\n${'x1,"Ada, ""Countess""",36,"two\nlines","[""a"",""b""]",true\n'}x2,Bob,,,,\nx3,Cy,old,,,\n`,
        'rest.ndjson': `\ufeff${importBody([
          { edge: 'Knows', from: 'x1', to: 'x2', properties: { since: 5 } },
          { edge: 'Knows', from: 'x1', to: 'x3' },
        ])}`,
      },
      config: { 'storage.min_free': '1MiB' },
    });
    const data = join(folder, 'data');
    const files = ['Person.csv', 'rest.ndjson'].map((name) => join(folder, name));
    const argv = ['import', folder, ...files, '--data', data];
    const done = await commandHere(argv, folder);
    expect(done.stdout).toContain('imported 2 nodes, 1 edge, 0 vectors');
    expect(done.code).toBe(1);
    const refused = readFileSync(`${files[0]}.rejects.ndjson`, 'utf8').trim().split('\n');
    expect(refused.map((line) => (JSON.parse(line) as { code: string }).code)).toEqual([
      'PARAM_TYPE',
      'NO_VALUE_FOUND',
    ]);
    expect(inspect(data)).toContain('"name":"Ada, \\"Countess\\"","age":36,"bio":"two\\nlines"');
  });

  it('loses and doubles nothing when it is killed and run again', async () => {
    const folder = makeFolder();
    // Enough for the piece at which it is killed, and more behind it.
    const count = 3_600;
    // A tenth of the persons is there already, and edges come before one of their ends.
    const rows: object[] = [{ settings: { node: 'Person', upsert: 'name' } }];
    for (let i = 0; i < count; i++) {
      rows.push({
        node: 'Place',
        id: `c${i}`,
        properties: { title: `City ${i} ${'x'.repeat(4_000)}` },
      });
      const name = `P${i % 30 === 6 ? i - 6 : i}`;
      if (i % 3 === 0) rows.push({ node: 'Person', id: `p${i}`, properties: { name } });
      if (i % 6 === 0) rows.push({ edge: 'Lives', from: `p${(i + 6) % count}`, to: `c${i >> 1}` });
    }
    writeProject(folder, {
      sources: { 'main.hx': source, 'rows.ndjson': importBody(rows) },
      config: { 'storage.min_free': '1MiB' },
    });
    const data = join(folder, 'data');
    const argv = ['import', folder, join(folder, 'rows.ndjson'), '--data', data];
    const env = { TRELLIS_FAILPOINT: 'loadPiece@3' };
    const killed = await runCli(argv, { cwd: folder, timeoutMs: 60_000, env });
    expect(killed.signal).toBe('SIGKILL');
    const done = await commandHere(argv, folder);
    expect(done.code).toBe(0);
    expect(done.stdout).toMatch(/after \d{4,} rows loaded before/);
    const text = inspect(data);
    expect(text.split('\n').filter((line) => line.startsWith('{"edge"'))).toHaveLength(600);
    expect(text.split('\n').filter((line) => line.startsWith('{"node"'))).toHaveLength(4_680);
  });

  const cuts = ['loadPiece@2', 'listEdges@2'];
  if (isLong) cuts.push('loadPiece@1', 'listEdges@1', 'listEdges@3');
  it.each(cuts)(
    'of edges that waited for their lists loses none, killed at %s',
    async (failpoint) => {
      const folder = makeFolder();
      const persons = 300;
      const rows: object[] = [];
      for (let i = 0; i < persons; i++) {
        const properties = { name: `P${i}`, bio: 'x'.repeat(4_000) };
        rows.push({ node: 'Person', id: `p${i}`, properties });
      }
      for (let i = 0; i < 3_000; i++) {
        const [from, to] = [`p${(i * 7) % persons}`, `p${i % 9 === 0 ? 0 : (i * 13) % persons}`];
        rows.push({ edge: 'Knows', from, to, properties: { since: i } });
      }
      writeProject(folder, {
        sources: { 'main.hx': source, 'rows.ndjson': importBody(rows) },
        config: { 'storage.min_free': '1MiB' },
      });
      const data = join(folder, 'data');
      const argv = ['import', folder, join(folder, 'rows.ndjson'), '--data', data];
      const env = { TRELLIS_FAILPOINT: failpoint };
      const run = (words: string[], more = {}) =>
        runCli(words, { cwd: folder, timeoutMs: 60_000, ...more });
      expect((await run(argv, { env })).signal).toBe('SIGKILL');
      const isWaiting = failpoint !== 'loadPiece@1';
      const reading = { env: { TRELLIS_STORAGE_READ_ONLY: 'true' } };
      if (isWaiting) {
        const serve = ['serve', folder, '--data', data, '--port', '0'];
        const refused = await run(serve, reading);
        expect(refused.code).toBe(74);
        expect(refused.stderr).toMatch(/DATA_DIR_BAD.*an import into these data was cut off/);
      }
      const verified = await commandHere(['verify', data, '--deep'], folder);
      expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('clean')]);
      const done = await commandHere(argv, folder);
      expect(done.code).toBe(0);
      const lines = inspect(data).split('\n');
      expect(lines.filter((line) => line.startsWith('{"edge"'))).toHaveLength(3_000);
      expect(lines.filter((line) => line.startsWith('{"node"'))).toHaveLength(persons);
    },
    120_000,
  );

  it('leaves an index of vectors that need not be measured first', async () => {
    const server = await start();
    await server.stop();
    // Of no order in many dimensions: narrow walks find too few.
    const random = randomOf(5);
    const rows = Array.from({ length: 6_000 }, (_, i) => ({
      vector: 'Passage',
      values: Array.from({ length: 64 }, () => Math.round(2000 * random() - 1000) / 1000),
      properties: { text: `t${i}` },
    }));
    const folder = makeFolder();
    writeFileSync(join(folder, 'rows.ndjson'), importBody(rows));
    const argv = ['import', server.project, join(folder, 'rows.ndjson'), '--data', server.data];
    expect((await commandHere(argv, folder)).code).toBe(0);
    await server.start();
    const { text } = await server.client.request({ method: 'GET', path: '_admin/indexes' });
    const { indexes } = JSON.parse(text) as Indexes;
    expect(indexes.find(({ type }) => type === 'Passage')!.ef_measured).toBeGreaterThan(0);
  });

  it('reads a dump back as it was', async () => {
    const server = await start();
    await post(server, '/_admin/import', importBody(twins().map(({ row }) => row)));
    await post(server, '/drop', JSON.stringify({ name: 'Person 3' }));
    await server.stop();
    const storage = openGraph(server.data);
    const text = Buffer.concat([...dump(storage)]);
    storage.close();
    const other = openStorage(freshFolder(), { limits: defaultLimits, mode: 'create' });
    const reader = new DumpReader(other, {
      limits: defaultLimits,
      textEnabled: true,
      textLanguage: 'english',
    });
    for (let at = 0; at < text.length; at += 10_000) reader.write(text.subarray(at, at + 10_000));
    reader.end();
    expect(Buffer.concat([...dump(other)]).equals(text)).toBe(true);
    expect(verifyStorage(other)).toEqual([]);
    const cut = openStorage(freshFolder(), { limits: defaultLimits, mode: 'create' });
    const short = new DumpReader(cut, {
      limits: defaultLimits,
      textEnabled: true,
      textLanguage: 'english',
    });
    short.write(text.subarray(0, text.length - 100));
    expect(() => short.end()).toThrow(/last line is missing/);
  });
});
