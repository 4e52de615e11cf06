// Reload through a real server: every way in which editors save, faulty sets, changed schemas,
// sessions that live on, and calls that are on their way while the program changes.
import {
  mkdirSync,
  openSync,
  readFileSync,
  closeSync,
  renameSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { Client } from '../support/server/http.js';
import { runCli, type Server, type StartOptions, startServer } from '../support/server/server.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const schema = 'N::Doc { no: I64, title: String }\n';
const answer = (text: string) => `QUERY ping() => RETURN "${text}"\n`;

let server: Server | undefined;
afterEach(async () => {
  await server?.dispose();
  server = undefined;
});

async function start(sources: Record<string, string>, options: Partial<StartOptions> = {}) {
  server = await startServer({ sources, ...options });
  return server;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const pathOf = ({ project }: Server, name: string) => join(project, name);
const save = (one: Server, name: string, text: string) => writeFileSync(pathOf(one, name), text);

const residentKiB = ({ pid }: Server): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);

async function ping({ client }: Server): Promise<string> {
  const { status, text } = await client.request({ path: 'ping', body: '{}' });
  return status === 200 ? (JSON.parse(text) as { data: string }).data : `${status} ${text}`;
}

/** Asks until the answer is there; every answer on the way must be the old one. */
async function becomes(one: Server, from: string, to: string): Promise<void> {
  const until = performance.now() + 40_000;
  for (;;) {
    const got = await ping(one);
    if (got === to) return;
    expect(got).toBe(from);
    if (performance.now() > until) expect.fail(`still ${from}:\n${one.stderr}`);
    await pause(5);
  }
}

describe('ways to save', () => {
  const styles: [name: string, save: (one: Server, text: string) => void | Promise<void>][] = [
    ['in place', (one, text) => save(one, 'b.hx', text)],
    [
      'by renaming a new file over it',
      (one, text) => {
        save(one, 'b.hx.tmp', text);
        renameSync(pathOf(one, 'b.hx.tmp'), pathOf(one, 'b.hx'));
      },
    ],
    [
      'by keeping the old one as a backup',
      (one, text) => {
        renameSync(pathOf(one, 'b.hx'), pathOf(one, 'b.hx~'));
        save(one, 'b.hx', text);
        unlinkSync(pathOf(one, 'b.hx~'));
      },
    ],
    [
      'by emptying it and writing slowly',
      async (one, text) => {
        const file = openSync(pathOf(one, 'b.hx'), 'w');
        await pause(60);
        writeSync(file, text);
        closeSync(file);
      },
    ],
    [
      'by deleting and writing it anew',
      async (one, text) => {
        unlinkSync(pathOf(one, 'b.hx'));
        await pause(60);
        save(one, 'b.hx', text);
      },
    ],
  ];
  test('each is one change, and the old program answers until then', async () => {
    const one = await start({ 'a.hx': schema, 'b.hx': answer('0') });
    for (const [i, [name, write]] of styles.entries()) {
      const done = becomes(one, `${i}`, `${i + 1}`);
      await write(one, answer(`${i + 1}`));
      await done.catch((error: unknown) => expect.fail(`${name}: ${String(error)}`));
    }
    expect(one.stderr.match(/sources reloaded/g)).toHaveLength(styles.length);
  });

  test('files in folders below, old and new ones', async () => {
    const one = await start({ 'db/a.hx': schema, 'db/deep/b.hx': answer('0') });
    save(one, 'db/deep/b.hx', answer('1'));
    await becomes(one, '0', '1');
    mkdirSync(pathOf(one, 'db/new'));
    save(one, 'db/new/c.hx', 'QUERY more() => RETURN "more"\n');
    await expect
      .poll(async () => (await one.client.request({ path: 'more', body: '{}' })).status)
      .toBe(200);
    save(one, 'db/new/c.hx', 'QUERY other() => RETURN "other"\n');
    await expect
      .poll(async () => (await one.client.request({ path: 'other', body: '{}' })).status)
      .toBe(200);
  });

  test('several files together: schema and queries that need each other', async () => {
    const one = await start({ 'a.hx': schema, 'b.hx': answer('0') });
    const texts = { 'a.hx': `${schema}N::Tag { word: String }\n`, 'b.hx': answer('1') };
    save(one, 'c.hx', 'QUERY tags() => t <- N<Tag> RETURN t\n');
    for (const [name, text] of Object.entries(texts)) save(one, name, text);
    await becomes(one, '0', '1');
    expect(await one.client.post('tags')).toEqual({ t: [] });
    expect(one.stderr).not.toContain('reload failed');
  });
});

test('an invalid set is reported and the old one serves; the corrected set serves', async () => {
  const one = await start({ 'a.hx': schema, 'b.hx': answer('0') });
  save(one, 'b.hx', 'QUERY ping() => x <- N<Dok> RETURN x\n');
  await expect.poll(() => one.stderr).toMatch(/still serving the previous version/);
  expect(one.stderr).toMatch(/"code":"E101","file":"b.hx","line":1,"column":24/);
  expect(await ping(one)).toBe('0');
  save(one, 'b.hx', answer('1'));
  await becomes(one, '0', '1');
});

test('`dev` watches and prints code frames; without watching nothing is reloaded automatically', async () => {
  const sources = { 'a.hx': schema, 'b.hx': answer('0') };
  const one = await start(sources, { command: 'dev', toml: 'server.watch = false' });
  save(one, 'b.hx', 'QUERY ping() => x <- N<Dok> RETURN x\n');
  await expect.poll(() => one.stderr).toContain('b.hx:1:24 E101');
  expect(one.stderr).toMatch(/QUERY ping\(\) => x <- N<Dok> RETURN x\n\s*\S*\s*\^/);
  save(one, 'b.hx', answer('1'));
  await becomes(one, '0', '1');
  await one.restart({ command: 'serve', args: ['--no-watch'] });
  save(one, 'b.hx', answer('2'));
  await pause(400);
  expect(await ping(one)).toBe('1');
  process.kill(one.pid, 'SIGHUP');
  await becomes(one, '1', '2');
  const { stderr, code } = await runCli(['dev', '--wotch'], { cwd: one.project });
  expect([code, stderr]).toEqual([78, expect.stringContaining('--watch')]);
});

test('a changed schema follows the rules of migration', async () => {
  const queries =
    'QUERY add(no: I64) => d <- AddN<Doc>({no: no}) RETURN d\nQUERY docs() => d <- N<Doc> RETURN d::!{id}\n';
  const one = await start({ 'a.hx': schema, 'b.hx': queries });
  await one.client.post('add', { no: 7 });
  save(one, 'a.hx', 'N::Doc { INDEX no: I64, title: String, year: I32 DEFAULT 1 }\n');
  const added = { d: [{ label: 'Doc', no: 7, title: null, year: null }] };
  await expect.poll(() => one.client.post('docs')).toEqual(added);
  save(one, 'b.hx', 'QUERY docs() => d <- N<Doc> RETURN d::!{id}\n');
  save(one, 'a.hx', 'N::Doc { no: String, title: String }\n');
  await expect.poll(() => one.stderr).toMatch(/reload failed.*Doc\.no/);
  expect(await one.client.post('docs')).toEqual(added);
  save(
    one,
    'a.hx',
    'schema::1 { N::Doc { no: I64, title: String } }\nschema::2 { N::Doc { no: String, title: String } }\n' +
      'MIGRATION schema::1 => schema::2 { N::Doc => _:: { no: no AS String } }\n',
  );
  const migrated = { d: [{ label: 'Doc', no: '7', title: null }] };
  await expect.poll(() => one.client.post('docs')).toEqual(migrated);
});

test('sessions continue; items whose type was removed are skipped', async () => {
  const both = 'N::Doc { no: I64 }\nN::Tag { word: String }\nE::Has { From: Doc, To: Tag }\n';
  const queries =
    'QUERY sow() => d <- AddN<Doc>({no: 1}) t <- AddN<Tag>({word: "w"}) AddE<Has>::From(d)::To(t) RETURN d\n';
  const one = await start({ 'a.hx': both, 'b.hx': `${queries}${answer('0')}` });
  await one.client.post('sow');
  const session = await one.client.post('mcp/init');
  const call = (tool: string, rest: object) =>
    one.client.post(`mcp/${tool}`, { connection_id: session, ...rest });
  expect(await call('n_from_type', { data: { node_type: 'Doc' } })).toMatchObject({ no: 1 });
  save(one, 'a.hx', `${both}N::Extra {}\n`);
  save(one, 'b.hx', `${queries}${answer('1')}`);
  await becomes(one, '0', '1');
  const step = { data: { edge_label: 'Has', edge_type: 'node' } };
  expect(await call('out_step', step)).toMatchObject({ word: 'w' });
  save(one, 'a.hx', 'N::Doc { no: I64 }\n');
  save(one, 'b.hx', answer('2'));
  await becomes(one, '1', '2');
  expect(await call('collect', { drop: false })).toEqual([]);
  expect(await call('n_from_type', { data: { node_type: 'Doc' } })).toMatchObject({ no: 1 });
});

test('T17: running calls get the version that they requested', {
  timeout: long ? 1_800_000 : 60_000,
}, async () => {
  const queries = (turn: number) => {
    const list = Array.from({ length: 12 }, (_, i) => [
      `QUERY read${i}() => d <- N<Doc>::WHERE(_::{no}::GTE(0))::COUNT RETURN d, "read${i}"\n`,
      `QUERY write${i}() => d <- AddN<Doc>({no: ${i}}) RETURN d::{no}, "write${i}"\n`,
    ]).flat();
    // Every program has its queries at other places.
    return [...list.slice(turn % 24), ...list.slice(0, turn % 24), answer(`${turn}`)].join('');
  };
  const one = await start({ 'a.hx': schema, 'b.hx': queries(0) });
  const turns = long ? 1000 : 12;
  let running = true;
  let calls = 0;
  let early = 0;
  const wrong: string[] = [];
  const client = async (i: number): Promise<void> => {
    const connection = new Client(one.port);
    const name = i % 2 === 0 ? `read${i}` : `write${i}`;
    while (running) {
      const { status, text } = await connection.request({ path: name, body: '{}' });
      calls++;
      if (status !== 200 || !text.includes(`"data":"${name}"`)) wrong.push(`${name}: ${text}`);
    }
    connection.close();
  };
  const clients = Array.from({ length: 12 }, (_, i) => client(i));
  for (let turn = 1; turn <= turns; turn++) {
    const broken = turn % 10 === 0;
    if (broken) {
      save(one, 'b.hx', `${queries(turn)}QUERY bad( =>`);
      await pause(40);
    }
    save(one, 'b.hx', queries(turn));
    await becomes(one, `${turn - 1}`, `${turn}`);
    if (turn === Math.floor(turns / 5)) early = residentKiB(one);
  }
  // Programs that nobody calls any more are let go of.
  if (long) expect(residentKiB(one)).toBeLessThan(early * 1.2 + 65_536);
  running = false;
  await Promise.all(clients);
  expect(wrong.slice(0, 3)).toEqual([]);
  expect(calls).toBeGreaterThan(turns);
});
