// The child process of preopen-check.ts. Reads the data file named on its command line, with the options from
// its standard input. Runs at low priority, or on several threads for a large file that a start waits for.
import { statSync, writeSync } from 'node:fs';
import { availableParallelism, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { DefectError } from '../../base/assert.js';
import { type ErrorData, toShortageData } from '../../base/errors.js';
import { readStandardInput } from '../../system/standard-input.js';
import { startThread } from '../../system/thread.js';
import {
  type CheckPart,
  type DataErrors,
  checkData,
  checkPart,
  joinParts,
} from '../page/file-check.js';
import type { ProbeOptions } from './preopen-check.js';
import type { Share } from '../page/btree-walk.js';

/** Bytes that one thread reads in the time that starting another one takes. */
const threadBytes = 2 ** 26;
const threadsMax = 8;

interface Work {
  path: string;
  share: Share;
}

async function checkFile(path: string): Promise<void> {
  // One line of JSON, then the checksums as they are in memory. The copy aligns them to words.
  const input = readStandardInput();
  const end = input.indexOf(10) + 1;
  const line = JSON.parse(input.toString('utf8', 0, end)) as Pick<ProbeOptions, 'meta' | 'isCopy'>;
  const { meta, isCopy } = line;
  const sums =
    end < input.length ? new Uint32Array(new Uint8Array(input.subarray(end)).buffer) : undefined;
  // Threads that start later inherit the priority.
  if (meta !== undefined || isCopy) setPriority(10);
  const isAwaited = meta === undefined && sums === undefined;
  const threads = isAwaited ? threadsFor(statSync(path).size) : 1;
  const errors = threads > 1 ? await readInShares(path, threads) : checkData(path, { meta, sums });
  print(errors);
}

function print(reply: DataErrors | { shortage: ErrorData }): void {
  const bytes = Buffer.from(JSON.stringify(reply));
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}

/** A shortage of system resources does not mean that the data are damaged. */
function printShortage(error: unknown): void {
  const shortage = toShortageData(error);
  if (shortage === undefined) throw error;
  print({ shortage });
}

const threadsFor = (bytes: number): number =>
  Math.min(availableParallelism(), threadsMax, Math.ceil(bytes / threadBytes));

/** Reads the file in equal parts, one on this thread and the others on threads of their own. */
async function readInShares(path: string, of: number): Promise<ReturnType<typeof joinParts>> {
  const others = Array.from({ length: of - 1 }, (_, i) => {
    const work: Work = { path, share: { index: i + 1, of } };
    return new Promise<CheckPart>((resolve, reject) => {
      const worker = startThread(fileURLToPath(import.meta.url), { workerData: work });
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new DefectError('a thread that reads has ended')));
      // If the system has no thread left, this thread reads the share.
    }).catch(() => checkPart(path, work.share));
  });
  const own = checkPart(path, { index: 0, of });
  return joinParts([own, ...(await Promise.all(others))]);
}

if (isMainThread) await checkFile(process.argv[2]!).catch(printShortage);
else {
  const { path, share } = workerData as Work;
  parentPort!.postMessage(checkPart(path, share));
}
