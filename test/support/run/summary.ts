// Runs around a whole test run: clears the results of the last run, and prints those of this one at the end.
// In a long run of several parts, the first part clears, and each part prints all results so far.
import { forgetProofs, readProofs } from '../proof.js';

export function setup(): void {
  if (process.env.TRELLIS_TEST_PART !== 'figures') forgetProofs();
}

export function teardown(): void {
  const proofs = readProofs();
  if (proofs.length === 0) return;
  process.stdout.write('\nReliability programme\n');
  for (const { id, what } of proofs) process.stdout.write(`  ${id.padEnd(4)} ${what}\n`);
}
