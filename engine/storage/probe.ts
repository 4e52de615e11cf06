// Reads a whole data file in a child process before this process maps it: page damage shows as a
// signal there, not here (operations.md 4, row 6).
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fail } from '../base/errors.js';

/** What the child found. */
export interface ProbeResult {
  entries: number;
  /** Values that fail their checksum; they answer DATA_CORRUPT when they are read. */
  damaged: string[];
}

/** Reads every entry of the environment in `path`. Fails DATA_CORRUPT when that is not possible. */
export async function probeData(path: string): Promise<ProbeResult> {
  const script = fileURLToPath(new URL('./probe-child.js', import.meta.url));
  const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'ignore'] });
  const output: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => output.push(data));
  const end = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(code === 0 ? undefined : (signal ?? `exit ${code}`)),
    );
  });
  if (end !== undefined) fail('DATA_CORRUPT', { what: `data.mdb cannot be read (${end})` });
  return JSON.parse(Buffer.concat(output).toString()) as ProbeResult;
}
