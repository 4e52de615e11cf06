// Loads the WebAssembly module: compiles it once per thread, and instantiates it once per segment and thread.
// The module has no data, no globals and no start code, so any number of instances may share one memory.
import { existsSync, readFileSync } from 'node:fs';
import { fail } from '../base/errors.js';

/** Functions of wasm/index.ts. Addresses are unsigned 32-bit numbers that may arrive negative. */
export interface Kernel {
  format(
    metric: number,
    layout: number,
    dimension: number,
    bytesMax: number,
    hard: number,
    beam: number,
    graphFrom: number,
  ): number;
  openScratch(): number;
  openMarks(): number;
  closeMarks(): void;
  closeScratch(scratch: number): void;
  freeScratch(): void;
  openAllow(scratch: number, words: number): number;
  prepare(scratch: number, unit: boolean): void;
  put(scratch: number, id: number): number;
  remove(id: number): number;
  takeSlot(): number;
  openBulk(): number;
  bulkStep(scratch: number): number;
  reserveId(id: number): number;
  setId(id: number, slot: number): void;
  beginQuery(scratch: number): void;
  clearQuery(scratch: number): void;
  addToQuery(scratch: number, slot: number, part: number): number;
  codeQuery(scratch: number): void;
  searchScan(scratch: number, k: number): number;
  searchGraph(scratch: number, k: number, ef: number, follow: boolean): number;
  searchAllowed(scratch: number, k: number, ef: number, minNodes: number, poolMax: number): number;
  searchFlat(scratch: number, k: number): number;
  searchList(scratch: number, k: number): number;
  searchExact(scratch: number, k: number): number;
  listSlots(scratch: number, from: number, to: number): number;
  maintain(scratch: number, budget: number): number;
  pageSum(at: number): number;
  parseFloats(length: number, room: number, head: number, fraction: number, origin: number): number;
  answerNoise(scratch: number, count: number): number;
  slotOf(id: number): number;
  nodeAt(slot: number): number;
}

/** Pages of 64 KiB: the limits of the module's memory. */
const pagesMin = 16;
const pagesMax = 65536;

let compiled: WebAssembly.Module | undefined;

/**
 * Reads the file from dist/wasm, next to the compiled program. When the sources run, it is below the project.
 */
function moduleBytes(): Uint8Array {
  const built = new URL('../../wasm/hnsw.wasm', import.meta.url);
  const source = new URL('../../dist/wasm/hnsw.wasm', import.meta.url);
  return readFileSync(existsSync(built) ? built : source);
}

/**
 * Creates a segment memory of at least `bytes` bytes. Fails CONFIG_INVALID if the address space is exhausted.
 */
export function createMemory(bytes = 0): WebAssembly.Memory {
  const initial = Math.max(pagesMin, Math.ceil(bytes / 65536));
  try {
    return new WebAssembly.Memory({ initial, maximum: pagesMax, shared: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // The address space is exhausted, not memory: each memory reserves its largest size with guard pages
    // around it.
    const what = 'There are no 10 GiB of addresses left for a vector index.';
    const hint = 'Lift the limit of address space (`ulimit -v unlimited`, LimitAS=infinity).';
    return fail('CONFIG_INVALID', { what }, { hint });
  }
}

export function instantiate(memory: WebAssembly.Memory): Kernel {
  compiled ??= new WebAssembly.Module(moduleBytes());
  return new WebAssembly.Instance(compiled, { env: { memory } }).exports as Kernel;
}
