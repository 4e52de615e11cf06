// Runs child processes and collects their output. Node reports some failures to start by a throw
// and others by an event, in which case the pipes are missing. `runChild` reports all of them as a
// rejection.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { fail } from '../base/errors.js';
import { keepWorkingDirectory } from './working-directory.js';

export interface ChildEnd {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: Buffer;
  stderr: Buffer;
}

export interface ChildWork extends Pick<SpawnOptions, 'signal' | 'killSignal'> {
  /** Chunks that are written to the standard input. */
  input?: readonly (string | Uint8Array)[];
}

/** Runs a program to its end. Rejects if the program cannot start, and when `signal` aborts it. */
export function runChild(
  program: string,
  args: readonly string[],
  { input = [], ...options }: ChildWork = {},
): Promise<ChildEnd> {
  return new Promise((resolve, reject) => {
    keepWorkingDirectory();
    const child = spawn(program, args, { stdio: 'pipe', ...options });
    child.once('error', reject);
    const output = { stdout: collect(child.stdout), stderr: collect(child.stderr) };
    child.once('close', (status, signal) => {
      const { stdout, stderr } = output;
      resolve({ status, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) });
    });
    feed(child, input);
  });
}

/**
 * Fails if the child was killed by SIGKILL. Damage ends a child by other signals; this one comes
 * from outside, for example from a system without memory.
 */
export function refuseKilled(signal: NodeJS.Signals | null): void {
  const what = 'a child process was killed, as happens where memory is short (SIGKILL)';
  if (signal === 'SIGKILL') fail('RESOURCE_EXHAUSTED', { what });
}

/** A child that did not start has no pipes. */
function collect(stream: ChildProcess['stdout']): Buffer[] {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return chunks;
}

function feed({ stdin }: ChildProcess, input: readonly (string | Uint8Array)[]): void {
  // A child that has ended accepts no more input. Its exit code reports the reason.
  stdin?.on('error', () => undefined);
  for (const chunk of input) stdin?.write(chunk);
  stdin?.end();
}
