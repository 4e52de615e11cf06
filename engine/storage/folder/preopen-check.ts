// Checks a data file before or during its use (operations.md 4, row 6). A small file is checked on this
// thread, a larger one in a child process, so that this process can continue.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ErrorData, TrellisError, excerpt, fail, throwShortage } from '../../base/errors.js';
import { refuseKilled, runChild } from '../../system/child.js';
import { type CheckOptions, type DataErrors, checkData } from '../page/file-check.js';

/**
 * Reading this many bytes, or comparing them with their page checksums, is faster than starting a child
 * process.
 */
const hereBytes = { read: 2 ** 24, compared: 2 ** 26 };

export interface ProbeOptions extends CheckOptions {
  /** The file is a copy, so the check runs at low priority. */
  isCopy?: boolean;
}

/** Returns the faults of the data file in the folder `graph`. `stop` kills the child process. */
export async function probeData(
  graph: string,
  options: ProbeOptions = {},
  stop?: AbortSignal,
): Promise<DataErrors> {
  const path = join(graph, 'data.mdb');
  const bytesMax = options.sums === undefined ? hereBytes.read : hereBytes.compared;
  if (statSync(path).size <= bytesMax) return checkData(path, options);
  const script = fileURLToPath(new URL('./preopen-check-child.js', import.meta.url));
  const { sums = new Uint32Array(0), meta, isCopy } = options;
  const { status, signal, stdout, stderr } = await runChild(process.execPath, [script, path], {
    input: [
      `${JSON.stringify({ meta, isCopy })}\n`,
      new Uint8Array(sums.buffer, sums.byteOffset, sums.byteLength),
    ],
    ...(stop && { signal: stop, killSignal: 'SIGKILL' }),
  }).catch(failToStart);
  refuseKilled(signal);
  if (status !== 0) refuseUnread(signal ?? `exit ${status}: ${reasonIn(stderr)}`);
  const reply = JSON.parse(stdout.toString()) as DataErrors | { shortage: ErrorData };
  if ('shortage' in reply) throw new TrellisError(reply.shortage);
  return reply;
}

/** Returns the line that names the error in the output of a process that an exception has ended. */
function reasonIn(stderr: Buffer): string {
  const lines = stderr.toString().split('\n');
  return excerpt(lines.find((line) => /^\w*Error\b/.test(line)) ?? lines[0] ?? '');
}

function refuseUnread(end: string): never {
  return fail('DATA_CORRUPT', { what: `data.mdb cannot be read (${end})` });
}

/** A shortage of processes does not mean that the data are damaged. */
function failToStart(error: Error): never {
  throwShortage(error);
  return refuseUnread(error.message);
}

/** Fails DATA_CORRUPT if reads could miss data. */
export function failIfDamaged({ broken }: DataErrors): void {
  if (broken.length === 0) return;
  const more = broken.length > 1 ? `, and ${broken.length - 1} more faults` : '';
  fail('DATA_CORRUPT', { what: `data.mdb, ${broken[0]}${more}` }, { hint: repairHint });
}

const repairHint =
  'Restore a backup, or see what is left: `trellis verify --deep`. What rows can tell is made anew by ' +
  '`trellis verify --repair-derived`; `trellis verify --salvage OUT` writes the rows to a file.';
