// The child process of preopen-check.ts: reads the data file named on its command line, as its standard input
// says, with no more haste than others leave; a large one before which a start waits, by several threads.
import { readFileSync, statSync, writeSync } from 'node:fs';
import { availableParallelism, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { DefectError } from '../../base/assert.js';
import { type ErrorData, shortageDataOf } from '../../base/errors.js';
import { startThread } from '../../system/thread.js';
import {
  type CheckPart,
  type DataFaults,
  checkData,
  checkPart,
  joinParts,
} from '../page/file-check.js';
import type { ProbeOptions } from './preopen-check.js';
import type { Share } from '../page/btree-walk.js';

/** One more thread begins in the time that it takes to read this much. */
const threadBytes = 2 ** 26;
const threadsMost = 8;

interface Work {
  path: string;
  share: Share;
}

async function answer(path: string): Promise<void> {
  // A line of JSON, then the sums as they are in memory: words begin where memory of their own does.
  const input = readFileSync(0);
  const end = input.indexOf(10) + 1;
  const line = JSON.parse(input.toString('utf8', 0, end)) as Pick<ProbeOptions, 'meta' | 'isCopy'>;
  const { meta, isCopy } = line;
  const sums =
    end < input.length ? new Uint32Array(new Uint8Array(input.subarray(end)).buffer) : undefined;
  // Threads that are started later have it, too.
  if (meta !== undefined || isCopy) setPriority(10);
  const isAwaited = meta === undefined && sums === undefined;
  const threads = isAwaited ? threadsFor(statSync(path).size) : 1;
  const faults = threads > 1 ? await together(path, threads) : checkData(path, { meta, sums });
  print(faults);
}

function print(told: DataFaults | { shortage: ErrorData }): void {
  const bytes = Buffer.from(JSON.stringify(told));
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}

/** What the system lacks says nothing of the data. */
function tellShortage(error: unknown): void {
  const shortage = shortageDataOf(error);
  if (shortage === undefined) throw error;
  print({ shortage });
}

const threadsFor = (bytes: number): number =>
  Math.min(availableParallelism(), threadsMost, Math.ceil(bytes / threadBytes));

/** This thread reads a share, too. */
async function together(path: string, of: number): Promise<ReturnType<typeof joinParts>> {
  const others = Array.from({ length: of - 1 }, (_, i) => {
    const work: Work = { path, share: { index: i + 1, of } };
    return new Promise<CheckPart>((resolve, reject) => {
      const worker = startThread(fileURLToPath(import.meta.url), { workerData: work });
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new DefectError('a thread that reads has ended')));
      // A thread that the system does not give leaves its share to this one.
    }).catch(() => checkPart(path, work.share));
  });
  const own = checkPart(path, { index: 0, of });
  return joinParts([own, ...(await Promise.all(others))]);
}

if (isMainThread) await answer(process.argv[2]!).catch(tellShortage);
else {
  const { path, share } = workerData as Work;
  parentPort!.postMessage(checkPart(path, share));
}
