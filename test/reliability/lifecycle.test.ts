// The life of an open database as a table of states, without threads or files.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TrellisError } from '../../engine/base/errors.js';
import {
  Lifecycle,
  type LifecycleEvent,
  type LifecycleState,
  transitions,
} from '../../engine/database/lifecycle.js';

const damage = new TrellisError({ code: 'DATA_CORRUPT', args: { what: 'page 7' } });
const states = Object.keys(transitions) as LifecycleState[];
const events: LifecycleEvent[] = ['replay', 'serve', 'reopen', 'lose', 'stop', 'end'];

/** Events that lead from `opening` to a state. */
const paths: Record<LifecycleState, LifecycleEvent[]> = {
  opening: [],
  replaying: ['replay'],
  serving: ['replay', 'serve'],
  reopening: ['replay', 'serve', 'reopen'],
  lost: ['replay', 'serve', 'lose'],
  stopping: ['replay', 'serve', 'stop'],
  closed: ['replay', 'serve', 'stop', 'end'],
};

function follow(life: Lifecycle, path: readonly LifecycleEvent[]): Lifecycle {
  for (const event of path) {
    if (event === 'lose') life.lose({ reason: 'the file is deleted' });
    else life.apply(event);
  }
  return life;
}

function codeOf(life: Lifecycle): string | undefined {
  try {
    life.checkServing();
    return undefined;
  } catch (error) {
    return (error as TrellisError).code;
  }
}

describe('the life of a database', () => {
  test.each(states.flatMap((state) => events.map((event) => [state, event] as const)))(
    'follows the table: %s and %s',
    (state, event) => {
      const life = follow(new Lifecycle(), paths[state]);
      expect(life.is(state)).toBe(true);
      const next = transitions[state][event];
      if (next === undefined) {
        expect(() => follow(life, [event])).toThrow(`a database that is ${state} cannot ${event}`);
        expect(life.is(state)).toBe(true);
      } else {
        expect(follow(life, [event]).is(next)).toBe(true);
      }
    },
  );

  test.each<[LifecycleState, string, string | undefined]>([
    ['opening', 'opening', 'NOT_READY'],
    ['replaying', 'replaying', 'NOT_READY'],
    ['serving', 'serving', undefined],
    ['reopening', 'opening', 'NOT_READY'],
    ['lost', 'lost', 'STORAGE_LOST'],
    ['stopping', 'stopping', 'SHUTTING_DOWN'],
    ['closed', 'stopping', 'SHUTTING_DOWN'],
  ])('a database that is %s shows the phase %s and refuses calls with %s', (state, phase, code) => {
    const life = follow(new Lifecycle(), paths[state]);
    expect([life.phase, codeOf(life)]).toEqual([phase, code]);
  });

  test('a database that has lost its data never serves again and keeps the reason', () => {
    const event = fc.constantFrom(...events);
    fc.assert(
      fc.property(fc.array(event), fc.array(event), (before, after) => {
        const life = new Lifecycle();
        const tryAll = (list: readonly LifecycleEvent[]): void => {
          for (const one of list) {
            try {
              follow(life, [one]);
            } catch {
              // The table does not list this event.
            }
          }
        };
        tryAll(before);
        life.lose({ reason: 'the file is deleted' });
        tryAll(after);
        expect([life.is('serving'), life.isLost, life.phase]).toEqual([false, true, 'lost']);
        expect(life.lostReason).toBe('the file is deleted');
        expect(codeOf(life)).toBe('STORAGE_LOST');
      }),
    );
  });

  test('a file that cannot be reached replaces damage as the reason, and damage replaces nothing', () => {
    const life = follow(new Lifecycle(), paths.serving);
    expect(life.lose({ damage })).toBe(true);
    expect([codeOf(life), life.lostReason]).toEqual(['DATA_CORRUPT', undefined]);
    expect(life.lose({ damage })).toBe(false);
    expect(life.lose({ reason: 'another process has the data' })).toBe(true);
    expect([codeOf(life), life.lostReason]).toEqual([
      'STORAGE_LOST',
      'another process has the data',
    ]);
    expect(life.lose({ reason: 'later' })).toBe(false);
    expect(life.lose({ damage })).toBe(false);
  });
});
