// The graph reads of one key (E05): at most two run, in the order of arrival. A failure loses no other read,
// and a full queue refuses further ones.
import { expect, test } from 'vitest';
import { KeyedSemaphore } from '../../server/handlers/explorer/per-key-limit.js';

const atOnce = 2;
const waitingMax = 32;

/** A look that ends when it is told to. */
function heldLook(begun: number[], no: number) {
  let end = (): void => undefined;
  let fail = (): void => undefined;
  const work = (): Promise<number> => {
    begun.push(no);
    return new Promise((resolve, reject) => {
      end = () => resolve(no);
      fail = () => reject(new Error(`look ${no}`));
    });
  };
  return { work, end: () => end(), fail: () => fail() };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('E05: two graph reads of one key run, the others wait, and too many are refused', async () => {
  const line = new KeyedSemaphore();
  const begun: number[] = [];
  const looks = Array.from({ length: atOnce + waitingMax }, (_, no) => heldLook(begun, no));
  const answers = looks.map(({ work }) => line.run('a', work).catch(String));
  await expect(line.run('a', heldLook([], 99).work)).rejects.toMatchObject({ code: 'OVERLOADED' });
  // Another key has a line of its own.
  const other = heldLook([], 7);
  const otherAnswer = line.run('b', other.work);
  other.end();
  expect(await otherAnswer).toBe(7);
  for (const [no, look] of looks.entries()) {
    await turn();
    const expected = Math.min(looks.length, no + atOnce);
    expect(begun).toEqual(Array.from({ length: expected }, (_, at) => at));
    if (no % 3 === 0) look.fail();
    else look.end();
  }
  expect(await Promise.all(answers)).toEqual(
    looks.map((_, no) => (no % 3 === 0 ? `Error: look ${no}` : no)),
  );
  // The line is empty again: the next begins at once.
  const last = heldLook(begun, 100);
  const lastAnswer = line.run('a', last.work);
  expect(begun.at(-1)).toBe(100);
  last.end();
  expect(await lastAnswer).toBe(100);
});
