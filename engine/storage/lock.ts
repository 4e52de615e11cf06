// The exclusive lock of a data directory: one server at a time, free again the moment its process
// is gone.
//
// Node offers no flock. On Linux the lock is a listening socket in the abstract name space, on
// Windows a named pipe, each named after the directory's device and inode: the kernel grants a name
// once, atomically, and takes it back however the process ends, kill -9 included. The file LOCK
// says who holds it. It is also a second guard, and the only one elsewhere: a process named there
// that still runs (same boot, same start time) keeps others out, as when two containers share
// processes but not their network. Invariant: `takeLock` returns in one process only until
// `release`.
import { closeSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { constants } from 'node:fs';
import { type Server, createServer } from 'node:net';
import { join } from 'node:path';
import { fail } from '../base/errors.js';

export interface Lock {
  /** Notes the port for people who read the file. */
  setPort(port: number): void;
  release(): void;
}

interface Owner {
  pid: number;
  /** Start of the process in clock ticks since boot; absent where the system does not tell. */
  start?: string;
  boot?: string;
  port?: number;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

/**
 * Field 22 of /proc/<pid>/stat; the name in field 2 may hold anything, so counting begins behind
 * it.
 */
function startOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function isRunning(owner: Owner): boolean {
  if (owner.pid === process.pid || owner.boot !== bootId()) return false;
  if (owner.start !== undefined) return startOf(owner.pid) === owner.start;
  try {
    process.kill(owner.pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const bootId = (): string | undefined => readText('/proc/sys/kernel/random/boot_id')?.trim();

function readOwner(path: string): Owner | undefined {
  try {
    const owner = JSON.parse(readText(path) ?? '') as Owner;
    return typeof owner?.pid === 'number' ? owner : undefined;
  } catch {
    return undefined;
  }
}

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

/** Takes the lock of a data directory. Fails DATA_LOCKED. */
export function takeLock(directory: string): Lock {
  const path = join(directory, 'LOCK');
  const former = readOwner(path);
  const holder = former === undefined ? 'another process' : `process ${former.pid} holds it`;
  const bound = bindName(directory);
  if (bound === undefined) fail('DATA_LOCKED', { what: holder });
  const server = bound === 'unsupported' ? undefined : bound;
  if (former !== undefined && isRunning(former)) {
    server?.close();
    fail('DATA_LOCKED', { what: holder });
  }
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const owner: Owner = { pid: process.pid };
  const [start, boot] = [startOf(process.pid), bootId()];
  if (start !== undefined) owner.start = start;
  if (boot !== undefined) owner.boot = boot;
  const write = (): void => {
    ftruncateSync(file, 0);
    writeSync(file, `${JSON.stringify(owner)}\n`, 0);
  };
  write();
  return {
    setPort(port) {
      owner.port = port;
      write();
    },
    release() {
      ftruncateSync(file, 0);
      closeSync(file);
      server?.close();
    },
  };
}
