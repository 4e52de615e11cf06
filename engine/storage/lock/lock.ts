// The exclusive lock of a data directory: one process at a time, released the moment that the process ends.
//
// Node has no flock. But a lock of flock(2) belongs to the open file, which a child process shares. So the
// program `flock` takes the lock on the descriptor of LOCK that it inherits, and this process keeps it. The
// kernel enforces it across all pid, network, mount and user namespaces, and releases it however the holder
// ends, kill -9 included. A zombie or a copied directory holds none.
//
// LMDB's own lock would need no helper program. But two processes with one pid in two pid namespaces, such as
// the first processes of two containers, make lmdb-js wait ten seconds. It then throws from a timer.
//
// In addition, and on systems without that program, the process binds a name that only one process can have.
// It is a listening socket in the abstract name space, or a named pipe.
//
// The kernel cannot check a former holder if another kernel shares the file system. Without `flock`, it
// cannot check one in another pid namespace either. LOCK is then watched: a holder changes its counter every
// second. Time is monotonic and local to this process, so changes of the clock do not matter. A holder that
// was only suspended finds another nonce in LOCK and commits nothing more (write-fence.ts).
//
// Invariant: after `takeLock` returns in one process, it returns in no other until `release`.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, statSync, statfsSync } from 'node:fs';
import { type Server, createServer } from 'node:net';
import { join } from 'node:path';
import { fail } from '../../base/errors.js';
import { findShortage } from '../../base/os/shortage.js';
import {
  LockFile,
  type LockToken,
  type StoredOwner,
  type Owner,
  describeSelf,
  isHeld,
  isRunning,
  readOwner,
} from './lock-file.js';

export interface Lock {
  readonly token: LockToken;
  /** Writes the port, for people who read the file. */
  setPort(port: number): void;
  /** Calls back once, when another process has taken the directory. */
  onLost(listener: () => void): void;
  release(): void;
}

const beatMs = 1000;
/** Milliseconds without a beat after which a holder counts as dead. */
const beatTimeoutMs = 5000;
const pollMs = 200;

/** File systems that only one kernel uses at a time (statfs types of Linux). */
const localTypes = new Set([
  0xef53, // ext2 to ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);

/** Binds the kernel's name for the directory; returns undefined if another process has it. */
function bindName(directory: string): Server | 'unsupported' | undefined {
  const { dev, ino } = statSync(directory);
  const name = `trellisdb.${dev}.${ino}`;
  const names: Partial<Record<NodeJS.Platform, string>> = {
    linux: `\0${name}`,
    win32: `\\\\.\\pipe\\${name}`,
  };
  const path = names[process.platform];
  if (path === undefined) return 'unsupported';
  const server = createServer((socket) => socket.destroy());
  // The error arrives one turn later; whether the name was granted is known immediately.
  server.on('error', () => undefined);
  server.listen({ path, exclusive: true });
  server.unref();
  return server.listening ? server : undefined;
}

/** Takes the kernel's lock on an open file, for as long as it is open. */
function lockFile(descriptor: number): 'granted' | 'taken' | 'unsupported' {
  if (process.platform === 'win32') return 'unsupported';
  const stdio = ['ignore', 'ignore', 'ignore', descriptor] as const;
  const { status, error } = spawnSync('flock', ['-x', '-n', '3'], { stdio: [...stdio] });
  // The program exists but cannot run now. Do not continue as if it did not exist.
  if (findShortage(error) !== undefined) throw error!;
  return status === 0 ? 'granted' : status === 1 ? 'taken' : 'unsupported';
}

/**
 * Decides whether the process that LOCK names still holds the directory, after the kernel's own lock was
 * granted.
 */
function assessHolder(
  former: StoredOwner | undefined,
  own: Omit<Owner, 'nonce'>,
  directory: string,
): 'gone' | 'alive' | 'unknown' {
  if (former === undefined) return 'gone';
  const isHere = former.boot === own.boot;
  if (!isHere) return localTypes.has(statfsSync(directory).type) ? 'gone' : 'unknown';
  if (former.held_by === 'flock' && own.held_by === 'flock') return 'gone';
  if (former.inode !== own.inode) return 'gone';
  if (former.pid_namespace !== own.pid_namespace) return 'unknown';
  if (former.pid === own.pid && former.start === own.start) return 'gone';
  return isRunning(former) ? 'alive' : 'gone';
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));
const sleep = (ms: number): void => void Atomics.wait(sleeper, 0, 0, ms);

/** Waits until the holder shows a beat or the time for one has passed. */
function isBeating(path: string, former: StoredOwner): boolean {
  const until = performance.now() + beatTimeoutMs;
  while (performance.now() < until) {
    sleep(pollMs);
    const now = readOwner(path);
    if (now?.nonce !== former.nonce || now.beat !== former.beat) return now !== undefined;
  }
  return false;
}

function refuse(former: StoredOwner | undefined, self: ReturnType<typeof describeSelf>): never {
  if (former === undefined) fail('DATA_LOCKED', { what: 'another process' });
  const isOtherNamespace = former.pid_namespace !== self.pid_namespace;
  if (!isOtherNamespace && former.pid === self.pid && former.start === self.start) {
    const hint = 'Use the database that is open, or close it first.';
    fail('DATA_LOCKED', { what: 'this process has it open already' }, { hint });
  }
  const where = isOtherNamespace ? ' of another pid namespace, such as a container,' : '';
  return fail('DATA_LOCKED', { what: `process ${former.pid}${where} holds it` });
}

/** Throws if the process has no free descriptor, because the name would then seem to be taken. */
function checkDescriptors(directory: string): void {
  const spare: number[] = [];
  try {
    for (let i = 0; i < 2; i++) spare.push(openSync(directory, 'r'));
  } finally {
    for (const one of spare) closeSync(one);
  }
}

/** Takes the lock of a data directory. Fails DATA_LOCKED. */
export function takeLock(directory: string): Lock {
  checkDescriptors(directory);
  const path = join(directory, 'LOCK');
  const self = describeSelf();
  const former = readOwner(path);
  const bound = bindName(directory);
  if (bound === undefined) refuse(former, self);
  const server = bound === 'unsupported' ? undefined : bound;
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const closeFiles = (): void => {
    closeSync(descriptor);
    server?.close();
  };
  try {
    const file = new LockFile(path, descriptor);
    return hold(file, claim(file, self, directory), closeFiles);
  } catch (error) {
    closeFiles();
    throw error;
  }
}

/** Makes this process the holder that the file names. */
function claim(
  file: LockFile,
  self: ReturnType<typeof describeSelf>,
  directory: string,
): LockToken {
  const { path, descriptor, identity } = file;
  const grant = lockFile(descriptor);
  const former = readOwner(path);
  const own = {
    ...self,
    inode: identity.inode,
    held_by: grant === 'granted' ? 'flock' : 'name',
  } as const;
  const state = grant === 'taken' ? 'alive' : assessHolder(former, own, directory);
  const isWatched = former !== undefined && state === 'unknown';
  if (state === 'alive' || (isWatched && isBeating(path, former))) {
    refuse(former, self);
  }
  const token = { path, nonce: randomUUID(), descriptor, ...identity };
  file.claim({ nonce: token.nonce, ...own });
  if (isWatched) {
    // Another process may have watched the same holder: the last one to write holds the lock.
    sleep(pollMs);
    if (!isHeld(token)) refuse(readOwner(path), self);
  }
  return token;
}

function hold(file: LockFile, token: LockToken, closeFiles: () => void): Lock {
  let reportLoss: (() => void) | undefined;
  const beating = setInterval(() => {
    if (file.beat(token)) return;
    clearInterval(beating);
    reportLoss?.();
  }, beatMs).unref();
  return {
    token,
    setPort: (port) => file.setPort(port),
    onLost: (listener) => {
      reportLoss = listener;
    },
    release() {
      clearInterval(beating);
      try {
        if (isHeld(token)) file.clear();
      } finally {
        closeFiles();
      }
    },
  };
}
