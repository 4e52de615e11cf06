// Recognizes errors in which the operating system refuses a resource: open files, threads,
// processes, memory. Such an error is neither a defect nor damage. It is temporary, so the caller
// may retry.

export interface Shortage {
  /** The missing resource, with the system's name of the error. */
  what: string;
  hint: string;
}

const files = 'Raise the limit of open files (`ulimit -n`, LimitNOFILE=), or close connections.';
const memory = 'Give the process more memory, or ask for less at a time.';
const threads = 'Raise the limit of threads and processes (`ulimit -u`, TasksMax=, pids.max).';

const shortages: Record<string, Shortage> = {
  EMFILE: { what: 'this process may open no more files (EMFILE)', hint: files },
  ENFILE: { what: 'this machine may open no more files (ENFILE)', hint: files },
  EAGAIN: { what: 'no more threads or processes may be started (EAGAIN)', hint: threads },
  ENOMEM: { what: 'there is no more memory (ENOMEM)', hint: memory },
};

/**
 * LMDB returns numbers of errors. They are equal on all systems except EAGAIN, which LMDB never
 * returns.
 */
const numbers = new Map([
  [24, 'EMFILE'],
  [23, 'ENFILE'],
  [12, 'ENOMEM'],
]);

/** An error from another thread has lost its code, but its message begins with the code. */
const inText = /^(?:Worker initialization failure: )?(EMFILE|ENFILE|EAGAIN|ENOMEM)\b/;
const ofMemory = /\b(?:[aA]llocation failed|could not allocate memory|[oO]ut of memory)\b/;

function findErrno(error: Error): string | undefined {
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (code === 'ERR_MEMORY_ALLOCATION_FAILED') return 'ENOMEM';
  const errno =
    typeof code === 'number' ? numbers.get(code) : (inText.exec(error.message)?.[1] ?? code);
  // A stream that is not ready also returns EAGAIN. That is not a shortage.
  if (errno === 'EAGAIN') return /^(?:write|read)/.test(String(syscall)) ? undefined : errno;
  if (typeof errno === 'string' && Object.hasOwn(shortages, errno)) return errno;
  return error instanceof RangeError && ofMemory.test(error.message) ? 'ENOMEM' : undefined;
}

/** Returns the resource that an error names as missing, or undefined for any other error. */
export function findShortage(error: unknown): Shortage | undefined {
  const errno = error instanceof Error ? findErrno(error) : undefined;
  return errno === undefined ? undefined : shortages[errno];
}
