// The arguments of the calls of a contender, in turn: which element call `n` asks for, and which age it writes.

/** The position that call `n` asks for, of so many: each in turn, far from the one before. */
export const turn = (n: number, count: number): number => (n * 7919) % count;

/**
 * Ages for updates, in turn. No person gets the age that it has: SQLite writes no page for an update that changes
 * nothing. 251 is a prime below 256, the end of `U8`.
 */
export function ageCounter(): () => number {
  let count = 0;
  return () => count++ % 251;
}
