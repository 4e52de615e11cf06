// Child processes whose output is wanted, and what keeps one from beginning. Node tells of some causes by a
// throw and of others by an event, without pipes then; whoever waits here hears of all in one way.
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
  /** What it reads, piece by piece. */
  input?: readonly (string | Uint8Array)[];
}

/** Runs a program to its end. Rejects where it cannot begin, and when `signal` ends it. */
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

/** Damage ends a child by other signals: this one comes from outside, as from a system without memory. */
export function refuseKilled(signal: NodeJS.Signals | null): void {
  const what = 'a child process was killed, as happens where memory is short (SIGKILL)';
  if (signal === 'SIGKILL') fail('RESOURCE_EXHAUSTED', { what });
}

/** Of a child that did not begin there is no pipe. */
function collect(stream: ChildProcess['stdout']): Buffer[] {
  const pieces: Buffer[] = [];
  stream?.on('data', (piece: Buffer) => pieces.push(piece));
  return pieces;
}

function feed({ stdin }: ChildProcess, input: readonly (string | Uint8Array)[]): void {
  // One that has ended takes nothing more: its end says why.
  stdin?.on('error', () => undefined);
  for (const piece of input) stdin?.write(piece);
  stdin?.end();
}
