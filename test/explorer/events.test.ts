// What the pages' graph libraries get in the place of Node's `events` behaves as it in all that they use.
import { EventEmitter as Real } from 'node:events';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventEmitter } from '../../server/explorer/canvas/events.js';

interface Emitter {
  on(type: string, listener: (...args: unknown[]) => void): unknown;
  removeListener(type: string, listener: (...args: unknown[]) => void): unknown;
  removeAllListeners(): unknown;
  emit(type: string, ...args: unknown[]): boolean;
}

const types = ['a', 'b'];
const listeners = 3;
type Act = ['on' | 'off' | 'emit' | 'clear', number, number];

/** What is called and answered; the last listener takes itself off and puts the first on, while it is called. */
function trace(emitter: Emitter, acts: readonly Act[]): unknown[] {
  const seen: unknown[] = [];
  const all = Array.from(
    { length: listeners },
    (_, no) =>
      (type: unknown, value: unknown): void => {
        seen.push([no, type, value]);
        if (no < listeners - 1) return;
        emitter.removeListener(String(type), all[no]!);
        emitter.on(String(type), all[0]!);
      },
  );
  for (const [act, type, no] of acts) {
    const [name, listener] = [types[type]!, all[no]!];
    if (act === 'on') emitter.on(name, listener);
    else if (act === 'off') emitter.removeListener(name, listener);
    else if (act === 'clear') emitter.removeAllListeners();
    else seen.push(emitter.emit(name, name, no));
  }
  return seen;
}

test('E11: the emitter of the pages does what that of Node does', () => {
  const act = fc.tuple(
    fc.constantFrom('on', 'on', 'emit', 'emit', 'off', 'clear') as fc.Arbitrary<Act[0]>,
    fc.nat(types.length - 1),
    fc.nat(listeners - 1),
  );
  fc.assert(
    fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
      const real = new Real().setMaxListeners(0);
      expect(trace(new EventEmitter(), acts)).toEqual(trace(real, acts));
    }),
  );
});
