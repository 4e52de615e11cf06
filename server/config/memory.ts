// The memory that this process may use: that of the machine, or less where a container (a control group, version 1 or
// 2) is given less. And the defaults that follow it, so that the kernel does not end a small container.
import { totalmem } from 'node:os';

const GiB = 2 ** 30;

/** Where there is so much, defaults are those of the schema; with less, they shrink in proportion. */
const fullBytes = 4 * GiB;
/** The smallest size that is supported and tested (server/docs/operate/performance.md). */
const leastBytes = 512 * 2 ** 20;

/** Bytes by which memory is bounded. */
export function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  // Without a bound it is 0, or more than any machine has.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Of the process beside its data: code, threads, buffers of small requests. */
const ownBytes = 256 * 2 ** 20;

/** The most that one vector index takes, unless it is configured. */
export function indexBytes(memory: number): number {
  return Math.floor((memory < fullBytes ? Math.max(memory, leastBytes) - ownBytes : memory) / 2);
}

/** Of a reader thread, without what a query takes there. */
const readerBytes = 64 * 2 ** 20;

/** How many reader threads there is memory for, beside the least of 2. */
export const readersIn = (memory: number): number =>
  memory < fullBytes ? Math.max(2, Math.floor((memory - ownBytes) / readerBytes)) : 64;

/** What many callers may take together, or one of them at once. */
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

/** The default of a key in so much memory, where its default follows it. */
export function defaultIn(memory: number, key: string, standard: number): number {
  if (!following.some((one) => one === key) || memory >= fullBytes) return standard;
  return Math.floor((standard * Math.max(memory, leastBytes)) / fullBytes);
}
