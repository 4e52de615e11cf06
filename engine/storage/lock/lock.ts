// The exclusive lock of a data directory: one process at a time, free again the moment it is gone.
//
// Node offers no flock of its own, but a lock of flock(2) belongs to the open file, which a child
// process shares: the program `flock` takes it on the descriptor of LOCK that it is handed, and
// this process keeps it. The kernel knows of it in every pid, network, mount and user namespace,
// and takes it back however the holder ends, kill -9 included; a zombie or a copied directory holds
// none. (LMDB's own lock would do without a helper, but two processes of one pid in two pid
// namespaces, as the first processes of two containers are, make lmdb-js wait ten seconds and then
// throw out of a timer.) Beside it, and for systems without that program, stands a name that only
// one process may have: a listening socket in the abstract name space, or a named pipe.
//
// Where the kernel cannot vouch for the former holder (another kernel shares the file system, or
// there is no `flock` and it lives in another pid namespace), LOCK is watched: a holder changes its
// count every second. Time is this process's own and monotonic, so that no set clock matters. A
// holder that only slept finds another nonce there and commits nothing any more (write-fence.ts).
//
// Invariant: `takeLock` returns in one process only until `release`.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, statSync, statfsSync } from 'node:fs';
import { type Server, createServer } from 'node:net';
import { join } from 'node:path';
import { fail } from '../../base/errors.js';
import { shortageOf } from '../../base/os/shortage.js';
import {
  LockFile,
  type LockToken,
  type Noted,
  type Owner,
  describeSelf,
  isHeld,
  isRunning,
  readOwner,
} from './lock-file.js';

export interface Lock {
  readonly token: LockToken;
  /** Notes the port for people who read the file. */
  setPort(port: number): void;
  /** Calls back, once, when another process has taken the directory from this one. */
  onLost(listener: () => void): void;
  release(): void;
}

const beatMs = 1000;
/** A holder that changes nothing for this long is gone. */
const patienceMs = 5000;
const lookMs = 200;

/** File systems that no two kernels use at once (statfs types of Linux). */
const localTypes = new Set([
  0xef53, // ext2 to ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);

/** Binds the kernel's name for the directory; undefined when somebody else has it. */
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
  // The error comes a turn later; whether the name was granted is known at once.
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
  // The program is there, and cannot run just now: nobody may go on as if there were none.
  if (shortageOf(error) !== undefined) throw error!;
  return status === 0 ? 'granted' : status === 1 ? 'taken' : 'unsupported';
}

/** What is known of the process that LOCK names, now that nothing of the kernel's is in the way. */
function judge(
  former: Noted | undefined,
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

/** Waits until the holder shows that it is alive, or has had the time to. */
function isBeating(path: string, former: Noted): boolean {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    sleep(lookMs);
    const now = readOwner(path);
    if (now?.nonce !== former.nonce || now.beat !== former.beat) return now !== undefined;
  }
  return false;
}

function refuse(former: Noted | undefined, self: ReturnType<typeof describeSelf>): never {
  if (former === undefined) fail('DATA_LOCKED', { what: 'another process' });
  const isElsewhere = former.pid_namespace !== self.pid_namespace;
  if (!isElsewhere && former.pid === self.pid && former.start === self.start) {
    const hint = 'Use the database that is open, or close it first.';
    fail('DATA_LOCKED', { what: 'this process has it open already' }, { hint });
  }
  const where = isElsewhere ? ' of another pid namespace, such as a container,' : '';
  return fail('DATA_LOCKED', { what: `process ${former.pid}${where} holds it` });
}

/** Throws where a name would seem to be taken only because there is no descriptor to bind it with. */
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
  const letGo = (): void => {
    closeSync(descriptor);
    server?.close();
  };
  try {
    const file = new LockFile(path, descriptor);
    return hold(file, claim(file, self, directory), letGo);
  } catch (error) {
    letGo();
    throw error;
  }
}

/** Makes this process the holder that the file names. */
function claim(
  file: LockFile,
  self: ReturnType<typeof describeSelf>,
  directory: string,
): LockToken {
  const { path, descriptor, inode } = file;
  const grant = lockFile(descriptor);
  const former = readOwner(path);
  const own = { ...self, inode, held_by: grant === 'granted' ? 'flock' : 'name' } as const;
  const verdict = grant === 'taken' ? 'alive' : judge(former, own, directory);
  const isWatched = former !== undefined && verdict === 'unknown';
  if (verdict === 'alive' || (isWatched && isBeating(path, former))) {
    refuse(former, self);
  }
  const token = { path, nonce: randomUUID(), descriptor };
  file.claim({ nonce: token.nonce, ...own });
  if (isWatched) {
    // Somebody else may have watched the same silence: the last to write has it.
    sleep(lookMs);
    if (!isHeld(token)) refuse(readOwner(path), self);
  }
  return token;
}

function hold(file: LockFile, token: LockToken, letGo: () => void): Lock {
  let tell: (() => void) | undefined;
  const beating = setInterval(() => {
    if (file.beat(token)) return;
    clearInterval(beating);
    tell?.();
  }, beatMs).unref();
  return {
    token,
    setPort: (port) => file.setPort(port),
    onLost: (listener) => {
      tell = listener;
    },
    release() {
      clearInterval(beating);
      try {
        if (isHeld(token)) file.clear();
      } finally {
        letGo();
      }
    },
  };
}
