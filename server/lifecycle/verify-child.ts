// Runs the deep check of the data in a child process, so that a crash of LMDB ends only the child.
import { spawnSync } from 'node:child_process';
import {
  type ErrorData,
  TrellisError,
  type Violation,
  toErrorData,
  fail,
  keepWorkingDirectory,
  refuseKilled,
  runChild,
} from '../../engine/internal.js';
import { programFile } from './program-file.js';

/** Exit codes of `trellis verify`. */
export const endCodes = { clean: 0, derived: 1, primary: 2 } as const;

export interface Report {
  directory: string;
  violations: Violation[];
}

/** Output of a child that could not run the check. */
export interface Ended {
  error: ErrorData;
}

const childOf = (directory: string, ...more: string[]): string[] => {
  return [programFile(), 'verify', directory, '--deep', '--in-process', '--json', ...more];
};

/** Checks data at rest in a child process, which damaged data may crash. */
export function verifyInChild(directory: string): Report {
  keepWorkingDirectory();
  const end = spawnSync(process.execPath, childOf(directory), {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  if (end.error !== undefined && end.pid === 0) notBegun(end.error);
  return reportOf(directory, end);
}

/** Fails if the system could not start the child: the data were not checked. */
function notBegun(error: unknown): never {
  throw new TrellisError(toErrorData(error).error);
}

/** Checks the data of this running server in a child process (`POST /_admin/verify`). */
export async function verifyRunning(
  directory: string,
): Promise<{ clean: boolean; violations: Violation[] }> {
  const child = runChild(process.execPath, childOf(directory, '--live'));
  const end = await child.catch((error: unknown) => notBegun(error));
  const { violations } = reportOf(directory, {
    ...end,
    stdout: end.stdout.toString(),
    stderr: end.stderr.toString(),
  });
  return { clean: violations.length === 0, violations };
}

interface ChildEnd {
  stdout: string;
  stderr: string;
  status: number | null;
  signal: NodeJS.Signals | null;
}

function reportOf(directory: string, { stdout, stderr, signal, status }: ChildEnd): Report {
  refuseKilled(signal);
  if (signal !== null) {
    const what = `reading the data ended the process by ${signal}: pages are damaged`;
    return { directory, violations: [{ invariant: 'I15', what }] };
  }
  const report = stdout === '' ? undefined : (JSON.parse(stdout) as Report | Ended);
  if (report && 'error' in report) throw new TrellisError(report.error);
  if (report && Object.values<unknown>(endCodes).includes(status)) return report;
  return fail('DATA_DIR_BAD', { what: stderr.trim().split('\n').at(-1) ?? 'verify failed' });
}
