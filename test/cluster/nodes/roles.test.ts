// Databases that share a log: who leads, what the others hold, and what writes are told when the log does not
// answer, answers late, or says no.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Compared } from '../../../engine/cluster/node.js';
import { openEnv } from '../../../engine/storage/table/env.js';
import { TestCluster, type TestNode } from '../support/nodes.js';
import { Workload, source } from '../support/workload.js';
import { expectFigure } from '../../support/run/figure.js';

const isLong = process.env.TRELLIS_TEST_LONG === '1';

let cluster: TestCluster;

const add = (node: TestNode, code: string) => node.db.call('add', { code, stock: 1 });
const codes = async (node: TestNode): Promise<string[]> => {
  const { items } = await node.db.call<{ items: { code: string }[] }>('all', {});
  return items.map(({ code }) => code).sort();
};
const codeOf = ({ code }: { code: string }): string => code;
const other = (node: TestNode): TestNode =>
  [...cluster.nodes.values()].find((each) => each !== node)!;

/** Which node is which changes from test to test; each begins with a leader and a follower at its side. */
async function roles(): Promise<{ leader: TestNode; follower: TestNode }> {
  const leader = await cluster.leader();
  await cluster.settle();
  return { leader, follower: other(leader) };
}

describe('two nodes', () => {
  const expected: string[] = [];
  beforeAll(async () => {
    cluster = await TestCluster.found(['a', 'b'], source);
    await Promise.all([cluster.open('a'), cluster.open('b')]);
  });
  afterEach(() => {
    for (const { name } of cluster.nodes.values()) cluster.log.fault(name, undefined);
  });
  afterAll(() => cluster.close());

  const expectSame = async (): Promise<void> => {
    await cluster.settle();
    for (const node of cluster.nodes.values()) expect(await codes(node)).toEqual(expected.sort());
    expect(cluster.hashesOf('b')).toEqual(cluster.hashesOf('a'));
  };

  test('K14 K21 one leads, and what it has answered is on the other one', async () => {
    const { leader, follower } = await roles();
    await add(leader, 'one');
    expected.push('one');
    await follower.cluster.waitFor(leader.cluster.position, 40_000);
    expect(await codes(follower)).toEqual(['one']);
    await expect(add(follower, 'two')).rejects.toMatchObject({
      data: { code: 'NOT_LEADER', args: { node: leader.name, address: `${leader.name}:1` } },
    });
    expect(follower.cluster.leader).toEqual({ node: leader.name, address: `${leader.name}:1` });
    expect([leader, follower].map(({ cluster }) => cluster.isReady)).toEqual([true, true]);
    await expectSame();
  });

  test('K09 an append whose reply is lost is repeated, and done one time', async () => {
    const { leader } = await roles();
    cluster.log.fault(leader.name, { loseAnswers: 2 });
    await add(leader, 'lost answer');
    expected.push('lost answer');
    await expectSame();
  });

  test('K08 while the log does not answer its writer waits and lives, and reads are answered', async () => {
    const { leader } = await roles();
    cluster.log.fault(leader.name, { away: 'lost' });
    const begun = performance.now();
    const told = add(leader, 'slow log').then(() => undefined, codeOf);
    let isOver = false;
    void told.finally(() => {
      isOver = true;
    });
    // Nearly as long as it would wait at most.
    setTimeout(() => cluster.log.fault(leader.name, undefined), 800);
    const ages: number[] = [];
    let reads = 0;
    while (!isOver) {
      expect(await codes(leader)).not.toContain('slow log');
      if (!isOver) reads++;
      ages.push(leader.db.database.status().heartbeatAge!);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(performance.now() - begun).toBeGreaterThan(790);
    expect(reads).toBeGreaterThan(5);
    // It says so every 250 ms, in slices of its wait.
    expectFigure(1000 * Math.max(...ages), 600, 'ms without a sign of the writer');
    // On a machine that stands still the wait may be over first; what it was then is found out.
    expect([undefined, 'OUTCOME_UNKNOWN', 'NOT_LEADER', 'NO_LEADER']).toContain(await told);
    const { leader: next } = await roles();
    if ((await codes(next)).includes('slow log')) expected.push('slow log');
    else expect(await told).toBeDefined();
    await expectSame();
  });

  test('K08 a request that waits for a suspended writer gets its timeout, and nothing is done', async () => {
    const { leader } = await roles();
    cluster.log.fault(leader.name, { away: 'held' });
    const { database } = leader.db;
    const call = (code: string, budgetMs: number): Promise<string> => {
      const body = Buffer.from(JSON.stringify({ code, stock: 1 }));
      return Promise.resolve(database.call('add', body, { budgetMs })).then(() => 'done', codeOf);
    };
    let isOver = false;
    // The writer stands in the append of the first; the others are in its hands already, or in the queue.
    const first = call('stands', 30_000).finally(() => {
      isOver = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const said = await Promise.all(Array.from({ length: 40 }, (_, i) => call(`waits ${i}`, 200)));
    const wasInTime = !isOver;
    cluster.log.fault(leader.name, undefined);
    // On a machine that stands still the append may be over first.
    if (wasInTime) expect(new Set(said)).toEqual(new Set(['QUERY_TIMEOUT']));
    await first;
    const { leader: next } = await roles();
    const there = await codes(next);
    if (wasInTime) expect(there.filter((code) => code.startsWith('waits'))).toEqual([]);
    expected.splice(0, expected.length, ...there);
    await expectSame();
  });

  test('K27 a full log refuses appends, loses nothing, and continues', async () => {
    const { leader } = await roles();
    cluster.log.fault(leader.name, { full: 1000 });
    await expect(add(leader, 'too much')).rejects.toMatchObject({ code: 'LOG_FULL' });
    cluster.log.fault(leader.name, undefined);
    await add(leader, 'room again');
    expected.push('room again');
    expect(leader.cluster.role).toBe('leader');
    await expectSame();
  });

  test('K10 K11 an outcome that stays unknown is found out by following, and nothing is done twice', async () => {
    // A beat may be what is not answered: then the write is refused, and was never made.
    for (let i = 0, said = ''; said !== 'OUTCOME_UNKNOWN'; i++) {
      const { leader } = await roles();
      cluster.log.fault(leader.name, { loseAnswers: 1e9 });
      said = await add(leader, `who knows ${i}`).then(String, codeOf);
      cluster.log.fault(leader.name, undefined);
      expect(['OUTCOME_UNKNOWN', 'NOT_LEADER', 'NO_LEADER']).toContain(said);
      if (said === 'OUTCOME_UNKNOWN') expected.push(`who knows ${i}`);
    }
    // It is in the log; either node may lead after it.
    await expectSame();
    const next = await cluster.leader();
    await add(next, 'after it');
    expected.push('after it');
    await expectSame();
  });

  test('K12 CT1 a leader that was away is deposed by its first append, and follows without a restart', async () => {
    const { leader, follower } = await roles();
    cluster.log.fault(leader.name, { away: 'held' });
    const late = add(leader, 'stale').then(String, codeOf);
    const next = await cluster.leader(leader);
    expect(next).toBe(follower);
    await add(next, 'of the new one');
    expected.push('of the new one');
    // What was held back arrives now, behind what it expects.
    cluster.log.fault(leader.name, undefined);
    expect(['NOT_LEADER', 'NO_LEADER', 'OUTCOME_UNKNOWN']).toContain(await late);
    await cluster.until(() => leader.cluster.role === 'follower');
    await expectSame();
    await cluster.until(() => leader.cluster.leader?.node === next.name);
  });

  test('K44 a leader hands over immediately', async () => {
    const gaps: number[] = [];
    for (let i = 0; i < 5; i++) {
      const { leader, follower } = await roles();
      const to = { node: follower.name, address: `${follower.name}:1` };
      const started = performance.now();
      await leader.cluster.stepDown(to);
      await cluster.until(() => follower.cluster.role === 'leader');
      gaps.push(performance.now() - started);
      await add(follower, `handed over ${i}`);
      expected.push(`handed over ${i}`);
      await expect(leader.cluster.stepDown()).rejects.toMatchObject({ code: 'NOT_LEADER' });
    }
    const [, , middle] = gaps.sort((a, b) => a - b) as [number, number, number];
    expectFigure(middle, 100, 'ms to hand over, the middle one of five');
    await expectSame();
  });

  test('K19 K20 strong reads share a beat; a read that waits too long for a position gets an error', async () => {
    const { leader, follower } = await roles();
    const before = cluster.log.last;
    const positions = await Promise.all(
      Array.from({ length: 20 }, () => leader.cluster.readBarrier(2000)),
    );
    expect(cluster.log.last - before).toBeLessThan(10);
    const last = positions.at(-1)!;
    await follower.cluster.waitFor(last, 40_000);
    expect(follower.cluster.hasApplied(last)).toBe(true);
    await expect(follower.cluster.readBarrier(100)).rejects.toMatchObject({ code: 'NOT_LEADER' });
    const [far, anew] = [
      { ...last, seq: last.seq + 1000 },
      { epoch: last.epoch + 65_536, seq: 1 },
    ];
    for (const never of [far, anew])
      await expect(follower.cluster.waitFor(never, 30)).rejects.toMatchObject({
        code: 'REPLICA_BEHIND',
        data: { args: { wanted: `${never.epoch}.${never.seq}` } },
      });
  });

  test('K15 an outage of the log for all changes no leader', async () => {
    const { leader, follower } = await roles();
    const { epoch } = leader.cluster.position;
    for (const { name } of [leader, follower]) cluster.log.fault(name, { away: 'lost' });
    await cluster.until(() => follower.cluster.silenceMs > 700);
    for (const { name } of [leader, follower]) cluster.log.fault(name, undefined);
    const now = await cluster.leader();
    await add(now, 'after the outage');
    expected.push('after the outage');
    expect(now.cluster.position.epoch).toBeLessThanOrEqual(epoch + 1);
    await expectSame();
  });

  test('K28 a reload on the leader brings program and data to all nodes in one turn', async () => {
    const { leader, follower } = await roles();
    const next = `${source}
      N::Shed { INDEX at: String }
      QUERY shed(at: String) => one <- AddN<Shed>({ at: at }) RETURN one::{ at }
      QUERY sheds() => all <- N<Shed> RETURN all::{ at }`;
    await cluster.reload(follower, next).then(
      () => expect.fail('a follower reloads nothing'),
      (error: unknown) => expect(error).toMatchObject({ code: 'NOT_LEADER' }),
    );
    await cluster.reload(leader, next);
    await leader.db.call('shed', { at: 'the wall' });
    await follower.cluster.waitFor(leader.cluster.position, 40_000);
    expect(await follower.db.call('sheds', {})).toEqual({ all: [{ at: 'the wall' }] });
    await expectSame();
  });

  test('K35 a check finds equal tables equal', async () => {
    const { leader, follower } = await roles();
    const compared: Compared[] = [];
    const stops = [leader, follower].map(({ cluster: node }) =>
      node.onCompared((result) => void compared.push(result)),
    );
    const begun = await leader.cluster.check();
    await cluster.until(() => compared.length === 2);
    expect(compared).toEqual([0, 1].map(() => ({ ...begun, other: [] })));
    for (const stop of stops) stop();
    await cluster.settle();
    expect(follower.cluster.fault).toBeUndefined();
  });

  test('K38 what was appended, applied and compared is counted', async () => {
    const { leader, follower } = await roles();
    const valuesOf = (node: TestNode): Map<string, number> =>
      new Map(
        node.cluster
          .metrics()
          .map(({ name, labels = {}, value }) => [
            [name, ...Object.values(labels)].join(' '),
            value,
          ]),
      );
    const [first, second] = [valuesOf(leader), valuesOf(follower)];
    const { epoch, seq } = leader.cluster.position;
    expect([first.get('cluster_role leader'), second.get('cluster_role follower')]).toEqual([1, 1]);
    expect(first.get('cluster_epoch')).toBe(epoch);
    expect(first.get('cluster_position')).toBeLessThanOrEqual(seq);
    for (const name of [
      'cluster_append_bytes_total',
      'cluster_append_seconds_sum',
      'cluster_entries_total changes',
    ])
      expect(first.get(name), name).toBeGreaterThan(0);
    for (const name of ['cluster_apply_seconds_sum', 'cluster_check_total equal'])
      expect(second.get(name), name).toBeGreaterThan(0);
    expect(second.get('cluster_chain_errors_total')).toBe(0);
  });

  test('CT3 K34 random writes, imports and changes of leader leave equal tables and searches', async () => {
    const work = new Workload(1);
    for (let round = 0; round < 5; round++) {
      const { leader } = await roles();
      if (round % 3 === 1) cluster.log.fault(leader.name, { loseAnswers: 1 });
      await work.burst(leader, 50);
      if (round % 3 === 0) await work.import(leader, 200);
      cluster.log.fault(leader.name, undefined);
      if (round % 2 === 1) await leader.cluster.stepDown();
    }
    expect(work.done).toBeGreaterThan(150);
    // Files are each node's own: a follower notes them without the log.
    await Promise.all([...cluster.nodes.values()].map(({ db }) => db.database.snapshot()));
    const { leader, follower } = await roles();
    expected.splice(0, expected.length, ...(await codes(leader)));
    const vector = work.vector();
    for (const [query, args] of [
      ['find', { words: 'heron moss' }],
      ['near', { vector }],
    ] as const)
      expect(await follower.db.call(query, args)).toEqual(await leader.db.call(query, args));
    await expectSame();
  });

  test('CT5 at C7 the write is in the log: its leader is lost, the other one has it, so has it again', async () => {
    await cluster.stop('a');
    const b = await cluster.leader();
    const failing = await cluster.open('a', { failpoint: 'C7@1:throw' });
    await failing.cluster.waitFor(b.cluster.position, 40_000);
    await b.cluster.stepDown({ node: 'a', address: 'a:1' });
    await cluster.until(() => failing.cluster.role === 'leader');
    await expect(add(failing, 'at C7')).rejects.toMatchObject({ code: 'READ_ONLY' });
    expected.push('at C7');
    await cluster.leader(failing);
    expect(await codes(b)).toEqual(expected.sort());
    await cluster.stop('a');
    await cluster.open('a');
    await add(b, 'after C7');
    expected.push('after C7');
    await expectSame();
  });

  test("K29 a node that cannot compile the leader's program stops before it, and answers reads", async () => {
    const { leader, follower } = await roles();
    const { program } = leader.db.database;
    const sources = [{ path: 'app.hx', text: 'QUERY of a later version' }];
    await leader.db.database.reload(program, { compat: false, sources });
    await add(leader, 'later');
    await cluster.until(() => follower.cluster.fault !== undefined);
    expect(follower.cluster.fault).toMatchObject({ code: 'SCHEMA_AHEAD' });
    expect(follower.cluster.isReady).toBe(false);
    expect(await codes(follower)).toEqual(expected.sort());
  });
});

describe.runIf(isLong)('nodes that start and stop', () => {
  afterEach(() => cluster.close());

  test('K04 K13 a node that stops and opens again continues at the position of its data', async () => {
    cluster = await TestCluster.found(['a', 'b'], source);
    await cluster.open('a');
    const a = await cluster.leader();
    for (let i = 0; i < 5; i++) await add(a, `a ${i}`);
    // It comes late, and applies what it missed.
    const b = await cluster.open('b');
    await b.cluster.waitFor(a.cluster.position, 40_000);
    await cluster.stop('a');
    await cluster.leader();
    for (let i = 0; i < 5; i++) await add(b, `b ${i}`);
    const again = await cluster.open('a');
    await again.cluster.waitFor(b.cluster.position, 40_000);
    expect(await codes(again)).toEqual(await codes(b));
    expect(cluster.hashesOf('a')).toEqual(cluster.hashesOf('b'));
  });

  test('K16 CT10 another log, a shorter one and a changed entry are never followed, nor appended to', async () => {
    cluster = await TestCluster.found(['a', 'b', 'c'], source);
    const a = await cluster.open('a');
    await cluster.leader();
    for (let i = 0; i < 4; i++) await add(a, `a ${i}`);
    const b = await cluster.open('b');
    await b.cluster.waitFor(a.cluster.position, 40_000);
    await cluster.stop('b');
    await cluster.stop('a');
    // An entry that c has not seen is changed.
    const { last } = cluster.log;
    const bytes = cluster.log.bytesAt(4);
    bytes[bytes.length - 3]! ^= 1;
    cluster.log.replace(4, bytes);
    const c = await cluster.open('c');
    await cluster.until(() => c.cluster.role === 'lost');
    expect(c.cluster.fault).toMatchObject({ code: 'LOG_LOST' });
    await expect(add(c, 'never')).rejects.toMatchObject({ code: 'LOG_LOST' });
    // Reads go on.
    const whole = ['a 0', 'a 1', 'a 2', 'a 3'];
    const kept = await codes(c);
    expect(kept).toEqual(whole.slice(0, kept.length));
    expect(kept.length).toBeLessThan(3);
    // Another database's log, of the same length.
    const foreign = await TestCluster.found(['x'], source);
    await foreign.open('x');
    await foreign.leader();
    await foreign.until(() => foreign.log.last >= last);
    const more = { cluster: { log: foreign.log.urlOf('b'), node: 'b', advertise: 'b:1' } };
    const lost = await cluster.open('b', more);
    await cluster.until(() => lost.cluster.role === 'lost');
    expect(lost.cluster.fault).toMatchObject({ code: 'LOG_LOST' });
    expect(foreign.log.appends.filter(({ name }) => name === 'b')).toEqual([]);
    await foreign.close();
  });

  test('K35 a node whose tables differ stops with DIVERGED; a reader never leads', async () => {
    cluster = await TestCluster.found(['a', 'b'], source);
    const reader = {
      role: 'reader' as const,
      log: cluster.log.urlOf('b'),
      node: 'b',
      advertise: 'b:1',
    };
    const b = await cluster.open('b', { cluster: reader });
    await expect(add(b, 'nobody leads')).rejects.toMatchObject({ code: 'NO_LEADER' });
    await cluster.until(() => b.cluster.role === 'follower' && b.cluster.lagMs < 500);
    await cluster.stop('b');
    const env = openEnv(join(cluster.folderOf('b'), 'graph'));
    env.transact(() => {
      env.derived.put(Uint8Array.of(200), Uint8Array.of(1));
      return true;
    });
    await env.close();
    const a = await cluster.open('a');
    await cluster.leader();
    await add(a, 'one');
    const again = await cluster.open('b', { cluster: reader });
    await again.cluster.waitFor(a.cluster.position, 40_000);
    expect(again.cluster.fault).toBeUndefined();
    await a.cluster.check();
    await cluster.until(() => again.cluster.role === 'lost');
    expect(again.cluster.fault).toMatchObject({ code: 'DIVERGED', args: { tables: 'derived' } });
  });

  test('K26 a node below the beginning of the log reports LOG_TRUNCATED; a newer copy continues', async () => {
    cluster = await TestCluster.found(['a', 'b'], source);
    const a = await cluster.open('a');
    await cluster.leader();
    for (let i = 0; i < 4; i++) await add(a, `a ${i}`);
    await a.cluster.trim(1e9);
    expect((await a.cluster.look()).first).toBeGreaterThan(4);
    const b = await cluster.open('b');
    await cluster.until(() => b.cluster.role === 'lost');
    expect(b.cluster.fault).toMatchObject({ code: 'LOG_TRUNCATED' });
    await cluster.stop('b');
    await a.db.database.backUp(cluster.folderOf('copy'));
    cpSync(cluster.folderOf('copy'), cluster.folderOf('c'), { recursive: true });
    const c = await cluster.open('c');
    await add(a, 'after the copy');
    await c.cluster.waitFor(a.cluster.position, 40_000);
    expect(await codes(c)).toEqual(await codes(a));
  });
});
