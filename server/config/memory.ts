// Computes the memory that this process may use: that of the machine, or the limit of a container (control
// group version 1 or 2). Derives the defaults that depend on memory, so that the kernel does not end a small
// container.
import { totalmem } from 'node:os';

const GiB = 2 ** 30;

/**
 * From this much memory on, the defaults of the schema apply. With less, they shrink in proportion.
 */
const fullBytes = 4 * GiB;
/** The smallest size that is supported and tested (server/docs/operate/performance.md). */
const minBytes = 512 * 2 ** 20;

/** Returns the bytes of memory that the process may use. */
export function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  // Without a limit the value is 0, or larger than any machine.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Bytes of the process apart from its data: code, threads, buffers of small requests. */
const ownBytes = 256 * 2 ** 20;

/** Returns the default maximum bytes of one vector index. */
export function indexBytes(memory: number): number {
  return Math.floor((memory < fullBytes ? Math.max(memory, minBytes) - ownBytes : memory) / 2);
}

/** Bytes of a reader thread, without those of its query. */
const readerBytes = 64 * 2 ** 20;

/** Returns the number of reader threads that fit into memory, at least 2. */
export const readersIn = (memory: number): number =>
  memory < fullBytes ? Math.max(2, Math.floor((memory - ownBytes) / readerBytes)) : 64;

/** Keys whose defaults shrink with memory: what all callers together, or one of them, may use. */
const following = [
  'limits.result_bytes',
  'limits.buffered_response_bytes',
  'limits.buffered_body_bytes',
  'limits.query_memory',
  'limits.session_memory',
  'limits.write_queue_bytes',
  'limits.txn_bytes',
  'server.worker_heap',
] as const;

/** Returns the default of a key with this much memory. */
export function defaultIn(memory: number, key: string, defaultValue: number): number {
  if (!following.some((one) => one === key) || memory >= fullBytes) return defaultValue;
  return Math.floor((defaultValue * Math.max(memory, minBytes)) / fullBytes);
}
