// Reads a data file before, or beside, its use (operations.md 4, row 6): a small one here, a larger one
// in a child process, so that this one goes on meanwhile.
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fail } from '../../base/errors.js';
import { type CheckOptions, type DataFaults, checkData } from '../page/data-check.js';

/** A child process takes longer to begin than reading this much, or comparing it with the sums of its pages. */
const hereBytes = { read: 2 ** 24, compared: 2 ** 26 };

export interface ProbeOptions extends CheckOptions {
  /** A copy of what others go on with: they come first. */
  isCopy?: boolean;
}

/** What is wrong with the data file in the folder `graph`. `signal` ends the child. */
export async function probeData(
  graph: string,
  options: ProbeOptions = {},
  signal?: AbortSignal,
): Promise<DataFaults> {
  const path = join(graph, 'data.mdb');
  const most = options.sums === undefined ? hereBytes.read : hereBytes.compared;
  if (statSync(path).size <= most) return checkData(path, options);
  const script = fileURLToPath(new URL('./probe-child.js', import.meta.url));
  const child = spawn(process.execPath, [script, path], {
    stdio: ['pipe', 'pipe', 'ignore'],
    ...(signal && { signal, killSignal: 'SIGKILL' }),
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => output.push(data));
  child.stdin.on('error', () => undefined);
  const { sums = new Uint32Array(0), meta, isCopy } = options;
  child.stdin.write(`${JSON.stringify({ meta, isCopy })}\n`);
  child.stdin.end(new Uint8Array(sums.buffer, sums.byteOffset, sums.byteLength));
  const end = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(code === 0 ? undefined : (signal ?? `exit ${code}`)),
    );
  });
  if (end !== undefined) fail('DATA_CORRUPT', { what: `data.mdb cannot be read (${end})` });
  return JSON.parse(Buffer.concat(output).toString()) as DataFaults;
}

/** Fails DATA_CORRUPT when reads could miss what is there. */
export function refuseBroken({ broken }: DataFaults): void {
  if (broken.length === 0) return;
  const more = broken.length > 1 ? `, and ${broken.length - 1} more faults` : '';
  fail('DATA_CORRUPT', { what: `data.mdb, ${broken[0]}${more}` }, { hint: repairHint });
}

const repairHint =
  'Restore a backup, or see what is left: `trellis verify --deep`. What rows can tell is made anew by ' +
  '`trellis verify --repair-derived`; `trellis verify --salvage OUT` writes the rows to a file.';
