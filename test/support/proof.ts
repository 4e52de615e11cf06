// Results of the reliability tests (T1 to T25), with counts. Each test records a line when it has passed, and
// the run prints all lines at its end (test/support/run/summary.ts).
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './project.js';

const folder = join(root, 'dist/test');
const path = join(folder, 'proofs.ndjson');

interface Proof {
  id: string;
  what: string;
}

/** Notes what test `id` has shown. */
export function noteProof(id: `T${number}`, what: string): void {
  mkdirSync(folder, { recursive: true });
  appendFileSync(path, `${JSON.stringify({ id, what } satisfies Proof)}\n`);
}

/** What was shown in this run, by number of the test. */
export function readProofs(): Proof[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  const order = ({ id }: Proof): number => Number(id.slice(1));
  return lines.map((line) => JSON.parse(line) as Proof).sort((a, b) => order(a) - order(b));
}

export function forgetProofs(): void {
  rmSync(path, { force: true });
}
