// Reads answers of providers: short ones where they are, sooner than a thread hears of them; long ones in a thread,
// so that others are answered meanwhile. Invariant: a body that needs more time or memory than there is ends the
// thread's task, and nothing else.
import { errorOf, fail } from '../base/errors.js';
import { TaskThread } from '../system/task-thread.js';
import type { BodyTask } from './answer-body.js';
import { vectorsIn } from './answer-body.js';
import type { BodyReport } from './answer-task.js';

/** Bytes of an answer that take a few milliseconds. */
const shortBytes = 256 * 1024;
const idleMs = 10_000;
const heapMb = 1024;

/** One for the whole process. */
let reader: TaskThread | undefined;

/** Fails EMBEDDING_FAILED, EMBEDDING_TIMEOUT, RESOURCE_EXHAUSTED. */
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
  if ('error' in report) throw errorOf(report.error, report.stack);
  return report.vectors;
}
