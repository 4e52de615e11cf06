// More databases are asked for than may be open: each has its turn within a bounded time, however hard the
// others are at work.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../engine/index.js';
import { Random } from '../support/random.js';
import { type Holder, Turns } from '../../server/house/turns.js';
import { startTenants } from './running-tenants.js';

/** One that takes its time to open and to close; asked for without a pause. */
class Busy implements Holder {
  isOpen = false;
  isLoading = false;
  idleMs = 0;
  #openedAt = 0;
  #waking: Promise<void> | undefined;
  #isResting = false;
  /** The longest time from a request until it was open. */
  longestMs = 0;
  answered = 0;
  askedAt = performance.now();

  constructor(
    readonly name: string,
    readonly ms: { open: number; close: number },
    readonly turns: () => Turns,
  ) {}

  get openMs(): number {
    return this.isOpen ? performance.now() - this.#openedAt : 0;
  }

  wake(): Promise<void> | undefined {
    if (this.isOpen && !this.#isResting) return undefined;
    this.#waking ??= this.#wake().finally(() => {
      this.#waking = undefined;
    });
    return this.#waking;
  }

  async #wake(): Promise<void> {
    await this.turns().take(this.name);
    await pause(this.ms.open);
    this.isOpen = true;
    this.#openedAt = performance.now();
    this.longestMs = Math.max(this.longestMs, this.#openedAt - this.askedAt);
  }

  async rest(): Promise<boolean> {
    this.#isResting = true;
    this.askedAt = performance.now();
    await pause(this.ms.close);
    this.isOpen = this.#isResting = false;
    this.turns().left(this.name);
    return true;
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe('with a clock of its own', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    [1, 3],
    [1, 2],
    [2, 3],
    [2, 7],
    [3, 4],
  ])('%i places for %i databases at work', async (most, count) => {
    const random = new Random(most * 10 + count);
    const ms = { open: 100, close: 200 };
    const turns: Turns = new Turns(most, (name) => all.find((one) => one.name === name)!);
    const all = Array.from({ length: count }, (_, i) => new Busy(`t${i}`, ms, () => turns));
    let isOver = false;
    let mostOpen = 0;
    const ask = async (one: Busy): Promise<void> => {
      while (!isOver) {
        try {
          await one.wake();
          if (one.isOpen) one.answered++;
        } catch {
          // Refused for now.
        }
        mostOpen = Math.max(mostOpen, all.filter(({ isOpen }) => isOpen).length);
        await pause(5 + random.below(20));
      }
    };
    const asking = all.map(ask);
    await vi.advanceTimersByTimeAsync(60_000);
    isOver = true;
    turns.close();
    await vi.advanceTimersByTimeAsync(5_000);
    await Promise.all(asking);
    expect(mostOpen).toBe(most);
    // Those before it share the places; each has two seconds, and is closed and opened.
    const rounds = Math.ceil(count / most);
    const bound = rounds * (2_000 + ms.open + ms.close + 50);
    for (const { name, longestMs } of all) expect([name, longestMs <= bound]).toEqual([name, true]);
    const counts = all.map(({ answered }) => answered);
    expect(Math.min(...counts)).toBeGreaterThan(Math.max(...counts) / 2);
  });

  it('keeps the turn of one whose request has left, and none for who is not asked for any more', async () => {
    const ms = { open: 1, close: 1 };
    const turns: Turns = new Turns(1, (name) => (name === 'a' ? a : b));
    const [a, b] = [new Busy('a', ms, () => turns), new Busy('b', ms, () => turns)];
    const settle = async (work: Promise<unknown>, forMs: number): Promise<string> => {
      const end = work.then(
        () => 'open',
        (error: { code: string }) => error.code,
      );
      await vi.advanceTimersByTimeAsync(forMs);
      return end;
    };
    expect(await settle(a.wake()!, 10)).toBe('open');
    expect(await settle(b.wake()!, 1_010)).toBe('OVERLOADED');
    expect([a.isOpen, b.isOpen]).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(1_200);
    expect([a.isOpen, b.isOpen]).toEqual([false, true]);
    // While one loads, others wait; who gave up long ago is given nothing.
    b.isLoading = true;
    expect(await settle(a.wake()!, 1_010)).toBe('OVERLOADED');
    await vi.advanceTimersByTimeAsync(12_000);
    b.isLoading = false;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([a.isOpen, b.isOpen]).toEqual([false, true]);
    // An idle one goes before its turn is over.
    b.idleMs = 60;
    expect(await settle(a.wake()!, 100)).toBe('open');
    turns.close();
  });
});

it('three tenants under load are all answered, one open at a time', {
  timeout: 60_000,
}, async () => {
  const source = `
    N::Person { name: String }
    QUERY add(name: String) => p <- AddN<Person>({ name: name }) RETURN p::ID
    QUERY count() => p <- N<Person>::COUNT RETURN p`;
  const tenants = ['acme', 'beta', 'gamma'];
  const server = await startTenants(source, openDatabase, {
    ...Object.fromEntries(tenants.map((name) => [`cluster.databases.${name}`, ''])),
    'cluster.databases_open': '1',
    'storage.ballast': '0',
    'server.workers': '1',
  });
  try {
    const written = new Map(tenants.map((name) => [name, 0]));
    /** Tenants in the order in which they were open. */
    const order: string[] = [];
    const end = performance.now() + 14_000;
    const client = async (tenant: string): Promise<void> => {
      while (performance.now() < end) {
        const reply = await server.post('/add', { name: 'x' }, { 'Trellis-Tenant': tenant });
        expect([200, 503]).toContain(reply.status);
        if (reply.status === 200) {
          written.set(tenant, written.get(tenant)! + 1);
          if (order.at(-1) !== tenant) order.push(tenant);
        }
        // Who is open is always asked again before its time is over.
        await pause(reply.status === 200 ? 5 : 20);
      }
    };
    await Promise.all(tenants.flatMap((tenant) => [client(tenant), client(tenant)]));
    // Five turns or six in all: each has had one at least, most have had two. How much one writes in its
    // turn is the machine's matter.
    const counts = tenants.map((name) => order.filter((open) => open === name).length);
    expect(Math.min(...counts), order.join(' ')).toBeGreaterThan(0);
    expect(Math.max(...counts) - Math.min(...counts), order.join(' ')).toBeLessThanOrEqual(1);
    for (const tenant of tenants) {
      const found = await vi.waitUntil(
        async () => {
          const reply = await server.post('/count', {}, { 'Trellis-Tenant': tenant });
          return reply.status === 200 && JSON.parse(reply.text);
        },
        { timeout: 20_000, interval: 50 },
      );
      expect(found).toEqual({ p: written.get(tenant) });
    }
  } finally {
    await server.close();
  }
});
