// A database that is opened on demand: whatever happens while it is closed, the next opening uses the newest
// program.
import { expect, it } from 'vitest';
import { type Program, TrellisError } from '../../engine/internal.js';
import { OnDemandDatabase } from '../../server/database/pool/on-demand-database.js';
import { FakeDatabase } from '../support/fake-database.js';

const { program } = new FakeDatabase();
const named = (version: number): Program => ({
  ...program,
  schema: { ...program.schema, version },
});

/** When a reload comes: while it is closed, opening, open, or being closed. */
const moments = ['closed', 'opening', 'open', 'closing'] as const;
const faults = [undefined, 'OVERLOADED', 'DATA_LOCKED'] as const;
const cases = moments.flatMap((moment) => faults.map((fault) => [moment, fault] as const));

it.each(cases)('a reload while it is %s (fault: %s) is not forgotten', async (moment, fault) => {
  const opened: number[] = [];
  let isFaulty = fault !== undefined;
  const fail = (): void => {
    if (isFaulty) throw new TrellisError({ code: fault!, args: { queue: '', holder: '' } });
  };
  const database = new OnDemandDatabase({
    tenant: 'acme',
    program: named(1),
    open: async (given) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (fault === 'DATA_LOCKED') fail();
      opened.push(given.schema.version);
      const fake = new FakeDatabase();
      fake.program = given;
      return fake;
    },
    acquireSlot: async () => {
      if (fault === 'OVERLOADED') fail();
    },
    onSlotFree: () => undefined,
    onProgram: () => undefined,
    warn: () => undefined,
  });
  const waking = moment === 'closed' ? undefined : database.ensureOpen();
  const isOpen = waking?.then(
    () => true,
    () => false,
  );
  if (moment !== 'opening') await isOpen;
  const falling = moment === 'closing' ? database.closeIdle() : undefined;
  await database.reload(named(2));
  await falling;
  await isOpen;
  isFaulty = false;
  await database.closeIdle();
  // What could not be opened is tried again after a second.
  await expect
    .poll(
      async () =>
        database
          .ensureOpen()
          ?.then(() => '')
          ?.catch(String),
      wait,
    )
    .toBe('');
  expect([opened.at(-1), database.program.schema.version]).toEqual([2, 2]);
  await database.close();
});
const wait = { interval: 100 };
