// Linearizability (T25): eight clients write and read registers, sets and lists of edges while the
// server is killed again and again; every object's history must be one that a single object doing one
// call after another could have had. Histories with a planted fault must be refused.
import { describe, expect, test } from 'vitest';
import { Client } from '../support/server/http.js';
import { noteProof } from '../support/proof.js';
import { Random } from '../support/random.js';
import { startServer } from '../support/server/server.js';
import { faultOfGrowing, faultOfRegister, type Operation } from './support/linearizable.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const rounds = 24;
const roundMs = 5000;
const seed = Number(process.env.TRELLIS_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Calls of one object before the next takes its place: a search for an order stays short. */
const callsOfOne = 60;

const sources = {
  'main.hx': `
N::Register { UNIQUE INDEX key: I64, value: I64 }
N::Element { INDEX set: I64, value: I64 }
N::List { UNIQUE INDEX key: I64 }
E::Item { From: List, To: List, Properties: { value: I64 } }
QUERY make(keys: [I64]) =>
  FOR key IN keys {
    AddN<Register>({ key: key, value: 0 })
    AddN<List>({ key: key })
  }
  RETURN "ok"
QUERY write(key: I64, value: I64) =>
  r <- N<Register>({ key: key })::UPDATE({ value: value })
  RETURN r::{value}
QUERY read(key: I64) => r <- N<Register>({ key: key }) RETURN r::{value}
QUERY add(key: I64, value: I64) => e <- AddN<Element>({ set: key, value: value }) RETURN e::{value}
QUERY elements(key: I64) => e <- N<Element>({ set: key }) RETURN e::{value}
QUERY append(key: I64, value: I64) =>
  l <- N<List>({ key: key })
  AddE<Item>({ value: value })::From(l)::To(l)
  RETURN "ok"
QUERY list(key: I64) => e <- N<List>({ key: key })::OutE<Item> RETURN e::{value}
`,
};

const calls = {
  register: { write: 'write', read: 'read' },
  set: { write: 'add', read: 'elements' },
  list: { write: 'append', read: 'list' },
} as const;
type Kind = keyof typeof calls;
const kinds = Object.keys(calls) as Kind[];

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface History {
  writes: Operation<number>[];
  reads: Operation<readonly number[]>[];
}

/** Everything the clients did, by object. */
class Record {
  readonly histories = new Map<string, History>();
  readonly #begun = new Map<Kind, number>();
  #value = 0;

  constructor(private readonly random: Random) {}

  /** One call of a client; throws when the connection breaks, and then its end is not known. */
  async call(client: Client): Promise<void> {
    const kind = this.random.pick(kinds);
    const begun = this.#begun.get(kind) ?? 0;
    this.#begun.set(kind, begun + 1);
    const key = Math.floor(begun / callsOfOne);
    const name = `${kind} ${key}`;
    const history: History = this.histories.get(name) ?? { writes: [], reads: [] };
    this.histories.set(name, history);
    const times = { begin: performance.now(), end: Number.POSITIVE_INFINITY };
    if (this.random.chance(0.5)) {
      const write = { kind: 'write' as const, ...times, value: ++this.#value };
      history.writes.push(write);
      await client.post(calls[kind].write, { key, value: write.value });
      write.end = performance.now();
      return;
    }
    const found = await client.post(calls[kind].read, { key });
    const list = [Object.values(found)[0]].flat() as { value: number }[];
    const value = list.map((item) => item.value);
    history.reads.push({ kind: 'read', begin: times.begin, end: performance.now(), value });
  }

  faults(): string[] {
    return [...this.histories].flatMap(([name, { writes, reads }]) => {
      const fault = name.startsWith('register')
        ? faultOfRegister([...writes, ...reads.map((read) => ({ ...read, value: read.value[0]! }))])
        : faultOfGrowing({ adds: writes, reads, ordered: name.startsWith('list') });
      return fault === undefined ? [] : [`${name}: ${fault}`];
    });
  }

  get size(): number {
    const sizes = [...this.histories.values()].map(
      ({ writes, reads }) => writes.length + reads.length,
    );
    return sizes.reduce((a, b) => a + b, 0);
  }

  /** Objects made so far, and those that will soon be needed. */
  get keys(): number {
    return Math.max(0, ...this.#begun.values()) / callsOfOne;
  }
}

test.runIf(long)(
  `T25 registers, sets and lists under kill -9 are linearizable, seed ${seed}`,
  async () => {
    const record = new Record(new Random(seed));
    const server = await startServer({ sources, workers: 2 });
    try {
      let made = 0;
      for (let round = 0; round < rounds; round++) {
        // More objects than a round uses up.
        const keys = Array.from({ length: 2000 }, (_, i) => made + i);
        await server.client.post('make', { keys: keys.filter((key) => key >= made) });
        made += keys.length;
        const [until, enough] = [performance.now() + roundMs, record.size + 100];
        const clients = Array.from({ length: 8 }, async () => {
          const client = new Client(server.port);
          while (record.keys < made - 1) await record.call(client);
        });
        const ended = Promise.allSettled(clients);
        while (performance.now() < until || record.size < enough) await pause(10);
        await server.kill();
        for (const end of await ended) {
          if (end.status === 'rejected') expect(String(end.reason)).toMatch(/closed|ECONN|EPIPE/);
        }
        // Of several threads that take connections, each reads by a snapshot of its own.
        await server.start({ env: { TRELLIS_SERVER_HTTP_THREADS: String(1 + ((round + 1) % 3)) } });
      }
    } finally {
      await server.dispose();
    }
    expect(record.faults()).toEqual([]);
    expect(record.size).toBeGreaterThan(rounds * 90);
    noteProof(
      'T25',
      `${record.size} calls of 8 clients on ${record.histories.size} registers, sets and lists, ` +
        `${rounds} kills: no anomaly`,
    );
  },
);

/** A history in short: `w1` or `r1`, and its beginning and end. */
const register = (...ops: [string, number, number][]): Operation<number>[] =>
  ops.map(([name, begin, end]) => ({
    kind: name[0] === 'w' ? 'write' : 'read',
    value: Number(name.slice(1)),
    begin,
    end,
  }));
const never = Number.POSITIVE_INFINITY;

describe('T25 canary: the checker accepts what may be and refuses what may not', () => {
  test('registers', () => {
    const good = [
      register(['w1', 0, 1], ['r1', 2, 3]),
      register(['w1', 0, 5], ['r0', 1, 2], ['r1', 3, 4]),
      register(['w1', 0, never], ['r0', 1, 2], ['r1', 8, 9]),
      register(['w1', 0, never], ['r0', 1, 2], ['r0', 8, 9]),
      register(['w1', 0, 3], ['w2', 0, 3], ['r1', 4, 5]),
    ];
    const bad = [
      register(['w1', 0, 1], ['r0', 2, 3]),
      register(['w1', 0, 5], ['r1', 1, 2], ['r0', 3, 4]),
      register(['w1', 0, never], ['r1', 1, 2], ['r0', 8, 9]),
      register(['w1', 0, 3], ['w2', 0, 3], ['r1', 4, 5], ['r2', 6, 7]),
      register(['r7', 0, 1]),
    ];
    expect(good.map((history) => faultOfRegister(history))).toEqual(good.map(() => undefined));
    for (const history of bad) expect(faultOfRegister(history)).toBeDefined();
  });

  test('sets and lists', () => {
    const add = (value: number, begin: number, end: number) =>
      ({ kind: 'write', value, begin, end }) as const;
    const read = (value: number[], begin: number, end: number) =>
      ({ kind: 'read', value, begin, end }) as const;
    const adds = [add(1, 0, 1), add(2, 2, never), add(3, 2, 10)];
    const fault = (ordered: boolean, ...reads: Operation<readonly number[]>[]) =>
      faultOfGrowing({ adds, reads, ordered });
    expect(
      fault(false, read([1], 2, 3), read([3, 1], 3, 4), read([1, 2, 3], 5, 6)),
    ).toBeUndefined();
    expect(fault(true, read([1], 2, 3), read([1, 3], 3, 4), read([1, 3], 11, 12))).toBeUndefined();
    const bad: [boolean, ReturnType<typeof read>[]][] = [
      [false, [read([], 2, 3)]],
      [false, [read([1], 11, 12)]],
      [false, [read([1, 2], 0, 1)]],
      [false, [read([1, 9], 3, 4)]],
      [false, [read([1, 1], 3, 4)]],
      [false, [read([1, 2], 3, 4), read([1, 3], 3, 4)]],
      [false, [read([1, 2], 3, 4), read([1], 5, 6)]],
      [true, [read([1, 2], 3, 9), read([1, 3, 2], 3, 9)]],
    ];
    for (const [ordered, reads] of bad) expect(fault(ordered, ...reads)).toBeDefined();
  });
});
