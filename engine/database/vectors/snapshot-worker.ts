// Entry of the thread that makes one snapshot.
import { parentPort, workerData } from 'node:worker_threads';
import { makeSnapshot, type SnapshotTask } from './snapshot-thread.js';

parentPort!.postMessage(makeSnapshot(workerData as SnapshotTask));
