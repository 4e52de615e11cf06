// The time that a read waits for a turn of the calling thread counts against its time limit, in both queues.
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../../engine/base/limits.js';
import { type AdmissionParts, CallRouter } from '../../../engine/database/call-router.js';
import { DeferredReads } from '../../../engine/database/call/deferred-reads.js';
import { InlineTurns } from '../../../engine/database/call/inline-turns.js';
import { compile } from '../../../engine/lang/compile.js';

const text = 'N::Note { text: String } QUERY notes() => all <- N<Note> RETURN all';
const { program } = compile([{ path: 'main.hx', text }], { compat: false });

const busy = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

/** A router whose reads run on the calling thread, and the time limits with which they ran. */
function start(isDeferrable: boolean) {
  const limitsMs: number[] = [];
  const turns = new InlineTurns(() => undefined);
  const deferred = new DeferredReads(() => undefined);
  const inline = {
    turns,
    deferred,
    costs: { reset: () => undefined },
    allows: () => true,
    mayDefer: () => isDeferrable,
    run: (...[, , , budgetMs]: [unknown, unknown, unknown, number]) => {
      limitsMs.push(budgetMs);
      return {};
    },
  };
  const services = { limits: defaultLimits, strict: false };
  const guard = { schema: 1, run: (_: number, read: (view: object) => unknown) => read({}) };
  const router = new CallRouter({
    ...{ limits: defaultLimits, services, guard, inline },
    queryMetrics: { setQueries: () => undefined },
    checkAlive: () => undefined,
  } as unknown as AdmissionParts);
  router.applyProgram(program!, 1);
  // Two active callers, one of which has used its part of the turn.
  for (const caller of ['hog', 'other', 'hog']) {
    turns.spend(caller, 100);
    turns.mustWait(caller);
  }
  const call = async (budgetMs: number): Promise<unknown> =>
    router.call('notes', new Uint8Array(0), { caller: 'hog', budgetMs });
  const nextTurn = (): void => {
    turns.begin();
    deferred.runSome();
  };
  return { call, nextTurn, limitsMs };
}

describe.each([
  ['a short read', false],
  ['a read of moderate length', true],
])('%s that waits for a turn', (_, isDeferrable) => {
  it('runs with the time that is left', async () => {
    const { call, nextTurn, limitsMs } = start(isDeferrable);
    const reply = call(10_000);
    expect(limitsMs).toEqual([]);
    busy(20);
    nextTurn();
    await reply;
    expect(limitsMs).toHaveLength(1);
    expect(limitsMs[0]).toBeLessThanOrEqual(9_980);
  });

  it('does not run after its time limit', async () => {
    const { call, nextTurn, limitsMs } = start(isDeferrable);
    const reply = call(5);
    busy(20);
    nextTurn();
    await expect(reply).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' });
    expect(limitsMs).toEqual([]);
  });
});
