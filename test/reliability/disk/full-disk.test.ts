// A disk that is full for a while, in every way in which a system says so, under everything that writes: the grid of
// faults and operations. What adds data is 507 INSUFFICIENT_STORAGE with numbers, reads and deletes go on, nothing is a
// defect or left behind, and writing goes on by itself when there is room. What is no shortage stays final: a sync that
// failed, and a true error of the disk.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeFolder, writeProject } from '../../support/project.js';
import { noteProof } from '../../support/proof.js';
import { runCli, Server } from '../../support/server/server.js';
import { MemoryDisk, whyNoMemoryDisk } from '../support/small-disk.js';
import { Recorder, whyNoRecorder } from '../support/recorder.js';

const missing = whyNoRecorder();
const isLong = process.env.TRELLIS_TEST_LONG === '1';
const config = { 'storage.ballast': 0, 'storage.min_free': 0, 'snapshot.interval': '1h' };
const sources = {
  'main.hx': `
N::Item { UNIQUE INDEX key: I64, text: String }
V::Emb { key: I64 }
QUERY put(key: I64, text: String) => i <- AddN<Item>({ key: key, text: text }) RETURN i::{key}
QUERY embed(v: [F64]) => AddV<Emb>(v, { key: 1 }) RETURN "ok"
QUERY remove(key: I64) => DROP N<Item>({ key: key }) RETURN "gone"
QUERY count() => n <- N<Item>::COUNT RETURN n
`,
};
/** With one more index, of large values: a reload has to write. */
const wider = sources['main.hx'].replace('text: String }', 'INDEX text: String }');
const longOf = (key: number): string => String(key).padEnd(1_800, 'x');
const settleMs = 20_000;
/** LMDB's own end: see io-fault.test.ts. Such a run tells nothing, and is made again. */
const lmdbWriteError = /^Write error: .+ position \d+, size \d+/m;

class House {
  readonly #home: string;
  readonly #switch = join(makeFolder(), 'full');
  readonly recorder: Recorder;
  readonly server: Server;

  constructor(home = makeFolder()) {
    this.#home = home;
    mkdirSync(join(this.#home, 'project'));
    writeProject(join(this.#home, 'project'), { sources, config });
    this.recorder = new Recorder(this.#home, join(makeFolder(), 'log'), { full: this.#switch });
    const options = { env: this.recorder.env, args: ['--allow-preload'] };
    this.server = new Server(this.#home, options);
  }

  path(...names: string[]): string {
    return join(this.#home, ...names);
  }

  fill(how: string): void {
    writeFileSync(this.#switch, how);
  }

  free(): void {
    rmSync(this.#switch, { force: true });
  }

  async call(path: string, body: object = {}): Promise<{ status: number; text: string }> {
    return this.server.client.request({ path, body: JSON.stringify(body) });
  }

  command(...argv: string[]) {
    return runCli(argv, { env: this.recorder.env });
  }

  get wasAborted(): boolean {
    const { child, stderr } = this.server;
    return child.signalCode === 'SIGABRT' && lmdbWriteError.test(stderr);
  }
}

async function inHouse(work: (house: House) => Promise<void>): Promise<void> {
  for (let left = 3; ; left--) {
    const house = new House();
    try {
      return await work(house);
    } catch (error) {
      if (left === 0 || !house.wasAborted) throw error;
    } finally {
      house.free();
      await house.server.dispose();
    }
  }
}

const refused = {
  status: 507,
  text: expect.stringMatching(
    /"code":"INSUFFICIENT_STORAGE","args":\{"free":\d+,"needed":[1-9]\d*\}/,
  ),
};

/** All that writes, on a server whose disk is full. */
const writes: [string, string, object][] = [
  ['put', 'put', { key: 1_000, text: longOf(1_000) }],
  ['embed', 'embed', { v: [1, 2] }],
  ['snapshot', '_admin/snapshot', {}],
  ['backup', '_admin/backup', { name: 'one' }],
];

async function fillUp(house: House): Promise<void> {
  for (let key = 0; key < 150; key++)
    expect((await house.call('put', { key, text: longOf(key) })).status).toBe(200);
  expect((await house.call('embed', { v: [1, 2] })).status).toBe(200);
}

/** Until writing goes on; it does so by itself. */
async function goesOn(house: House): Promise<void> {
  const until = performance.now() + settleMs;
  for (let key = 5_000; ; key++) {
    const { status, text } = await house.call('put', { key, text: 'again' });
    if (status === 200) return;
    expect({ status, text }).toEqual(refused);
    if (performance.now() > until) expect.fail('writing does not go on');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const ready = async ({ server }: House): Promise<object> =>
  JSON.parse((await server.client.request({ method: 'GET', path: 'readyz' })).text) as object;

async function underway(house: House, how: string): Promise<void> {
  await fillUp(house);
  house.fill(how);
  // What finds room in the file itself may be done; sooner or later the end of the disk is met.
  let met = await house.call('put', { key: 500, text: longOf(500) });
  for (let key = 501; met.status === 200 && key < 1_000; key++)
    met = await house.call('put', { key, text: longOf(key) });
  for (const [name, path, body] of writes)
    expect({ name, ...(await house.call(path, body)) }).toMatchObject({ name, ...refused });
  expect((await house.call('count')).status).toBe(200);
  // Behind a quota, of which the disk says nothing, the pages that lie ready may be used up by then.
  expect([200, 507]).toContain((await house.call('remove', { key: 7 })).status);
  const full = { ready: true, writes: false, read_only_reason: 'the disk is full' };
  expect(await ready(house)).toMatchObject(full);
  const rows = house.path('rows.csv');
  writeFileSync(
    rows,
    `key,text\n${Array.from({ length: 500 }, (_, i) => `${9_000 + i},${longOf(i)}`).join('\n')}\n`,
  );
  const { port } = house.server;
  const importing = ['import', rows, '--project', house.path('project'), '--node', 'Item'];
  const url = ['--url', `http://127.0.0.1:${port}`];
  const failed = await house.command(...importing, ...url);
  expect(failed).toMatchObject({
    code: 74,
    stderr: expect.stringContaining('INSUFFICIENT_STORAGE: '),
  });
  writeFileSync(house.path('project', 'main.hx'), wider);
  const reload = await house.call('_admin/reload');
  expect(reload.text).not.toMatch(/\{request_id\}|INTERNAL/);
  expect(reload.text).toContain('Not enough disk space');
  house.free();
  await goesOn(house);
  expect(await ready(house)).toMatchObject({ ready: true, writes: true });
  expect((await house.call('_admin/reload')).text).toContain('"reloaded":true');
  expect(await house.command(...importing, ...url)).toMatchObject({ code: 0 });
  expect((await house.call('_admin/backup', { name: 'one' })).status).toBe(200);
  expect(house.server.stderr).not.toContain('"stack"');
}

describe.skipIf(missing !== undefined)('a full disk', () => {
  test.concurrent.each(isLong ? ['ENOSPC', 'EDQUOT', 'SHORT'] : ['SHORT'])(
    '%s while a server runs: refused, and writing continues automatically',
    async (how) => {
      await inHouse(async (house) => {
        await house.server.start();
        await underway(house, how);
        house.fill(how);
        expect(await house.server.stop()).toEqual({ code: 0, signal: null });
        await house.server.start();
        expect((await house.call('count')).status).toBe(200);
        expect([200, 507]).toContain((await house.call('remove', { key: 8 })).status);
        expect(await house.server.stop()).toEqual({ code: 0, signal: null });
        house.free();
        const verify = await house.command('verify', '--deep', house.path('data'));
        expect(verify, verify.stdout).toMatchObject({ code: 0 });
        noteProof('T5', `${how} until there is room: 7 kinds of writes refused, then done`);
      });
    },
    120_000,
  );

  test.concurrent.each(isLong ? ['EIO', 'SYNC'] : ['SYNC'])(
    '%s is final',
    async (how) => {
      await inHouse(async (house) => {
        await house.server.start();
        await fillUp(house);
        house.fill(how);
        const lost = await house.call('put', { key: 1_000, text: longOf(1_000) });
        expect(lost).toMatchObject({ status: 503, text: expect.stringContaining('"READ_ONLY"') });
        house.free();
        await new Promise((resolve) => setTimeout(resolve, 600));
        const later = await house.call('put', { key: 1_001, text: longOf(1_001) });
        expect(later).toMatchObject({ status: 503, text: expect.stringContaining('"READ_ONLY"') });
        expect((await house.call('count')).status).toBe(200);
        expect(await house.server.stop()).toEqual({ code: 0, signal: null });
      });
    },
    60_000,
  );

  test.skipIf(whyNoMemoryDisk() !== undefined)(
    'only for this process: adds are refused, reads and deletes continue, also from the start on',
    async () => {
      const disk = new MemoryDisk(32 * 2 ** 20);
      const house = new House(disk.folder);
      try {
        await house.server.start();
        await fillUp(house);
        // Pages are laid ready once a second.
        await new Promise((resolve) => setTimeout(resolve, 1_200));
        disk.fill();
        expect(await house.call('put', { key: 500, text: longOf(500) })).toMatchObject(refused);
        for (let key = 0; key < 20; key++)
          expect(await house.call('remove', { key })).toMatchObject({ status: 200 });
        expect(await house.server.stop()).toEqual({ code: 0, signal: null });
        await house.server.start();
        expect((await house.call('count')).text).toContain('130');
        for (let key = 20; key < 40; key++)
          expect(await house.call('remove', { key })).toMatchObject({ status: 200 });
        expect(await house.call('put', { key: 500, text: longOf(500) })).toMatchObject(refused);
        disk.free();
        await goesOn(house);
        expect(await house.server.stop()).toEqual({ code: 0, signal: null });
        noteProof('T7', 'a full disk: reads and 40 deletes, also after a start on it');
      } finally {
        await house.server.kill();
        disk.remove();
      }
    },
    60_000,
  );

  test.concurrent('commands say how much room they need, leave nothing, and are good for a second try', async () => {
    await inHouse(async (house) => {
      await house.server.start();
      await fillUp(house);
      await house.server.stop();
      const project = ['--project', house.path('project'), '--data', house.path('data')];
      const backup = house.path('data', 'backups', 'kept');
      const dump = house.path('kept.txt');
      expect(await house.command('backup', 'kept', ...project)).toMatchObject({ code: 0 });
      expect(await house.command('dump', dump, ...project)).toMatchObject({ code: 0 });
      const before = readdirSync(house.path('data')).sort();
      const lines: [line: string[], made: string | undefined][] = [
        [['compact', ...project], undefined],
        [['backup', 'two', ...project], house.path('data', 'backups', 'two.tmp')],
        [['dump', house.path('two.txt'), ...project], house.path('two.txt')],
        [['verify', ...project, '--salvage', house.path('saved.txt')], house.path('saved.txt')],
        [['restore', backup, '--data', house.path('restored')], house.path('restored', 'graph')],
        [['load', dump, '--data', house.path('loaded')], house.path('loaded', 'graph')],
      ];
      for (const [line, made] of lines) {
        house.fill('ENOSPC');
        const { code, stderr } = await house.command(...line);
        const last = expect.stringMatching(
          /^INSUFFICIENT_STORAGE: Not enough disk space: \d+ bytes free, [1-9]/m,
        );
        expect({ line, code, stderr }).toEqual({ line, code: 74, stderr: last });
        if (made !== undefined) expect([made, existsSync(made)]).toEqual([made, false]);
        expect(readdirSync(house.path('data')).sort()).toEqual(before);
        house.free();
        const again = await house.command(...line);
        expect({ line, ...again }).toMatchObject({ line, code: 0 });
      }
    });
  });
});
