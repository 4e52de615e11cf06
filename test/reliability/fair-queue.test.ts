// Whose turn it is (access.md 8): a day of calls played on a clock of its own, with callers who ask again after a
// pause. What each gets is measured against what they get alone.
import { describe, expect, test } from 'vitest';
import type { ErrorData, TrellisError } from '../../engine/base/errors.js';
import { FairQueue, type Queued } from '../../engine/database/call/fair-queue.js';
import { makeRoom, refusalOf } from '../../engine/database/call/queue-share.js';

interface Item extends Queued {
  micros: number;
  endsAt: number;
  again: () => void;
}

/** Who asks: so many calls at a time, of so many micros each, each again so long after its answer. */
interface Asker {
  name: string;
  calls: number;
  micros: number;
  pauseMs: number;
  cost?: 'B' | 'C' | 'W';
  /** Alone until others come at this time. */
  fromMs?: number;
}

/** What each got done in so many milliseconds, in micros of work, on so many threads. */
function play(askers: readonly Asker[], ms: number, threads = 1): Map<string, number> {
  const queue = new FairQueue<Item>();
  const done = new Map(askers.map(({ name }) => [name, 0]));
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  const later = (at: number, run: () => void) => timers.push({ at, run });
  const away: (Item | undefined)[] = Array.from({ length: threads }, () => undefined);
  let heldSince = -1;
  const feed = (): void => {
    for (;;) {
      const free = away.filter((item) => item === undefined).length;
      if (free === 0) return;
      const turn = queue.next(now, { count: threads, idle: free });
      if (turn === undefined) return;
      if ('waitMs' in turn) {
        if (heldSince < 0) heldSince = now;
        later(now + Math.max(0.05, turn.waitMs), () => feed());
        return;
      }
      if (heldSince >= 0) queue.waited(now - heldSince);
      heldSince = -1;
      const { item } = turn;
      queue.sent(item, now);
      item.endsAt = now + item.micros / 1000;
      away[away.indexOf(undefined)] = item;
      later(item.endsAt, () => {
        away[away.indexOf(item)] = undefined;
        queue.back(item, now, item.micros);
        done.set(item.caller, done.get(item.caller)! + item.micros);
        item.again();
        feed();
      });
    }
  };
  for (const { name, calls, micros, pauseMs, cost = 'C', fromMs = 0 } of askers) {
    const ask = (): void => {
      const again = () => later(now + pauseMs, ask);
      const item: Item = {
        caller: name,
        body: { length: 1 },
        cost,
        settled: false,
        micros,
        endsAt: 0,
        again,
      };
      queue.push(item, now);
      feed();
    };
    for (let i = 0; i < calls; i++) later(fromMs, ask);
  }
  while (timers.length > 0) {
    const [first] = timers.sort((a, b) => a.at - b.at);
    timers = timers.filter((timer) => timer !== first);
    now = Math.max(now, first!.at);
    if (now > ms) break;
    first!.run();
  }
  return done;
}

const shareOf = (asker: Asker, hogs: readonly Asker[], threads = 1): number => {
  const alone = play([asker], 4_000, threads).get(asker.name)!;
  return play([asker, ...hogs], 4_000, threads).get(asker.name)! / alone;
};

const hogs: Asker[] = [
  { name: 'scans', calls: 64, micros: 50_000, pauseMs: 1 },
  { name: 'short scans', calls: 64, micros: 3_000, pauseMs: 1 },
  { name: 'bulk', calls: 4, micros: 200_000, pauseMs: 5, cost: 'W' },
  { name: 'endless', calls: 64, micros: 1_000_000, pauseMs: 1 },
  { name: 'swarm', calls: 500, micros: 400, pauseMs: 1, cost: 'B' },
];
const victims: Asker[] = [
  { name: 'one reader', calls: 1, micros: 300, pauseMs: 0.3, cost: 'B' },
  { name: '16 readers', calls: 16, micros: 1_000, pauseMs: 0.7, cost: 'B' },
  { name: 'a slow asker', calls: 1, micros: 1_000, pauseMs: 5, cost: 'B' },
  { name: 'writers', calls: 16, micros: 150, pauseMs: 1, cost: 'W' },
  { name: 'few scans', calls: 2, micros: 30_000, pauseMs: 2 },
];

describe('A28: next to one caller with too much load, others get at least half of what they get alone', () => {
  for (const victim of victims) {
    for (const hog of hogs) {
      test(`${victim.name} next to ${hog.name}`, () => {
        const share = shareOf(victim, [hog]);
        // A call that runs is not stopped: who asks seldom waits for the end of one each time.
        const rest = hog.name === 'endless' ? 0.3 : 0.45;
        expect(share).toBeGreaterThan(rest);
      });
    }
  }

  test('on several threads as well, and several hogs share what they take', () => {
    for (const threads of [2, 4, 8]) {
      const share = shareOf(victims[1]!, [hogs[0]!], threads);
      expect([threads, share > 0.45]).toEqual([threads, true]);
    }
    const [one, other] = [
      { ...hogs[0]!, name: 'x' },
      { ...hogs[0]!, name: 'y', calls: 8 },
    ];
    const got = play([one, other], 6_000);
    expect(got.get('x')! / got.get('y')!).toBeGreaterThan(0.8);
    expect(got.get('x')! / got.get('y')!).toBeLessThan(1.25);
  });
});

describe('A29: nothing is lost', () => {
  test('a sole caller has all threads all the time', () => {
    for (const threads of [1, 4]) {
      for (const hog of hogs) {
        const used = play([hog], 4_000, threads).get(hog.name)! / 1000 / threads / 4_000;
        // A million micros more or less are under way at the end.
        expect([hog.name, used > (hog.name === 'endless' ? 0.7 : 0.9)]).toEqual([hog.name, true]);
      }
    }
  });

  test('others take what a caller leaves unused', () => {
    // One call a tenth of a second: the rest of the time is the other one's.
    const seldom = { name: 'seldom', calls: 1, micros: 1_000, pauseMs: 100 };
    const got = play([seldom, hogs[0]!], 6_000);
    expect(got.get('scans')! / 6_000_000).toBeGreaterThan(0.85);
    expect(got.get('seldom')!).toBeGreaterThan(25_000);
  });

  test('all calls are returned, in the order of their callers', () => {
    const queue = new FairQueue<Item>();
    const items: Item[] = [];
    for (let i = 0; i < 3_000; i++) {
      const item = {
        caller: `c${i % 7}`,
        body: { length: 1 },
        cost: 'B',
        settled: false,
        micros: i,
      } as Item;
      items.push(item);
      queue.push(item, 0);
    }
    expect([queue.length, queue.bytes]).toEqual([3_000, 3_000]);
    const seen: Item[] = [];
    for (let now = 0; queue.length > 0; now++) {
      const turn = queue.next(now, { count: 2, idle: 2 });
      if (turn === undefined || 'waitMs' in turn) continue;
      queue.sent(turn.item, now);
      queue.back(turn.item, now, 100);
      seen.push(turn.item);
    }
    for (let caller = 0; caller < 7; caller++) {
      const own = seen.filter(({ micros }) => micros % 7 === caller);
      expect(own).toEqual(items.filter(({ micros }) => micros % 7 === caller));
    }
    expect([seen.length, queue.length, queue.bytes]).toEqual([3_000, 0, 0]);
  });
});

describe('A28: half of a queue is the most of one caller while others are there', () => {
  const full: ErrorData = { code: 'OVERLOADED', args: { queue: 'The queue' } };
  const bounds = { calls: 100, bytes: 1_000 };

  function filled(count: number, bytes = 1) {
    const queue = new FairQueue<Item & { reject: (error: TrellisError) => void }>();
    const away: string[] = [];
    const push = (caller: string, at: number): string | undefined => {
      const refusal = refusalOf(queue, caller, bounds, full, 'calls');
      if (refusal !== undefined) return refusal.code;
      makeRoom(queue, bounds, 'calls');
      const reject = (error: TrellisError): void => void away.push(`${caller} ${at} ${error.code}`);
      const more = { settled: false, micros: 1, endsAt: 0, again: () => undefined, reject };
      queue.push({ caller, body: { length: bytes }, cost: 'B', ...more }, performance.now());
      return undefined;
    };
    const told = Array.from({ length: count }, (_, i) => push('hog', i));
    return { queue, away, push, told };
  }

  test('a sole caller fills all of it, and what came last makes room for others', () => {
    const { queue, away, push, told } = filled(101);
    expect([told.filter(Boolean), queue.length]).toEqual([['OVERLOADED'], 100]);
    for (let i = 0; i < 50; i++) expect(push('other', i)).toBe(undefined);
    expect(queue.length).toBe(100);
    expect(away[0]).toBe('hog 99 SHARE_EXCEEDED');
    expect(away).toHaveLength(50);
    expect([push('hog', 0), push('other', 51), push('third', 0)]).toEqual([
      'SHARE_EXCEEDED',
      'SHARE_EXCEEDED',
      undefined,
    ]);
  });

  test('by bytes likewise', () => {
    const { queue, away, push, told } = filled(11, 100);
    expect([told.filter(Boolean), queue.bytes]).toEqual([['OVERLOADED'], 1_000]);
    expect(push('other', 0)).toBe(undefined);
    expect([queue.bytes, away]).toEqual([1_000, ['hog 9 SHARE_EXCEEDED']]);
  });

  test('a queue full of many is full', () => {
    const { push } = filled(0);
    const told = Array.from({ length: 101 }, (_, i) => push(`c${i % 20}`, i));
    expect(told.filter(Boolean)).toEqual(['OVERLOADED']);
  });
});
