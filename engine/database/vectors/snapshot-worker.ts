// Entry point of the threads that make a snapshot or help to read one.
import { parentPort, workerData } from 'node:worker_threads';
import { type PageShare, readShare } from '../../vector/parallel-load.js';
import { makeSnapshot, type SnapshotTask } from './snapshot-thread.js';

const task = workerData as SnapshotTask | PageShare;
if ('runs' in task) readShare(task);
else parentPort!.postMessage(makeSnapshot(task));
