// If requests need more databases than may be open, each database is opened within a bounded time, however
// busy the others are.
import { describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../engine/internal.js';
import { Random } from '../support/random.js';
import {
  type Clock,
  type Holder,
  AdmissionQueue,
} from '../../server/database/pool/admission-queue.js';
import { startTenants } from './running-tenants.js';

/**
 * A clock that the test advances. So the test does not depend on the speed of the machine.
 */
class OwnClock implements Clock {
  #now = 0;
  readonly #due = new Set<{ at: number; work: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, work: () => void): () => void {
    const entry = { at: this.#now + ms, work };
    this.#due.add(entry);
    return () => this.#due.delete(entry);
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      // What was brought about goes on first, as far as it can without the clock.
      for (let i = 0; i < 50; i++) await null;
      let next: { at: number; work: () => void } | undefined;
      for (const entry of this.#due) if (next === undefined || entry.at < next.at) next = entry;
      if (next === undefined || next.at > end) break;
      this.#due.delete(next);
      this.#now = next.at;
      next.work();
    }
    this.#now = end;
  }
}

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
  askedAt = 0;

  constructor(
    readonly name: string,
    readonly ms: { open: number; close: number },
    readonly clock: OwnClock,
    readonly turns: () => AdmissionQueue,
  ) {}

  get openMs(): number {
    return this.isOpen ? this.clock.now() - this.#openedAt : 0;
  }

  ensureOpen(): Promise<void> | undefined {
    if (this.isOpen && !this.#isResting) return undefined;
    this.#waking ??= this.#wake().finally(() => {
      this.#waking = undefined;
    });
    return this.#waking;
  }

  async #wake(): Promise<void> {
    await this.turns().take(this.name);
    await this.clock.pause(this.ms.open);
    this.isOpen = true;
    this.#openedAt = this.clock.now();
    this.longestMs = Math.max(this.longestMs, this.#openedAt - this.askedAt);
  }

  async drain(): Promise<boolean> {
    this.#isResting = true;
    this.askedAt = this.clock.now();
    await this.clock.pause(this.ms.close);
    this.isOpen = this.#isResting = false;
    this.turns().releaseSlot(this.name);
    return true;
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe('with a clock of its own', () => {
  it.each([
    [1, 3],
    [1, 2],
    [2, 3],
    [2, 7],
    [3, 4],
  ])('%i places for %i databases at work', async (most, count) => {
    const random = new Random(most * 10 + count);
    const ms = { open: 100, close: 200 };
    const clock = new OwnClock();
    const find = (name: string): Busy => all.find((one) => one.name === name)!;
    const turns: AdmissionQueue = new AdmissionQueue(most, find, clock);
    const all = Array.from({ length: count }, (_, i) => new Busy(`t${i}`, ms, clock, () => turns));
    let isOver = false;
    let mostOpen = 0;
    const ask = async (one: Busy): Promise<void> => {
      while (!isOver) {
        try {
          await one.ensureOpen();
          if (one.isOpen) one.answered++;
        } catch {
          // Refused for now.
        }
        mostOpen = Math.max(mostOpen, all.filter(({ isOpen }) => isOpen).length);
        await clock.pause(5 + random.below(20));
      }
    };
    const asking = all.map(ask);
    await clock.advance(60_000);
    isOver = true;
    turns.close();
    await clock.advance(5_000);
    await Promise.all(asking);
    expect(mostOpen).toBe(most);
    // Those before it share the places; each has two seconds, and is closed and opened.
    const rounds = Math.ceil(count / most);
    const bound = rounds * (2_000 + ms.open + ms.close + 50);
    for (const { name, longestMs } of all) expect([name, longestMs <= bound]).toEqual([name, true]);
    const counts = all.map(({ answered }) => answered);
    expect(Math.min(...counts)).toBeGreaterThan(Math.max(...counts) / 2);
  });

  it('keeps the slot of a request that has left, and none for one that no caller waits for', async () => {
    const ms = { open: 1, close: 1 };
    const clock = new OwnClock();
    const turns: AdmissionQueue = new AdmissionQueue(1, (name) => (name === 'a' ? a : b), clock);
    const [a, b] = [new Busy('a', ms, clock, () => turns), new Busy('b', ms, clock, () => turns)];
    const settle = async (work: Promise<unknown>, forMs: number): Promise<string> => {
      const end = work.then(
        () => 'open',
        (error: { code: string }) => error.code,
      );
      await clock.advance(forMs);
      return end;
    };
    expect(await settle(a.ensureOpen()!, 10)).toBe('open');
    expect(await settle(b.ensureOpen()!, 1_010)).toBe('OVERLOADED');
    expect([a.isOpen, b.isOpen]).toEqual([true, false]);
    await clock.advance(1_200);
    expect([a.isOpen, b.isOpen]).toEqual([false, true]);
    // While one loads, others wait; who gave up long ago is given nothing.
    b.isLoading = true;
    expect(await settle(a.ensureOpen()!, 1_010)).toBe('OVERLOADED');
    await clock.advance(12_000);
    b.isLoading = false;
    await clock.advance(5_000);
    expect([a.isOpen, b.isOpen]).toEqual([false, true]);
    // An idle one goes before its turn is over.
    b.idleMs = 60;
    expect(await settle(a.ensureOpen()!, 100)).toBe('open');
    turns.close();
  });
});

it('three tenants under load are all answered, one open at a time', async () => {
  const source = `
    N::Person { name: String }
    QUERY add(name: String) => p <- AddN<Person>({ name: name }) RETURN p::ID
    QUERY count() => p <- N<Person>::COUNT RETURN p`;
  const tenants = ['acme', 'beta', 'gamma'];
  const server = await startTenants(source, openDatabase, {
    ...Object.fromEntries(tenants.map((name) => [`tenants.databases.${name}`, ''])),
    'tenants.max_open': '1',
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
        { interval: 50 },
      );
      expect(found).toEqual({ p: written.get(tenant) });
    }
  } finally {
    await server.close();
  }
});
