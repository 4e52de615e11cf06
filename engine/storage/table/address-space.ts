// The addresses a process may use (`ulimit -v`, LimitAS). The data file is mapped with room to grow and
// every vector index reserves what a WebAssembly memory can become: addresses, not memory. Where there
// are too few, LMDB ends the process by a signal, so they are counted before it is asked.
import { readFileSync } from 'node:fs';
import { fail } from '../../base/errors.js';

/** What the data file may grow to without being mapped anew. */
export const mapBytes = 2 ** 36;
/** For the process itself and one vector index. */
const otherBytes = 16 * 2 ** 30;

/** The limit in bytes; infinite where there is none or it cannot be told. */
function addressLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    const soft = /^Max address space\s+(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Fails CONFIG_INVALID when the map of the data file and what comes beside it cannot be had. */
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
