// A load of writes with a memory: what was acknowledged must be there after a crash, what was
// refused must not, and what was in flight must be there completely or not at all. Every write has an
// idempotency key: what got no answer is sent once more at the next start, and must not be done twice.
import { randomUUID } from 'node:crypto';
import { Client } from '../../support/server/http.js';
import type { Server } from '../../support/server/server.js';

export const crashSources = {
  'schema.hx': `
N::Item { UNIQUE INDEX key: String, words: String, n: I64 }
V::Emb { key: String }
E::Shows { From: Item, To: Emb, Properties: { key: String } }
`,
  'queries.hx': `
QUERY put(key: String, words: String, vec: [F64]) =>
  i <- AddN<Item>({ key: key, words: words, n: 0 })
  v <- AddV<Emb>(vec, { key: key })
  AddE<Shows>({ key: key })::From(i)::To(v)
  RETURN i::ID
QUERY touch(key: String, n: I64) => i <- N<Item>({ key: key })::UPDATE({ n: n }) RETURN i::{n}
QUERY remove(key: String) =>
  i <- N<Item>({ key: key })
  DROP i::Out<Shows>
  DROP i
  RETURN "gone"
QUERY items() => i <- N<Item> RETURN i::{key, n, embs: _::Out<Shows>::{key}}
QUERY embs() => v <- V<Emb> RETURN v::{key, items: _::In<Shows>::{key}}
QUERY edges() => e <- E<Shows> RETURN e::{key}
QUERY one(key: String) => i <- N<Item>({ key: key }) RETURN i::{n}
QUERY find(word: String) => i <- SearchBM25<Item>(word, 10) RETURN i::{key}
QUERY near(vec: [F64]) => v <- SearchV<Emb>(vec, 1) RETURN v::{key, score}
`,
};

/** n = undefined: the item does not exist. */
interface Belief {
  n: number | undefined;
  /** Of writes without an answer: the state may be one of these instead. */
  maybe?: (number | undefined)[];
}

/** Small deterministic generator (mulberry32), so that a failing run can be repeated. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function vectorOf(key: string): number[] {
  let seed = 7;
  for (const character of key) seed = (Math.imul(seed, 31) + character.codePointAt(0)!) >>> 0;
  const next = random(seed);
  return Array.from({ length: 16 }, () => next() * 2 - 1);
}

/** A word of letters only: one with digits is also found by its parts. */
const wordOf = (key: string): string =>
  `zq${key.replaceAll('-', 'x').replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)]!)}zq`;

/** One write that was sent, and what its key has after it. */
interface Attempt {
  key: string;
  n: number | undefined;
  /** By the oracle's clock: when it was sent, and when the answer was there. */
  sent: number;
  acknowledged: number;
}

/** A write as it is sent, and sent again. */
interface Sent {
  path: string;
  key: string;
  body: object;
  n: number | undefined;
  once: string;
}

/** What is asked about data: a server, or whatever answers its queries. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes.
export type Answering = { client: { post(name: string, args?: unknown): Promise<any> } };

export class Oracle {
  readonly beliefs = new Map<string, Belief>();
  readonly #history: Attempt[] = [];
  acknowledged = 0;
  refused: string[] = [];
  /** Repeats of unanswered writes that were answered as if they were other writes. */
  doubled: string[] = [];
  repeated = 0;
  /** By the client. */
  readonly #unanswered = new Map<string, Sent>();
  private next = 0;
  private readonly chance: () => number;

  /** `clock`: of the history, by which `at` asks. */
  constructor(
    private readonly seed: number,
    private readonly clock: () => number = () => 0,
  ) {
    this.chance = random(seed);
  }

  /**
   * What was believed of one moment between two times: everything acknowledged by the first, and
   * maybe what was sent by the second.
   */
  at(from: number, to = from): Oracle {
    const past = new Oracle(this.seed);
    for (const { key, n, sent, acknowledged } of this.#history) {
      if (sent > to) continue;
      const belief: Belief = past.beliefs.get(key) ?? { n: undefined };
      past.beliefs.set(key, belief);
      if (acknowledged <= from) {
        delete belief.maybe;
        belief.n = n;
        past.acknowledged++;
      } else (belief.maybe ??= []).push(n);
    }
    return past;
  }

  /** One client's endless loop of writes; ends when the server is gone or `stop` says so. */
  private async write(client: Client, own: string[], name: string): Promise<void> {
    const pick = own[Math.floor(this.chance() * own.length)];
    const dice = this.chance();
    if (pick === undefined || dice < 0.6) {
      const key = `${name}-${this.next++}`;
      own.push(key);
      const body = { key, words: `plain ${wordOf(key)} words`, vec: vectorOf(key) };
      return this.attempt(client, name, { path: 'put', key, body, n: 0, once: randomUUID() });
    }
    const { n } = this.beliefs.get(pick)!;
    const touch = n === undefined || dice < 0.85;
    return this.attempt(client, name, {
      path: touch ? 'touch' : 'remove',
      key: pick,
      body: touch ? { key: pick, n: (n ?? 0) + 1 } : { key: pick },
      n: touch && n !== undefined ? n + 1 : undefined,
      once: randomUUID(),
    });
  }

  private async attempt(client: Client, name: string, sent: Sent): Promise<void> {
    const { path, key, body, n, once } = sent;
    const isRepeat = this.#unanswered.get(name) === sent;
    this.#unanswered.set(name, sent);
    const belief: Belief = this.beliefs.get(key) ?? { n: undefined };
    this.beliefs.set(key, belief);
    belief.maybe = [n];
    const attempt = { key, n, sent: this.clock(), acknowledged: Number.POSITIVE_INFINITY };
    this.#history.push(attempt);
    const headers = { 'Idempotency-Key': once };
    const reply = await client.request({ path, body: JSON.stringify(body), headers });
    this.#unanswered.delete(name);
    delete belief.maybe;
    if (isRepeat) this.repeated++;
    // Done before, its key would be taken.
    if (isRepeat && path === 'put' && reply.status === 409) this.doubled.push(reply.text);
    if (reply.status === 200) {
      attempt.acknowledged = this.clock();
      belief.n = n;
      this.acknowledged++;
    } else {
      this.#history.splice(this.#history.indexOf(attempt), 1);
      if (reply.status >= 500 || reply.status === 400)
        this.refused.push(`${path} ${key}: ${reply.status} ${reply.text}`);
    }
  }

  /** Runs `clients` writers until `stop` resolves or the server goes away. */
  async load(server: Server, clients: number, stop: Promise<unknown>): Promise<void> {
    let going = true;
    void stop.then(() => (going = false));
    const writers = Array.from({ length: clients }, async (_, index) => {
      const client = new Client(server.port);
      const own = [...this.beliefs.keys()].filter((key) => key.startsWith(`c${index}-`));
      try {
        const left = this.#unanswered.get(`c${index}`);
        if (left !== undefined) await this.attempt(client, `c${index}`, left);
        while (going) await this.write(client, own, `c${index}`);
      } catch {
        // The connection broke: the write in flight stays a maybe.
      } finally {
        client.close();
      }
    });
    await Promise.all(writers);
  }

  /** Compares the restarted server with what is believed, then believes what it saw. */
  async check(server: Answering, samples = 40): Promise<string[]> {
    const faults: string[] = [];
    const { client } = server;
    type Item = { key: string; n: number; embs: string[] };
    const items = (await client.post('items')).i as Item[];
    const embs = (await client.post('embs')).v as { key: string; items: string[] }[];
    const edges = (await client.post('edges')).e as { key: string }[];
    const found = new Map(items.map((item) => [item.key, item]));
    for (const [key, belief] of this.beliefs) {
      const got = found.get(key)?.n;
      const allowed = [belief.n, ...(belief.maybe ?? [])];
      if (!allowed.includes(got)) faults.push(`${key}: n is ${got}, believed ${allowed}`);
      if (belief.maybe !== undefined) {
        const now = this.clock();
        this.#history.push({ key, n: got, sent: now, acknowledged: now });
      }
      belief.n = got;
      delete belief.maybe;
    }
    for (const { key, embs: own } of items)
      if (own.join() !== key) faults.push(`${key}: shows [${own}]`);
    for (const { key, items: own } of embs)
      if (own.join() !== key) faults.push(`vector of ${key}: items [${own}]`);
    if (found.size !== items.length) faults.push('a key occurs twice');
    for (const item of items) if (!this.beliefs.has(item.key)) faults.push(`unknown ${item.key}`);
    if (embs.length !== items.length) faults.push(`${embs.length} vectors, ${items.length} items`);
    if (edges.length !== items.length) faults.push(`${edges.length} edges, ${items.length} items`);
    return [...faults, ...(await this.checkSearch(server, samples))];
  }

  private async checkSearch(server: Answering, samples: number): Promise<string[]> {
    const faults: string[] = [];
    const keys = [...this.beliefs.keys()];
    for (let i = 0; i < samples && keys.length > 0; i++) {
      // Half of the samples are the newest writes: those a crash could lose.
      const recent = i % 2 === 0 ? keys.length - 1 - (i >> 1) : this.chance() * keys.length;
      const key = keys[Math.max(0, Math.floor(recent))]!;
      const alive = this.beliefs.get(key)!.n !== undefined;
      const words = (await server.client.post('find', { word: wordOf(key) })).i as {
        key: string;
      }[];
      if (words.map((hit) => hit.key).join() !== (alive ? key : ''))
        faults.push(`keyword of ${key} finds [${words.map((hit) => hit.key)}]`);
      const near = (await server.client.post('near', { vec: vectorOf(key) })).v;
      if (alive && near[0]?.key !== key) faults.push(`vector of ${key} finds ${near[0]?.key}`);
      if (!alive && near[0]?.key === key) faults.push(`vector of dropped ${key} is found`);
    }
    return faults;
  }
}
