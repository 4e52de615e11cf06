// Computes how many files this process may open, and how many of them may be connections. Node itself raises
// the soft limit to the hard limit when it starts. Invariant: connections leave enough for the other files of
// the server: threads, child processes, backups, outgoing calls.
import { readFileSync, readdirSync } from 'node:fs';
import { fail } from '../../engine/internal.js';

/** Returns the number of open file descriptors, or undefined if the system does not report it. */
export function openFiles(): number | undefined {
  try {
    // Reading the list uses one descriptor itself.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}

/** Returns the maximum number of open files, or undefined if the system does not report it. */
export function openFilesMax(): number | undefined {
  try {
    return softLimit(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return ofReport();
  }
}

function softLimit(limits: string): number | undefined {
  const soft = /^Max open files +(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? undefined : Number(soft);
}

/** Returns the limit without /proc. Slower, because Node collects a whole report. */
function ofReport(): number | undefined {
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft?: unknown } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}

/**
 * Files of the server itself: an idle server with one thread has about 30 open. A backup, a child process and
 * outgoing calls need more.
 */
const ownFiles = 64;
/** The event loop of a thread has four descriptors, and the thread opens files itself. */
const filesOfThread = 6;
/** Files of a database: the lock, the data, and the threads apart from its readers. */
const filesOfDatabase = 24;
/** Minimum number of connections if there are too few files, but at most a quarter of the files. */
const fewest = 16;

/** Fails CONFIG_INVALID if a server could open its data but take no connection. */
export function checkOpenFiles(): void {
  const files = openFilesMax();
  if (files === undefined || files >= ownFiles) return;
  const what = `This process may open ${files} files; a server needs ${ownFiles} at least.`;
  fail('CONFIG_INVALID', { what }, { hint: 'Raise the limit (`ulimit -n`, LimitNOFILE=).' });
}

export interface FileNeeds {
  /** Threads of one database. */
  threads: number;
  databases: number;
}

/** Returns the number of connections that fit next to what the server needs, at most `wanted`. */
export function connectionsBelow(
  files: number | undefined,
  wanted: number,
  { threads, databases }: FileNeeds,
): number {
  if (files === undefined) return wanted;
  const own = ownFiles + filesOfThread * threads * databases + filesOfDatabase * (databases - 1);
  const min = Math.min(fewest, Math.floor(files / 4));
  return Math.min(wanted, Math.max(min, files - own));
}
