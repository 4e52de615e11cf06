// Parses responses of providers. Short ones are parsed on the calling thread, which is faster than a message
// to another thread. Long ones are parsed on a separate thread, so that the calling thread stays responsive.
// Invariant: a body that needs more time or memory than available ends the task of that thread, and nothing
// else.
import { restoreError, fail } from '../base/errors.js';
import { TaskThread } from '../system/task-thread.js';
import type { BodyTask } from './answer-body.js';
import { vectorsIn } from './answer-body.js';
import type { BodyReport } from './answer-task.js';

/** Bytes of a response that parse in a few milliseconds. */
const shortBytes = 256 * 1024;
const idleMs = 10_000;
const heapMb = 1024;

/** One reader thread per process. */
let reader: TaskThread | undefined;

/** Returns the vectors of a response. Fails EMBEDDING_FAILED, EMBEDDING_TIMEOUT, RESOURCE_EXHAUSTED. */
export async function readVectors(task: BodyTask, deadline: number): Promise<Float64Array[]> {
  const { provider, body } = task;
  if (body.length <= shortBytes) return vectorsIn(task);
  const entry = new URL('./answer-thread.cjs', import.meta.url).href;
  reader ??= new TaskThread({ entry, idleMs, heapMb });
  const ms = Math.max(1, Math.ceil(deadline - performance.now()));
  const options = { transferList: [body.buffer], signal: AbortSignal.timeout(ms) };
  const report = await reader.run<BodyReport>(task, options).catch((error: unknown) => {
    const { name, code } = error as { name?: string; code?: unknown };
    if (name === 'AbortError') fail('EMBEDDING_TIMEOUT', { provider, ms });
    const detail = 'the answer takes more memory than any may';
    if (code === 'ERR_WORKER_OUT_OF_MEMORY')
      fail('EMBEDDING_FAILED', { provider, status: 200, detail });
    throw error;
  });
  if ('error' in report) throw restoreError(report.error, report.stack);
  return report.vectors;
}
