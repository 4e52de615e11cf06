// Life of sessions: ownership, expiry, caps, order of calls, memory; then all of it under random
// clocks.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import { defaultLimits, type Limits } from '../../engine/base/limits.js';
import { SessionStore } from '../../engine/session/session-store.js';

const minute = 60_000;
const hour = 60 * minute;

function storeWith(limits: Partial<Limits> = {}): SessionStore {
  let next = 0;
  const randomBytes = (count: number) => {
    const bytes = new Uint8Array(count).fill(0xff);
    new DataView(bytes.buffer).setUint32(0, next++);
    return bytes;
  };
  return new SessionStore({ ...defaultLimits, ...limits }, randomBytes);
}

function codeOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return error instanceof TrellisError ? error.code : String(error);
  }
}

const items = (count: number) => ({ ids: new Uint32Array(count) });

describe('ids', () => {
  test('are version 4 UUIDs of random bits', () => {
    const { id } = storeWith().open('', 0);
    expect(id).toBe('00000000-ffff-4fff-bfff-ffffffffffff');
  });
});

describe('finding a session', () => {
  test('only its own key finds it', () => {
    const store = storeWith();
    const { id } = store.open('ann', 0);
    expect(store.get(id, 'ann', 1).id).toBe(id);
    for (const key of ['', 'bob'])
      expect(codeOf(() => store.get(id, key, 1))).toBe('CONNECTION_NOT_FOUND');
    for (const other of ['', id.toUpperCase(), 'x'.repeat(1e6), '__proto__'])
      expect(codeOf(() => store.get(other, 'ann', 1))).toBe('CONNECTION_NOT_FOUND');
  });

  test('long ids are cut in the message', () => {
    try {
      storeWith().get('x'.repeat(1e6), '', 0);
      expect.unreachable();
    } catch (error) {
      expect((error as Error).message.length).toBeLessThan(100);
    }
  });

  test('dropping a key ends its sessions', () => {
    const store = storeWith();
    const [a, b, c] = [store.open('ann', 0), store.open('ann', 0), store.open('bob', 0)];
    expect(store.dropByKey('ann')).toBe(2);
    expect(store.dropByKey('nobody')).toBe(0);
    for (const { id } of [a!, b!])
      expect(codeOf(() => store.get(id, 'ann', 0))).toBe('CONNECTION_NOT_FOUND');
    expect(store.get(c!.id, 'bob', 0).live).toBe(true);
    expect(store.counts()).toMatchObject({ open: 1, bytes: 1024 });
  });
});

describe('expiry', () => {
  test('every use restarts the idle time', () => {
    const store = storeWith();
    const { id } = store.open('', 0);
    for (let now = hour - 1; now < 10 * hour; now += hour - 1) store.get(id, '', now);
    const last = 9 * hour + hour - 10;
    expect(store.get(id, '', last).live).toBe(true);
    expect(codeOf(() => store.get(id, '', last + hour))).toBe('CONNECTION_NOT_FOUND');
    expect(store.counts()).toMatchObject({ open: 0, expired: 1, bytes: 0 });
  });

  test('0 means never', () => {
    const store = storeWith({ session_idle: 0 });
    const { id } = store.open('', 0);
    expect(store.sweep(1e15)).toBe(0);
    expect(store.get(id, '', 1e15).live).toBe(true);
  });

  test('a running call keeps its session, and its end restarts the idle time', () => {
    const store = storeWith();
    const session = store.open('', 0);
    store.enter(session);
    expect(store.sweep(2 * hour)).toBe(0);
    store.leave(session, 2 * hour);
    expect(store.sweep(3 * hour - 1)).toBe(0);
    expect(store.sweep(3 * hour)).toBe(1);
  });

  test('a sweep frees what the items took', () => {
    const store = storeWith();
    for (let i = 0; i < 5; i++) store.settle(store.open('', i), 'replace', items(1000));
    expect(store.counts().bytes).toBe(5 * (1024 + 4000));
    expect(store.sweep(hour + 2)).toBe(3);
    expect(store.counts()).toMatchObject({ open: 2, bytes: 2 * (1024 + 4000) });
  });
});

describe('the cap', () => {
  test('refuses while every session is in use, takes expired ones first', () => {
    const store = storeWith({ sessions: 2 });
    const [a, b] = [store.open('', 0), store.open('', 0)];
    expect(codeOf(() => store.open('', 5 * minute - 1))).toBe('TOO_MANY_SESSIONS');
    store.get(a!.id, '', 50 * minute);
    const c = store.open('', hour);
    expect([a!.live, b!.live, c.live]).toEqual([true, false, true]);
    expect(store.counts()).toMatchObject({ open: 2, expired: 1, evicted: 0 });
  });

  test('evicts the least recently used that is idle for five minutes, those of the caller first', () => {
    const store = storeWith({ sessions: 3 });
    const foreign = store.open('bob', 0);
    const older = store.open('ann', 1);
    const newer = store.open('ann', 2);
    store.open('ann', 5 * minute + 2);
    expect([foreign.live, older.live, newer.live]).toEqual([true, false, true]);
    store.get(newer.id, 'ann', 6 * minute);
    store.open('ann', 6 * minute);
    expect([foreign.live, newer.live]).toEqual([false, true]);
    expect(codeOf(() => store.open('ann', 6 * minute))).toBe('TOO_MANY_SESSIONS');
    expect(store.counts().evicted).toBe(2);
  });

  test('a session with a running call is never taken', () => {
    const store = storeWith({ sessions: 1 });
    const session = store.open('', 0);
    store.enter(session);
    expect(codeOf(() => store.open('', 10 * hour))).toBe('TOO_MANY_SESSIONS');
    store.leave(session, 10 * hour);
    expect(codeOf(() => store.open('', 10 * hour))).toBe('TOO_MANY_SESSIONS');
    expect(codeOf(() => store.open('', 10 * hour + 5 * minute))).toBeUndefined();
  });

  test('per key, others are not touched', () => {
    const store = storeWith({ sessions_per_key: 1 });
    const other = store.open('bob', 0);
    const own = store.open('ann', 0);
    expect(codeOf(() => store.open('ann', minute))).toBe('TOO_MANY_SESSIONS');
    store.open('ann', 5 * minute);
    expect([other.live, own.live]).toEqual([true, false]);
  });
});

describe('order of calls', () => {
  test('one at a time, first in, first out, and no more than may wait', () => {
    const store = storeWith({ session_queue: 3 });
    const session = store.open('', 0);
    const order: number[] = [];
    expect(store.enter(session)).toBe(true);
    expect(store.enter(session)).toBe(false);
    const withdraw = [1, 2, 3].map((n) => store.wait(session, () => void order.push(n)));
    expect(codeOf(() => store.wait(session, () => {}))).toBe('SESSION_BUSY');
    expect([withdraw[1]!(), withdraw[1]!()]).toEqual([true, false]);
    store.leave(session, 0);
    expect(order).toEqual([1]);
    expect(store.enter(session)).toBe(false);
    store.leave(session, 0);
    store.leave(session, 0);
    expect(order).toEqual([1, 3]);
    expect(withdraw[2]!()).toBe(false);
    expect(store.enter(session)).toBe(true);
  });
});

describe('what sessions may keep', () => {
  test('items of one and memory of all are bounded, and a refusal changes nothing', () => {
    const store = storeWith({ session_items: 10, session_memory: 2 * 1024 + 60 });
    const [a, b] = [store.open('', 0), store.open('', 0)];
    store.settle(a!, 'replace', items(10));
    expect(codeOf(() => store.settle(a!, 'replace', items(11)))).toBe('RESULT_TOO_LARGE');
    expect(codeOf(() => store.settle(b!, 'replace', items(6)))).toBe('OVERLOADED');
    store.settle(b!, 'replace', items(5));
    expect(a!.traversal.items?.ids.length).toBe(10);
    store.settle(a!, 'replace', items(2));
    store.settle(a!, 'blank');
    expect(store.counts().bytes).toBe(2 * 1024 + 20);
  });

  test('items of a session that has ended are not counted', () => {
    const store = storeWith();
    const session = store.open('ann', 0);
    store.enter(session);
    store.dropByKey('ann');
    store.settle(session, 'replace', items(100));
    store.leave(session, 1);
    expect(store.counts()).toMatchObject({ open: 0, bytes: 0 });
  });
});

type Move =
  | { kind: 'open'; key: string }
  | { kind: 'get' | 'keep' | 'blank'; index: number }
  | { kind: 'wait'; ms: number }
  | { kind: 'sweep' }
  | { kind: 'drop'; key: string };

const key = fc.constantFrom('', 'ann', 'bob');
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ kind: fc.constant('open' as const), key }),
  fc.record({
    kind: fc.constantFrom('get' as const, 'keep' as const, 'blank' as const),
    index: fc.nat(20),
  }),
  fc.record({
    kind: fc.constant('wait' as const),
    ms: fc.oneof(fc.nat(2 * hour), fc.constantFrom(hour, hour - 1, 5 * minute)),
  }),
  fc.record({ kind: fc.constant('sweep' as const) }),
  fc.record({ kind: fc.constant('drop' as const), key: fc.constantFrom('ann', 'bob') }),
);

test('under any clock: never early, never above the caps, all bytes accounted for', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const store = storeWith({ sessions: 6, sessions_per_key: 4 });
      const known: { id: string; key: string; used: number; gone: boolean; bytes: number }[] = [];
      let now = 0;
      /** Sessions that may have ended only because they were idle for so long. */
      const mayBeGone = (ms: number) => known.filter((one) => !one.gone && now - one.used >= ms);
      for (const each of moves) {
        const one = 'index' in each ? known[each.index % Math.max(known.length, 1)] : undefined;
        if (each.kind === 'wait') now += each.ms;
        else if (each.kind === 'sweep') store.sweep(now);
        else if (each.kind === 'drop') {
          store.dropByKey(each.key);
          for (const own of known) own.gone ||= own.key === each.key;
        } else if (each.kind === 'open') {
          const evictable = mayBeGone(5 * minute).length > 0;
          const live = known.filter((own) => !own.gone && now - own.used < hour);
          const isFull = live.length >= 6 || live.filter((own) => own.key === each.key).length >= 4;
          const code = codeOf(() => {
            const { id } = store.open(each.key, now);
            known.push({ id, key: each.key, used: now, gone: false, bytes: 0 });
          });
          if (code !== undefined) expect([code, isFull]).toEqual(['TOO_MANY_SESSIONS', true]);
          if (isFull && !evictable) expect(code).toBe('TOO_MANY_SESSIONS');
          expect(store.counts().open).toBeLessThanOrEqual(6);
        } else if (one !== undefined) {
          const idle = now - one.used;
          const code = codeOf(() => {
            const session = store.get(one.id, one.key, now);
            if (each.kind === 'get') return;
            store.settle(session, each.kind === 'keep' ? 'replace' : 'blank', items(each.index));
          });
          if (code === undefined) expect([one.gone, idle < hour]).toEqual([false, true]);
          // It may have made room for another after five minutes, but not before.
          else if (!one.gone) expect(idle).toBeGreaterThanOrEqual(5 * minute);
          one.gone ||= code !== undefined;
          if (code === undefined) one.used = now;
        }
      }
      store.sweep(now + 3 * hour);
      expect(store.counts()).toMatchObject({ open: 0, bytes: 0 });
    }),
    { numRuns: process.env.TRELLIS_TEST_LONG === '1' ? 20_000 : 500 },
  );
});
