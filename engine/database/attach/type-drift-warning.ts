// Compares the types of generated functions with the current program. If they differ, it prints one process
// warning and continues.
import { computeContract, type Contract } from '../../contract/contract-hash.js';
import type { Program } from '../../plan/program.js';

/** Returns which queries and types have changed since the types were generated. */
export type Changes = (inForce: Contract) => string[];

const namesMax = 10;

export function warnOfTypeDrift(
  changes: Changes,
  program: Pick<Program, 'schema' | 'queries'>,
): void {
  const names = changes(computeContract(program));
  if (names.length === 0) return;
  const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : '';
  const listed = `${names.slice(0, namesMax).join(', ')}${more}`;
  process.emitWarning(`The generated types are not those of the sources: ${listed}.`, {
    type: 'TrellisWarning',
    detail: 'Write them again with `trellis types`.',
  });
}
