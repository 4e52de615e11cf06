// Around a whole run: forgets what the last one showed, and prints at the end what this one has.
import { forgetProofs, readProofs } from '../proof.js';

export const setup = forgetProofs;

export function teardown(): void {
  const proofs = readProofs();
  if (proofs.length === 0) return;
  process.stdout.write('\nReliability programme\n');
  for (const { id, what } of proofs) process.stdout.write(`  ${id.padEnd(4)} ${what}\n`);
}
