// Checks the address space of the process (`ulimit -v`, LimitAS). The data file is mapped with space to grow,
// and every vector index reserves the largest size of its WebAssembly memory. Both take addresses, not
// memory. LMDB would end the process with a signal if there were too few.
import { readFileSync } from 'node:fs';
import { fail } from '../../base/errors.js';

/** Bytes that the data file may grow to without being mapped again. */
export const mapBytes = 2 ** 36;
/** Bytes for the process itself and one vector index. */
const otherBytes = 16 * 2 ** 30;

/** Returns the limit in bytes; infinite if there is none or it cannot be read. */
function addressLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    const soft = /^Max address space\s+(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Fails CONFIG_INVALID if the address space is too small for the map of the data file and `otherBytes`. */
export function checkAddressSpace(): void {
  const limit = addressLimit();
  const needed = mapBytes + otherBytes;
  if (limit >= needed) return;
  const gibibytes = (bytes: number): string => (bytes / 2 ** 30).toFixed(0);
  const what = `This process may use ${gibibytes(limit)} GiB of addresses; it reserves ${gibibytes(needed)}.`;
  const hint =
    'Lift the limit of address space (`ulimit -v unlimited`, LimitAS=infinity); ' +
    'memory itself is limited by a cgroup (MemoryMax=) and `vectors.memory_bytes`.';
  fail('CONFIG_INVALID', { what }, { hint });
}
