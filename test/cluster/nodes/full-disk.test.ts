// T7: a node whose disk has no room waits, and goes on by itself when there is some: a follower with what the log has,
// a leader with a write that is in the log and found no room here. Nothing is lost, doubled or final.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { MemoryDisk, whyNoMemoryDisk } from '../../reliability/support/small-disk.js';
import { TestCluster, type TestNode } from '../support/nodes.js';
import { source } from '../support/workload.js';

let cluster: TestCluster;
let disk: MemoryDisk | undefined;

afterEach(async () => {
  await cluster.close();
  disk?.remove();
  disk = undefined;
});

const add = (node: TestNode, code: string) => node.db.call('add', { code, stock: 1 });
const codes = async (node: TestNode): Promise<string[]> => {
  const { items } = await node.db.call<{ items: { code: string }[] }>('all', {});
  return items.map(({ code }) => code).sort();
};

/** All nodes hold the same, and these. */
async function expectSame(expected: string[]): Promise<void> {
  await cluster.settle();
  const [first, ...others] = [...cluster.nodes.keys()].map((name) => cluster.hashesOf(name));
  for (const node of cluster.nodes.values()) {
    expect(node.cluster.fault).toBeUndefined();
    expect(await codes(node)).toEqual(expected);
  }
  for (const hashes of others) expect(hashes).toEqual(first);
}

/** Another program: with one more type. */
const wider = `${source}
  N::Shed { INDEX at: String }
  QUERY shed(at: String) => one <- AddN<Shed>({ at: at }) RETURN one::{ at }
  QUERY sheds() => all <- N<Shed> RETURN all::{ at }`;

describe('a follower', () => {
  test.each([1, 2, 5])('T7 a node whose commit %i finds no space repeats it', async (at) => {
    cluster = await TestCluster.found(['a', 'b'], source);
    const a = await cluster.open('a');
    await cluster.leader();
    const b = await cluster.open('b', {
      cluster: { role: 'reader' } as never,
      failpoint: `follow@${at}:full`,
    });
    const expected: string[] = [];
    for (let i = 0; i < 6; i++) {
      await add(a, `c${i}`);
      expected.push(`c${i}`);
      if (i === at) await pause(50);
    }
    await b.cluster.waitFor(a.cluster.position, 40_000);
    await expectSame(expected);
    expect(b.db.database.status()).toMatchObject({ writes: true });
  });

  test('T7 a node whose commit of a program finds no space requests the program again', async () => {
    cluster = await TestCluster.found(['a', 'b'], source);
    const a = await cluster.open('a');
    await cluster.leader();
    const b = await cluster.open('b', {
      cluster: { role: 'reader' } as never,
      failpoint: 'follow@1:full',
    });
    await cluster.reload(a, wider);
    await a.db.call('shed', { at: 'the wall' });
    await b.cluster.waitFor(a.cluster.position, 40_000);
    expect(await b.db.call('sheds', {})).toEqual({ all: [{ at: 'the wall' }] });
    await expectSame([]);
  });

  test.skipIf(whyNoMemoryDisk() !== undefined)(
    'T7 a node with a full disk reads, reports why it is behind, and follows when there is space',
    async () => {
      disk = new MemoryDisk(48 * 2 ** 20);
      const [mounted] = [disk];
      cluster = await TestCluster.found(['a', 'b'], source, { ballastBytes: 0 } as never);
      const a = await cluster.open('a');
      await cluster.leader();
      const b = await cluster.move('b', join(mounted.folder, 'b'));
      await add(a, 'before');
      await b.cluster.waitFor(a.cluster.position, 40_000);
      mounted.fill();
      await add(a, 'while full');
      await cluster.reload(a, wider);
      await a.db.call('shed', { at: 'the wall' });
      const { position } = a.cluster;
      await expect(b.cluster.waitFor(position, 700)).rejects.toMatchObject({
        code: 'REPLICA_BEHIND',
      });
      expect(await codes(b)).toEqual(['before']);
      expect(b.db.database.status()).toMatchObject({
        writes: false,
        readOnlyReason: 'the disk is full',
      });
      expect(b.cluster.fault).toBeUndefined();
      mounted.free();
      await b.cluster.waitFor(position, 40_000);
      // The writer has applied the entry; the main thread adopts its program a moment later.
      await expect
        .poll(() => b.db.call('sheds', {}).catch(String))
        .toEqual({ all: [{ at: 'the wall' }] });
      await expectSame(['before', 'while full']);
      expect(b.db.database.status()).toMatchObject({ writes: true });
    },
  );
});

describe('a leader whose write is in the log', () => {
  const unknown = { code: 'OUTCOME_UNKNOWN' };

  test('T7 and not on its disk hands over, applies it later, and may lead again', async () => {
    cluster = await TestCluster.found(['a', 'b'], source);
    const a = await cluster.open('a', { failpoint: 'C7@2:full' });
    await cluster.leader();
    const b = await cluster.open('b');
    await add(a, 'one');
    await b.cluster.waitFor(a.cluster.position, 40_000);
    await expect(add(a, 'two')).rejects.toMatchObject(unknown);
    expect((await cluster.leader(a)).name).toBe('b');
    await add(b, 'three');
    await a.cluster.waitFor(b.cluster.position, 40_000);
    await expectSame(['one', 'three', 'two']);
    await b.cluster.stepDown({ node: 'a', address: 'a:1' });
    await cluster.until(() => a.cluster.role === 'leader');
    await add(a, 'four');
    await expectSame(['four', 'one', 'three', 'two']);
  });

  test('T7 and alone leads again when it has applied it, a program too', async () => {
    cluster = await TestCluster.found(['a'], source);
    const a = await cluster.open('a', { failpoint: 'C7@1:full' });
    await cluster.leader();
    await expect(cluster.reload(a, wider)).rejects.toMatchObject(unknown);
    await cluster.until(() => a.cluster.role !== 'leader');
    await cluster.until(() => a.cluster.role === 'leader');
    expect(await a.db.call('shed', { at: 'the wall' })).toEqual({ one: { at: 'the wall' } });
    await add(a, 'after');
    await expectSame(['after']);
    await cluster.stop('a');
    await cluster.open('a');
    await cluster.leader();
    await expectSame(['after']);
  });

  test('K44 a single node that hands over leads again', async () => {
    cluster = await TestCluster.found(['a'], source);
    const a = await cluster.open('a');
    await cluster.leader();
    await add(a, 'before');
    await a.cluster.stepDown();
    await cluster.until(() => a.cluster.role === 'leader');
    await add(a, 'after');
    await expectSame(['after', 'before']);
  });

  test.skipIf(whyNoMemoryDisk() !== undefined)(
    'T7 waits while its disk stays full, and is led meanwhile',
    async () => {
      disk = new MemoryDisk(48 * 2 ** 20);
      const [mounted] = [disk];
      cluster = await TestCluster.found(['a', 'b'], source);
      const a = await cluster.move('a', join(mounted.folder, 'a'), { failpoint: 'C7@1:full' });
      await cluster.leader();
      const b = await cluster.open('b');
      await b.cluster.waitFor(a.cluster.position, 40_000);
      mounted.fill(3 * 2 ** 20);
      await expect(add(a, 'one')).rejects.toMatchObject(unknown);
      mounted.fill();
      expect((await cluster.leader(a)).name).toBe('b');
      await add(b, 'two');
      await pause(700);
      expect([a.cluster.role, a.cluster.fault, await codes(a)]).toEqual([
        'follower',
        undefined,
        [],
      ]);
      mounted.free();
      await a.cluster.waitFor(b.cluster.position, 40_000);
      await expectSame(['one', 'two']);
    },
  );
});
