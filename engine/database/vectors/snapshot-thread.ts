// Makes one snapshot on its own thread: attaches the index, writes its memory image while the writer
// continues, reports and ends. An unfinished snapshot is a `.tmp` file, which the next start deletes. Also
// starts the threads that help to read a large snapshot at a start (vector/parallel-load.ts).
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { DefectError } from '../../base/assert.js';
import { armFailpoint } from '../../base/failpoint.js';
import type { IndexHandle } from '../../vector/index.js';
import { startFailure, startThread } from '../../system/thread.js';
import { attachVectorIndex } from '../../vector/shared-index.js';
import type { PageShare } from '../../vector/parallel-load.js';
import { publishSnapshot, type SnapshotWritten, writeSnapshotFile } from '../../vector/snapshot.js';
import { snapshotLatchOf } from './snapshot-latch.js';

export interface SnapshotTask {
  handle: IndexHandle;
  folder: string;
  dbUuid: string;
  typeId: number;
  latch: SharedArrayBuffer;
  failpoint?: string;
}

/** Undefined when the index got another segment meanwhile. */
export type SnapshotReport = (SnapshotWritten & { file: string }) | undefined;

export const snapshotName = (type: string, seq: number): string => `${type}.${seq}.snap`;

const entry = new URL('./snapshot-worker.js', import.meta.url);

/** Maximum helpers besides the waiting thread. More would wait for the kernel. */
const helpersMax = 3;

/** Large snapshots are read in parallel, with one thread for each remaining processor. */
export const helperThreads = { fromPages: 2 ** 16, start: startHelpers };

function startHelpers(share: PageShare): void {
  const helpers = Math.min(helpersMax, availableParallelism() - 1);
  for (let i = 0; i < helpers; i++) {
    try {
      const worker = startThread(entry, { workerData: share });
      // The waiting thread sees failures. A helper that never started needs no handling.
      worker.on('error', () => undefined);
      worker.unref();
    } catch {
      return; // The system provides no thread: the waiting thread reads alone.
    }
  }
}

/** Makes a snapshot on a separate thread. */
export function startSnapshot(task: SnapshotTask): {
  worker: Worker;
  report: Promise<SnapshotReport>;
} {
  const worker = startThread(entry, { workerData: task });
  const report = new Promise<SnapshotReport>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', (error) => reject(startFailure(error)));
    worker.once('exit', () => reject(new DefectError('the snapshot thread ended early')));
  });
  return { worker, report };
}

/** Runs on that thread. */
export function makeSnapshot(task: SnapshotTask): SnapshotReport {
  armFailpoint(task.failpoint);
  const index = attachVectorIndex(task.handle);
  const temporary = join(task.folder, `${task.handle.name}.tmp`);
  const written = writeSnapshotFile(index, temporary, task, snapshotLatchOf(task.latch));
  if (written === undefined) return undefined;
  const file = snapshotName(task.handle.name, written.seq);
  publishSnapshot(temporary, join(task.folder, file));
  return { ...written, file };
}
