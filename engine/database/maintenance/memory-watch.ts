// How much memory the process has of its own, against what it may have: reads that are not short, and writes, are
// turned away before the kernel ends the process. Pages of the data file do not count: the kernel takes them back.
import { readFileSync } from 'node:fs';

/** Of the bound; the rest is for what is under way. */
const share = 0.9;
/** A look takes some 20 us. */
const freshMs = 50;

/** Memory of this process that no file stands for; undefined where the system does not tell. */
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

  /** `most`: what the process may have; undefined: as much as there is. */
  constructor(
    private readonly most: number | undefined,
    private readonly read: () => number | undefined = ownBytes,
  ) {}

  /** Whether more should not be begun now. */
  get isShort(): boolean {
    if (this.most === undefined) return false;
    const now = performance.now();
    if (now - this.#at >= freshMs) {
      this.#at = now;
      this.#isShort = (this.read() ?? 0) > this.most * share;
    }
    return this.#isShort;
  }
}
