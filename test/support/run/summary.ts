// Around a whole run: forgets what the last one showed, and prints at the end what this one has. Of the
// parts of a long run the first forgets, and each prints what was shown up to then.
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
