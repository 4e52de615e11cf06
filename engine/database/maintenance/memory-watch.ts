// Compares the private memory of the process with its limit. Near the limit, writes and long reads are
// refused before the kernel kills the process. Pages of the data file do not count, because the kernel
// reclaims them.
import { readFileSync } from 'node:fs';

/** Share of the limit. The rest is for running work. */
const maxShare = 0.9;
/** Milliseconds for which a measurement is valid. It takes about 20 us. */
const freshMs = 50;

/**
 * Returns the bytes of this process that no file backs, or undefined where the system does not report them.
 */
function ownBytes(): number | undefined {
  try {
    const kibibytes = /^RssAnon:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

export class MemoryWatch {
  #at = Number.NEGATIVE_INFINITY;
  #isShort = false;

  /** `max` is the limit in bytes. Undefined: the memory of the machine. */
  constructor(
    private readonly max: number | undefined,
    private readonly read: () => number | undefined = ownBytes,
  ) {}

  /** True if no more work should begin now. */
  get isShort(): boolean {
    if (this.max === undefined) return false;
    const now = performance.now();
    if (now - this.#at >= freshMs) {
      this.#at = now;
      this.#isShort = (this.read() ?? 0) > this.max * maxShare;
    }
    return this.#isShort;
  }
}
