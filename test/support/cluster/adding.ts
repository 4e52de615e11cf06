// Clients that add items through the leader while a test changes the nodes, and record each reply. Invariant:
// the result of a call without a reply is unknown, so it counts neither as executed nor as refused.
import { expect } from 'vitest';
import type { ClusterPosition } from '../../../engine/cluster/node.js';
import { sleep } from './nats-servers.js';
import type { NodeProcesses } from './node-processes.js';

/** The queries that are called, of one type. */
export const addingSource = `
  N::Item { UNIQUE INDEX code: String, value: I64 }
  QUERY add(code: String) =>
      item <- AddN<Item>({ code: code, value: 0 })
      RETURN item::ID
  QUERY all() =>
      items <- N<Item>
      RETURN items::{ code }
`;

const clients = 4;
const patienceMs = 60_000;
/** These promise that nothing was done. */
const refusals = ['NOT_LEADER', 'NO_LEADER', 'DOWN'];

/** What `find` finds at last. Fails in the words of `what`. */
export async function until<T>(find: () => Promise<T | undefined>, what: string): Promise<T> {
  for (const late = performance.now() + patienceMs; ; await sleep(20)) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() > late) throw new RangeError(what);
  }
}

export interface NodeLook {
  role: string;
  leader?: string;
  position: { epoch: number; seq: number };
  fault?: { code: string };
}

const numbersOf = ({ count }: NodeProcesses): number[] =>
  Array.from({ length: count }, (_, i) => i);

export const lookAt = async (cluster: NodeProcesses, node: number): Promise<NodeLook | undefined> =>
  (await cluster.ask<NodeLook>(node, 'look', {}, 2_000)).value;

export const leaderOf = (cluster: NodeProcesses): Promise<number> =>
  until(async () => {
    for (const node of numbersOf(cluster))
      if ((await lookAt(cluster, node))?.role === 'leader') return node;
    return undefined;
  }, 'nobody leads');

export async function codesOf(cluster: NodeProcesses, node: number): Promise<string[]> {
  const ask = { query: 'all', body: {} };
  const { value, text } = await cluster.ask<{ items: { code: string }[] }>(node, 'call', ask);
  if (value === undefined) throw new RangeError(text);
  return value.items.map(({ code }) => code);
}

/** All of them, those that are up if none are named, have what the leader has now. */
export async function settle(
  cluster: NodeProcesses,
  nodes: readonly number[] = numbersOf(cluster).filter((node) => cluster.isUp(node)),
): Promise<void> {
  const at = await until(async () => {
    const leader = await leaderOf(cluster);
    return (await cluster.ask<ClusterPosition>(leader, 'strong', { ms: 5_000 })).value;
  }, 'no strong read');
  for (const node of nodes)
    await until(async () => {
      const { code } = await cluster.ask(node, 'wait', { at, ms: 5_000 });
      return code === undefined ? true : undefined;
    }, `n${node} is behind`);
}

export class Adding {
  readonly acknowledged = new Set<string>();
  readonly open = new Set<string>();
  readonly #working: Promise<unknown>[];
  #isOver = false;
  #next = 0;

  constructor(private readonly cluster: NodeProcesses) {
    this.#working = Array.from({ length: clients }, () => this.#work());
  }

  async #work(): Promise<void> {
    while (!this.#isOver) {
      const leader = await leaderOf(this.cluster);
      const code = `i${++this.#next}`;
      const ask = { query: 'add', body: { code } };
      const { code: refusal } = await this.cluster.ask(leader, 'call', ask);
      if (refusal === undefined) this.acknowledged.add(code);
      else if (!refusals.includes(refusal)) this.open.add(code);
    }
  }

  /** Waits until this many more are acknowledged. */
  async more(count: number): Promise<void> {
    const goal = this.acknowledged.size + count;
    const isThere = async () => (this.acknowledged.size >= goal ? true : undefined);
    await until(isThere, 'no write is taken');
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#working);
  }

  /** Checks every node: all acknowledged items, none twice, none that no client sent. */
  async expectWhole(): Promise<void> {
    await settle(this.cluster);
    for (const node of numbersOf(this.cluster)) {
      const there = await codesOf(this.cluster, node);
      const found = new Set(there);
      expect(found.size, `n${node}`).toBe(there.length);
      expect(
        [...this.acknowledged].filter((code) => !found.has(code)),
        `n${node}`,
      ).toEqual([]);
      const isKnown = (code: string) => this.acknowledged.has(code) || this.open.has(code);
      expect(
        there.filter((code) => !isKnown(code)),
        `n${node}`,
      ).toEqual([]);
    }
  }
}
