// How many files this process may open, and how many of them are connections. Node itself raises the soft limit
// to the hard one as it starts. Invariant: connections leave enough for what the server opens besides:
// threads, child processes, backups, calls to others.
import { readFileSync, readdirSync } from 'node:fs';
import { fail } from '../../engine/internal.js';

/** Open file descriptors of this process, where the system tells. */
export function openFiles(): number | undefined {
  try {
    // Reading the list takes a descriptor of its own.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}

/** How many it may open, where the system tells. */
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

/** The same where there is no /proc; slower, as it gathers all that Node knows. */
function ofReport(): number | undefined {
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft?: unknown } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}

/** An idle server of one thread has about 30 open; a backup, a child process and outgoing calls need more. */
const ownFiles = 64;
/** The event loop of a thread has four, and reads files of its own. */
const filesOfThread = 6;
/** Lock, data and the threads that a database has besides its readers. */
const filesOfDatabase = 24;
/** Where there are too few for all, so many may come all the same, up to a quarter. */
const fewest = 16;

/** Fails CONFIG_INVALID where a server could open its data, and then take no connection. */
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

/** How many connections there may be beside what the server needs, `wanted` at most. */
export function connectionsBelow(
  files: number | undefined,
  wanted: number,
  { threads, databases }: FileNeeds,
): number {
  if (files === undefined) return wanted;
  const own = ownFiles + filesOfThread * threads * databases + filesOfDatabase * (databases - 1);
  const least = Math.min(fewest, Math.floor(files / 4));
  return Math.min(wanted, Math.max(least, files - own));
}
