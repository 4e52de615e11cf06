// Data management through the commands and a running server: backup and restore, dump and load,
// compact, repair, salvage, and the cap on the data file.
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { verifyStorage } from '../../engine/database/maintenance/verify.js';
import { openStorage } from '../../engine/storage/open-storage.js';
import { makeFolder } from '../support/project.js';
import { commandHere } from '../support/server/command-here.js';
import { type Server, runCli, startServer } from '../support/server/server.js';

const source = `
N::Item { UNIQUE INDEX key: String, INDEX rank: I64, note: String }
V::Vec { note: String }
E::Next { From: Item, To: Item, Properties: {} }
QUERY add(key: String, rank: I64, note: String) => i <- AddN<Item>({ key, rank, note }) RETURN i::ID
QUERY vec(vec: [F64], note: String) => v <- AddV<Vec>(vec, { note }) RETURN v::ID
QUERY sow(rows: [{key: String, rank: I64, note: String}], vecs: [{vec: [F64], note: String}]) =>
  FOR row IN rows { AddN<Item>({ key: row.key, rank: row.rank, note: row.note }) }
  FOR one IN vecs { AddV<Vec>(one.vec, { note: one.note }) }
  RETURN "ok"
QUERY chain(pairs: [{a: String, b: String}]) =>
  FOR pair IN pairs { AddE<Next>::From(N<Item>({ key: pair.a }))::To(N<Item>({ key: pair.b })) }
  RETURN "ok"
QUERY get(key: String) => i <- N<Item>({ key: key }) RETURN i
QUERY near(vec: [F64]) => v <- SearchV<Vec>(vec, 1) RETURN v::{note}
QUERY find(words: String) => i <- SearchBM25<Item>(words, 3) RETURN i::{key}
QUERY cut(key: String) => DROP N<Item>({ key: key }) RETURN "ok"
QUERY clear() => DROP N<Item> RETURN "ok"
QUERY total() => i <- N<Item>::COUNT RETURN i
`;

let server: Server;
const config = { 'storage.min_free': '1MiB' };

async function call(target: Server, name: string, body: object = {}) {
  const headers = { 'Content-Type': 'application/json' };
  const url = `http://127.0.0.1:${target.port}/${name}`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Sixty items in a chain, and ten vectors. */
async function fill(target: Server): Promise<void> {
  const items = Array.from({ length: 60 }, (_, i) => i);
  const rows = items.map((i) => ({ key: `k${i}`, rank: i % 7, note: `note topic${i % 5}` }));
  const vecs = items.slice(0, 10).map((i) => ({ vec: [i, 1], note: `v${i}` }));
  const pairs = items.slice(1).map((i) => ({ a: `k${i - 1}`, b: `k${i}` }));
  expect((await call(target, 'sow', { rows, vecs })).body).toEqual({ data: 'ok' });
  expect((await call(target, 'chain', { pairs })).body).toEqual({ data: 'ok' });
}

/** Runs a command on the data of the project in `folder`. */
function command(folder: string, ...argv: string[]) {
  return commandHere(argv, folder);
}

const ends = ({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }) =>
  `${code} ${stdout}${stderr}`;

beforeAll(async () => {
  server = await startServer({ sources: { 'main.hx': source }, config });
  await fill(server);
});
afterAll(async () => {
  await server.stop().catch(() => undefined);
});

describe('data management', () => {
  it('backs up a running server, and restores into an empty directory only', async () => {
    const { folder, data } = server;
    const made = await command(folder, 'backup', 'one', '--data', data);
    expect(ends(made)).toMatch(/^0 backup .*one/);
    const backup = join(data, 'backups', 'one');
    expect(existsSync(join(backup, 'keys.json'))).toBe(false);
    const outside = await call(server, '_admin/backup', { name: '../../elsewhere' });
    expect(outside).toMatchObject({ status: 400, body: { code: 'PARAM_VALUE' } });
    const again = await call(server, '_admin/backup', { name: 'one' });
    expect(again).toMatchObject({ status: 400, body: { code: 'PARAM_VALUE', path: '/name' } });
    expect(JSON.stringify(again.body)).not.toContain(data);
    const number = await call(server, '_admin/backup', { name: 1 });
    expect(number).toMatchObject({ status: 400, body: { code: 'PARAM_TYPE', path: '/name' } });
    await call(server, 'add', { key: 'later', rank: 1, note: 'not in the backup' });
    const refused = await command(folder, 'restore', backup, '--data', data);
    expect(refused.code).toBe(74);
    const fresh = join(makeFolder(), 'data');
    expect(ends(await command(folder, 'restore', backup, '--data', fresh))).toMatch(/^0 restored/);
    const other = await startServer({
      sources: { 'main.hx': source },
      config,
      args: ['--data', fresh],
    });
    expect((await call(other, 'total')).body).toEqual({ i: 60 });
    expect((await call(other, 'near', { vec: [7, 1] })).body).toEqual({ v: [{ note: 'v7' }] });
    expect((await call(other, 'get', { key: 'later' })).status).toBe(404);
    await other.stop();
    const half = join(makeFolder(), 'data');
    const env = { TRELLIS_FAILPOINT: 'midRestoreRename@1' };
    const argv = ['restore', backup, '--data', half];
    const killed = await runCli(argv, { cwd: folder, timeoutMs: 30_000, env });
    expect(killed.signal).toBe('SIGKILL');
    expect(ends(await command(folder, 'compact', '--data', half))).toMatch(/^74 /);
    const damaged = join(backup, 'graph', 'data.mdb');
    const bytes = readFileSync(damaged);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(damaged, bytes);
    const bad = await command(folder, 'restore', backup, '--data', join(makeFolder(), 'data'));
    expect(ends(bad)).toMatch(/^74 .*DATA_CORRUPT/s);
  });

  it('verifies a running server, which continues to write', async () => {
    const verified = call(server, '_admin/verify');
    for (let i = 0; i < 20; i++) {
      const body = { key: `meanwhile ${i}`, rank: i, note: 'while it is verified' };
      expect((await call(server, 'add', body)).status).toBe(200);
    }
    expect(await verified).toEqual({ status: 200, body: { clean: true, violations: [] } });
  });

  it('dumps a running server, loads it, and dumps the same', async () => {
    const { folder, data } = server;
    const [first, second] = [join(folder, 'a.ndjson'), join(folder, 'b.ndjson')];
    expect(ends(await command(folder, 'dump', first, '--data', data))).toMatch(/^0 dumped/);
    const fresh = join(makeFolder(), 'data');
    expect(ends(await command(folder, 'load', first, '--data', fresh))).toMatch(/^0 loaded 1\d\d /);
    expect(ends(await command(folder, 'dump', second, '--data', fresh))).toMatch(/^0 dumped/);
    expect(readFileSync(second, 'utf8')).toBe(readFileSync(first, 'utf8'));
    expect((await command(folder, 'verify', fresh, '--deep')).code).toBe(0);
    expect((await command(folder, 'load', first, '--data', fresh)).code).toBe(74);
    const cut = join(folder, 'cut.ndjson');
    writeFileSync(cut, readFileSync(first).subarray(0, -40));
    const half = join(makeFolder(), 'data');
    expect((await command(folder, 'load', cut, '--data', half)).code).toBe(74);
    // What was begun is not taken for a database.
    expect((await command(folder, 'compact', '--data', half)).code).toBe(74);
  });

  it('shrinks the file, and repairs what is derived', async () => {
    const target = await startServer({ sources: { 'main.hx': source }, config });
    const { folder, data } = target;
    const rows: string[] = [];
    for (let i = 0; i < 5000; i++) {
      const properties = { key: `r${i}`, rank: i, note: 'x'.repeat(200) };
      rows.push(JSON.stringify({ node: 'Item', properties }));
    }
    const url = `http://127.0.0.1:${target.port}/_admin/import`;
    const headers = { 'Content-Type': 'application/x-ndjson' };
    await fetch(url, { method: 'POST', headers, body: rows.join('\n') });
    await call(target, 'clear');
    await fill(target);
    expect((await command(folder, 'compact', '--data', data)).code).toBe(75);
    await target.stop();
    const before = statSync(join(data, 'graph/data.mdb')).size;
    expect(ends(await command(folder, 'compact', '--data', data))).toMatch(/^0 compacted/);
    expect(statSync(join(data, 'graph/data.mdb')).size).toBeLessThan(before / 4);
    damageDerived(data);
    expect((await command(folder, 'verify', data, '--deep')).code).toBe(1);
    expect(ends(await command(folder, 'verify', data, '--repair-derived'))).toMatch(/^0 .*clean/s);
    const again = await startServer({
      sources: { 'main.hx': source },
      config,
      args: ['--data', data],
    });
    expect((await call(again, 'get', { key: 'k7' })).status).toBe(200);
    expect(((await call(again, 'find', { words: 'topic3' })).body.i as unknown[]).length).toBe(3);
    expect((await call(again, 'near', { vec: [4, 1] })).body).toEqual({ v: [{ note: 'v4' }] });
    await again.stop();
  });

  it('salvages what can be read', async () => {
    const target = await startServer({ sources: { 'main.hx': source }, config });
    await fill(target);
    await target.stop();
    const { folder, project, data } = target;
    damageRecord(data);
    const file = join(folder, 'rescued.ndjson');
    const done = await command(folder, 'verify', data, '--salvage', file);
    expect(ends(done)).toMatch(/^2 .*1 element could not/s);
    // Edges of the lost element are in the dump as well; `import` refuses exactly those.
    const fresh = join(makeFolder(), 'data');
    const back = await command(folder, 'import', project, file, '--data', fresh);
    expect(ends(back)).toContain('imported 59 nodes, 57 edges, 10 vectors');
    expect(back.code).toBe(1);
  });

  it('exits with 74 and says what to do if a page is missing', async () => {
    const target = await startServer({ sources: { 'main.hx': source }, config });
    await fill(target);
    await target.stop();
    const { folder, project, data } = target;
    const path = join(data, 'graph', 'data.mdb');
    const bytes = readFileSync(path);
    const page = bytes.indexOf('"note topic3"') & ~4095;
    writeFileSync(path, bytes.fill(0, page, page + 4096));
    const out = join(makeFolder(), 'out');
    const refused: string[][] = [
      ['serve', project, '--data', data, '--port', '0'],
      ['dump', out, '--data', data],
      ['backup', 'b', '--data', data],
      ['compact', '--data', data],
    ];
    for (const words of refused) {
      const { code, stderr } = await command(folder, ...words);
      expect([words[0], code]).toEqual([words[0], 74]);
      const last = stderr.trimEnd().split('\n').at(-1);
      expect(last).toMatch(/^DATA_CORRUPT: Stored data is damaged: data\.mdb, .*--repair-derived/);
      expect(stderr).not.toMatch(/^ {4}at /m);
    }
    expect(existsSync(out)).toBe(false);
    expect((await command(folder, 'verify', data, '--deep')).code).toBe(2);
    const saved = await command(folder, 'verify', data, '--salvage', out);
    expect([0, 2]).toContain(saved.code);
    expect(saved.stdout).toMatch(/^Item: \d+ of 60/m);
  });

  it('compacts to the size of a dump that is loaded again', async () => {
    const other = await startServer({ sources: { 'main.hx': source }, config });
    await fill(other);
    const rows = Array.from({ length: 240 }, (_, i) => `"${i}" ${'w'.repeat(i % 90)}`);
    for (const [i, note] of rows.entries()) {
      await call(other, 'add', { key: `n${i % 300}-${i}`, rank: i % 11, note });
      if (i % 3 === 2) await call(other, 'cut', { key: `n${(i - 2) % 300}-${i - 2}` });
    }
    await other.stop();
    const file = join(makeFolder(), 'dump.ndjson');
    const dumped = await command(other.folder, 'dump', file, '--data', other.data);
    expect(dumped.code).toBe(0);
    const fresh = join(makeFolder(), 'data');
    expect((await command(other.folder, 'load', file, '--data', fresh)).code).toBe(0);
    expect((await command(other.folder, 'compact', '--data', fresh)).code).toBe(0);
    expect((await command(other.folder, 'compact', '--data', other.data)).code).toBe(0);
    const sizes = [other.data, fresh].map((data) => statSync(join(data, 'graph/data.mdb')).size);
    expect(sizes[0]! / sizes[1]!).toBeLessThan(1.1);
    const verified = await command(other.folder, 'verify', other.data, '--deep');
    expect(ends(verified)).toMatch(/^0 /);
  });

  it('says what the disk said of backups and snapshots, and stops in order without them', async () => {
    const other = await startServer({ sources: { 'main.hx': source }, config });
    await fill(other);
    writeFileSync(join(other.data, 'backups'), 'a file where the folder should be');
    const refused = await call(other, '_admin/backup', { name: 'one' });
    expect(refused.body).toMatchObject({ code: 'DATA_DIR_BAD' });
    renameSync(join(other.data, 'vec'), join(other.data, 'gone'));
    writeFileSync(join(other.data, 'vec'), '');
    const failed = await call(other, '_admin/snapshot');
    expect(failed.body).toMatchObject({ code: 'DATA_DIR_BAD' });
    expect((await call(other, 'total')).body).toEqual({ i: 60 });
    expect(await other.stop()).toMatchObject({ code: 0, signal: null });
  });

  it('stops writing at the cap on the data file', async () => {
    const capped = { ...config, 'storage.max_bytes': '2MiB' };
    const target = await startServer({ sources: { 'main.hx': source }, config: capped });
    let status = 200;
    for (let i = 0; status === 200 && i < 200; i++) {
      const body = { key: `k${i}`, rank: i, note: 'y'.repeat(100_000) };
      status = (await call(target, 'add', body)).status;
    }
    expect(status).toBe(507);
    expect((await call(target, 'get', { key: 'k1' })).status).toBe(200);
    // What only deletes still runs, as the hint says, and what it frees can be used again.
    const body = { key: 'last', rank: 1, note: 'z'.repeat(100_000) };
    expect((await call(target, 'add', body)).body.hint).toContain('DROP');
    expect((await call(target, 'clear', {})).status).toBe(200);
    await expect.poll(async () => (await call(target, 'add', body)).status).toBe(200);
    expect(statSync(join(target.data, 'graph/data.mdb')).size).toBeLessThan(8 * 2 ** 20);
    await target.stop();
  });
});

/** Takes entries of indexes and postings away behind the store's back. */
function damageDerived(data: string): void {
  const storage = openStorage(join(data, 'graph'), { limits: defaultLimits, mode: 'create' });
  const everything = { start: Uint8Array.of(0), end: new Uint8Array(64).fill(255) };
  const { env } = storage;
  env.transact(() => {
    for (const key of env.index.keys({ ...everything, limit: 20 })) env.index.remove(key);
    const postings = { start: Uint8Array.of(0x54, 1), end: Uint8Array.of(0x54, 2) };
    for (const key of env.derived.keys({ ...postings, limit: 3 })) env.derived.remove(key);
    return true;
  });
  expect(verifyStorage(storage).length).toBeGreaterThan(0);
  storage.close();
}

/** Spoils a byte of the third node's record. */
function damageRecord(data: string): void {
  const path = join(data, 'graph', 'data.mdb');
  const bytes = readFileSync(path);
  // The newest copy of the value is the one that counts: all are spoilt.
  const text = Buffer.from('"k3"3"note topic3"');
  const found: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) found.push(at);
  expect(found.length).toBeGreaterThan(0);
  for (const at of found) bytes[at + 8]! ^= 1;
  writeFileSync(path, bytes);
}
