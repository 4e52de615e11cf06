// The checker of CT1, checked: it agrees with trying every order, explains every history that some object has
// made, and finds each kind of lie: the canaries, without which its yes would mean nothing.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Call,
  growingSet,
  linearize,
  type Model,
  register,
  type RegisterCall,
  type SetCall,
} from '../support/cluster/linearizable.js';
import { Random } from '../support/random.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const never = Number.POSITIVE_INFINITY;

/** Tries every order of all answered calls and any of the others. */
function byTrying<S, O>(model: Model<S, O>, calls: readonly Call<O>[]): boolean {
  const search = (state: S, left: readonly Call<O>[]): boolean => {
    if (left.every(({ ended }) => ended === never)) return true;
    return left.some((one) => {
      if (left.some((other) => other !== one && other.ended < one.begun)) return false;
      const next = model.step(state, one.call);
      return (
        next !== undefined &&
        search(
          next,
          left.filter((other) => other !== one),
        )
      );
    });
  };
  return search(model.initial, calls);
}

const registerCalls = fc.array(
  fc.record({
    kind: fc.constantFrom<'read' | 'write'>('read', 'write'),
    value: fc.integer({ min: -1, max: 2 }),
    begun: fc.nat(12),
    length: fc.nat(6),
    lost: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
  }),
  { maxLength: 7 },
);

/** What clients of an object see that does each call at an instant of its own; some get no answer. */
function made(seed: number, clients: number, each: number): Call<RegisterCall>[] {
  const random = new Random(seed);
  const times: { at: number; one: Call<RegisterCall> }[] = [];
  for (let client = 0; client < clients; client++) {
    let now = random.next();
    for (let i = 0; i < each; i++) {
      const begun = now + random.next();
      const took = 1 + 5 * random.next();
      const isLost = random.chance(0.02);
      const isWrite = random.chance(0.4);
      const call: RegisterCall = { kind: isWrite ? 'write' : 'read', value: client * each + i };
      const ended = isLost ? never : begun + took;
      // Without an answer it may still be done, much later, or never.
      const at = begun + took * random.next() * (isLost ? 10 : 1);
      if (!isLost || random.chance(0.7)) times.push({ at, one: { call, begun, ended } });
      now = begun + took;
    }
  }
  let state = -1;
  for (const { one } of times.sort((a, b) => a.at - b.at)) {
    if (one.call.kind === 'write') state = one.call.value;
    else one.call.value = state;
  }
  return times.map(({ one }) => one);
}

test('agrees with trying every order', () => {
  let [yes, no] = [0, 0];
  fc.assert(
    fc.property(registerCalls, (list) => {
      const calls = list.map(({ kind, value, begun, length, lost }) => ({
        call: { kind, value },
        begun,
        ended: lost ? never : begun + length,
      }));
      const expected = byTrying(register, calls);
      if (expected) yes++;
      else no++;
      const { isLinearizable, order } = linearize(register, calls);
      expect(isLinearizable).toBe(expected);
      let state = register.initial;
      for (const index of order) state = register.step(state, calls[index]!.call)!;
      expect(state).toBeDefined();
    }),
    { numRuns: long ? 20_000 : 1_000, seed: 17 },
  );
  // Neither answer is rare among them: an agreement about one alone would show little.
  expect(Math.min(yes, no)).toBeGreaterThan(100);
});

describe('a register', () => {
  test('explains every history of one object', () => {
    for (let seed = 1; seed <= (long ? 200 : 10); seed++)
      expect(linearize(register, made(seed, 6, 60)).isLinearizable, `seed ${seed}`).toBe(true);
  });

  test('canaries: one stale or invented answer among hundreds is found', () => {
    for (let seed = 1; seed <= (long ? 200 : 10); seed++) {
      const calls = made(seed, 4, 60).sort((a, b) => a.begun - b.begun);
      const random = new Random(seed);
      // A read that saw what an answered write had replaced, before another answered one, long ago.
      const writes = calls.filter(({ call, ended }) => call.kind === 'write' && ended !== never);
      const old = writes[random.below(writes.length >> 1)]!;
      const newer = writes.find(({ begun }) => begun > old.ended)!;
      const reads = calls.filter(
        ({ call, begun, ended }) => call.kind === 'read' && ended !== never && begun > newer.ended,
      );
      const stale = random.pick(reads);
      stale.call = { kind: 'read', value: old.call.value };
      expect(linearize(register, calls).isLinearizable, `stale, seed ${seed}`).toBe(false);
      stale.call = { kind: 'read', value: -2 };
      expect(linearize(register, calls).isLinearizable, `invented, seed ${seed}`).toBe(false);
    }
  });

  test('two reads that go back in time, while a write is under way', () => {
    const history = (...values: number[]): Call<RegisterCall>[] => [
      { call: { kind: 'write', value: 1 }, begun: 0, ended: 10 },
      ...values.map((value, i) => ({
        call: { kind: 'read' as const, value },
        begun: 1 + 2 * i,
        ended: 2 + 2 * i,
      })),
    ];
    expect(linearize(register, history(-1, 1, 1)).isLinearizable).toBe(true);
    expect(linearize(register, history(-1, 1, -1)).isLinearizable).toBe(false);
  });
});

describe('a set', () => {
  const add = (value: number, begun: number, ended: number): Call<SetCall> => ({
    call: { kind: 'add', value },
    begun,
    ended,
  });
  const read = (values: number[], begun: number): Call<SetCall> => ({
    call: { kind: 'read', values },
    begun,
    ended: begun + 1,
  });
  const cases: [string, boolean, Call<SetCall>[]][] = [
    ['all are there', true, [add(1, 0, 1), add(2, 2, 3), read([2, 1], 4)]],
    ['one that was acknowledged is lost', false, [add(1, 0, 1), add(2, 2, 3), read([2], 4)]],
    ['one is there twice', false, [add(1, 0, 1), read([1, 1], 4)]],
    ['one without an answer may be there', true, [add(1, 0, never), read([1], 4)]],
    ['or not', true, [add(1, 0, never), read([], 4)]],
    ['but does not go again', false, [add(1, 0, never), read([1], 4), read([], 6)]],
    ['nor comes before it was added', false, [read([1], 0), add(1, 4, never)]],
  ];
  test.each(cases)('%s: %s', (_, expected, calls) => {
    expect(linearize(growingSet, calls).isLinearizable).toBe(expected);
  });
});
