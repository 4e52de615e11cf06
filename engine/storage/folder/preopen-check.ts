// Reads a data file before, or beside, its use (operations.md 4, row 6): a small one here, a larger one
// in a child process, so that this one goes on meanwhile.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ErrorData, TrellisError, fail, throwShortage } from '../../base/errors.js';
import { refuseKilled, runChild } from '../../system/child.js';
import { type CheckOptions, type DataFaults, checkData } from '../page/file-check.js';

/** A child process takes longer to begin than reading this much, or comparing it with the sums of its pages. */
const hereBytes = { read: 2 ** 24, compared: 2 ** 26 };

export interface ProbeOptions extends CheckOptions {
  /** A copy of what others go on with: they come first. */
  isCopy?: boolean;
}

/** What is wrong with the data file in the folder `graph`. `stop` ends the child. */
export async function probeData(
  graph: string,
  options: ProbeOptions = {},
  stop?: AbortSignal,
): Promise<DataFaults> {
  const path = join(graph, 'data.mdb');
  const most = options.sums === undefined ? hereBytes.read : hereBytes.compared;
  if (statSync(path).size <= most) return checkData(path, options);
  const script = fileURLToPath(new URL('./preopen-check-child.js', import.meta.url));
  const { sums = new Uint32Array(0), meta, isCopy } = options;
  const { status, signal, stdout } = await runChild(process.execPath, [script, path], {
    input: [
      `${JSON.stringify({ meta, isCopy })}\n`,
      new Uint8Array(sums.buffer, sums.byteOffset, sums.byteLength),
    ],
    ...(stop && { signal: stop, killSignal: 'SIGKILL' }),
  }).catch(cannotLook);
  refuseKilled(signal);
  if (status !== 0) refuseUnread(signal ?? `exit ${status}`);
  const told = JSON.parse(stdout.toString()) as DataFaults | { shortage: ErrorData };
  if ('shortage' in told) throw new TrellisError(told.shortage);
  return told;
}

function refuseUnread(end: string): never {
  return fail('DATA_CORRUPT', { what: `data.mdb cannot be read (${end})` });
}

/** A child that the system does not give says nothing of the data. */
function cannotLook(error: Error): never {
  throwShortage(error);
  return refuseUnread(error.message);
}

/** Fails DATA_CORRUPT when reads could miss what is there. */
export function failIfDamaged({ broken }: DataFaults): void {
  if (broken.length === 0) return;
  const more = broken.length > 1 ? `, and ${broken.length - 1} more faults` : '';
  fail('DATA_CORRUPT', { what: `data.mdb, ${broken[0]}${more}` }, { hint: repairHint });
}

const repairHint =
  'Restore a backup, or see what is left: `trellis verify --deep`. What rows can tell is made anew by ' +
  '`trellis verify --repair-derived`; `trellis verify --salvage OUT` writes the rows to a file.';
