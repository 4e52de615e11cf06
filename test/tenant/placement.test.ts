// Which node leads a tenant's database (cluster.md 11.1, K45): the order that every node reckons, and when a
// leader hands over.
import { expect, test } from 'vitest';
import type { ClusterLeader, ClusterNode } from '../../engine/internal.js';
import { type Member, handOver, ranked, readMembers } from '../../server/cluster/placement.js';
import type { NodeClient } from '../../server/cluster/node-client.js';

const members = ['a', 'b', 'c', 'd'].map((node): Member => ({ node, address: `${node}:1` }));
const names = Array.from({ length: 2_000 }, (_, i) => `tenant-${i}`);
const firstOf = (name: string, among: readonly Member[]) => ranked(name, among)[0]!.node;

test('K45: leaders are spread evenly, and only those of a removed node move', () => {
  const counts = new Map<string, number>();
  for (const name of names) {
    const first = firstOf(name, members);
    counts.set(first, (counts.get(first) ?? 0) + 1);
    // In whatever order they are listed.
    expect(firstOf(name, [...members].reverse())).toBe(first);
    const left = members.filter(({ node }) => node !== 'c');
    expect(firstOf(name, left)).toBe(first === 'c' ? ranked(name, members)[1]!.node : first);
  }
  for (const count of counts.values()) expect(Math.abs(count - 500)).toBeLessThan(100);
});

test('K45: members are NODE=HOST:PORT', () => {
  expect(readMembers(['a=[::1]:6969'])).toEqual([{ node: 'a', address: '[::1]:6969' }]);
  for (const wrong of ['a', 'a=host', '=host:1', 'a b=host:1']) {
    expect(() => readMembers([wrong])).toThrow(/NODE=HOST:PORT/);
  }
});

const [best, other] = ranked('acme', members);
const follows = { node: best!.node, role: 'follower', lag_ms: 0 };

/** Where a leader at `at` hands over to, when the best member says `says`. */
async function handedTo(at: Member, role: string, says: object | undefined, status = 200) {
  const given: ClusterLeader[] = [];
  const asked: string[] = [];
  const node = {
    node: at.node,
    role,
    stepDown: async (to: ClusterLeader) => {
      given.push(to);
      return { epoch: 1, seq: 1 };
    },
  } as unknown as ClusterNode;
  const calls = {
    request: async (address: string) => {
      asked.push(address);
      if (says === undefined) throw new Error('nobody is there');
      return { status, reason: '', header: () => '', body: Buffer.from(JSON.stringify(says)) };
    },
  } as unknown as NodeClient;
  const has = await handOver('acme', node, members, calls);
  expect(given.length).toBe(has ? 1 : 0);
  return { to: given[0]?.node, asked };
}

test('K45: a leader hands over to the best member, and to no other', async () => {
  expect(await handedTo(other!, 'leader', follows)).toEqual({
    to: best!.node,
    asked: [best!.address],
  });
  expect(await handedTo(best!, 'leader', follows)).toEqual({ to: undefined, asked: [] });
  expect(await handedTo(other!, 'follower', follows)).toEqual({ to: undefined, asked: [] });
});

test('K45: it continues to lead while the best member does not follow closely', async () => {
  const cases: [object | undefined, number][] = [
    [undefined, 200],
    [{ ...follows, lag_ms: 5_000 }, 200],
    [{ ...follows, role: 'joining' }, 200],
    [{ ...follows, node: 'somebody' }, 200],
    [{ ...follows, fault: { code: 'DIVERGED' } }, 200],
    [follows, 404],
  ];
  for (const [says, status] of cases) {
    expect((await handedTo(other!, 'leader', says, status)).to).toBeUndefined();
  }
});
