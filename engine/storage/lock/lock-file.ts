// The file LOCK of a data directory names its holder in one line of JSON.
//
//   0     {"nonce":"<uuid>", holder ... blanks up to 512
//   512   ,"port":······,"beat":············}
//
// Invariant: after it has taken the directory, the holder changes nothing before byte 512, and the fields
// after it have the same position and size for all holders. So a holder that was suspended during a takeover
// can never restore its name, whatever it was about to write.
import {
  fstatSync,
  ftruncateSync,
  readFileSync,
  readSync,
  readlinkSync,
  statSync,
  writeSync,
} from 'node:fs';
import { findShortage } from '../../base/os/shortage.js';

export interface Owner {
  /** Unique to this hold. */
  nonce: string;
  pid: number;
  /** Namespace of `pid`; absent if the system has none. */
  pid_namespace?: string | undefined;
  /** Start of the process in clock ticks since boot; absent if the system does not report it. */
  start?: string | undefined;
  boot?: string | undefined;
  /** Inode of the lock file. It differs when the directory was copied. */
  inode: number;
  /** Which object of the kernel the process holds. */
  held_by: 'flock' | 'name';
}

/** Content of a lock file. */
export interface StoredOwner extends Owner {
  port?: number | null;
  beat: number;
}

/** What a thread needs to verify that its process still holds the directory. */
export interface LockToken {
  path: string;
  nonce: string;
  /** File descriptor of LOCK. It stays open while the directory is held, and is the same in all threads. */
  descriptor: number;
  /** The opened file: its inode and its device. */
  inode: number;
  device: number;
}

const headSize = 512;
const opening = '{"nonce":"';

/**
 * Returns undefined if the file does not exist or cannot be read. Throws if the system has no descriptor
 * left.
 */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (findShortage(error) !== undefined) throw error;
    return undefined;
  }
}

function namespaceOfPids(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/** Returns the fields of /proc/<pid>/stat after the name in field 2, which may contain any character. */
function readStat(pid: number): string[] | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Describes this process. */
export function describeSelf(): Pick<Owner, 'pid' | 'pid_namespace' | 'start' | 'boot'> {
  return {
    pid: process.pid,
    pid_namespace: namespaceOfPids(),
    start: readStat(process.pid)?.[19],
    boot: readText('/proc/sys/kernel/random/boot_id')?.trim(),
  };
}

/** Whether a process of this pid namespace still runs. A zombie does not. */
export function isRunning({ pid, start }: Owner): boolean {
  if (start !== undefined) {
    const stat = readStat(pid);
    return stat?.[19] === start && !/[ZX]/.test(stat[0]!);
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns the holder that a lock file names, or undefined. */
export function readOwner(path: string): StoredOwner | undefined {
  const text = readText(path) ?? '';
  try {
    const noted = JSON.parse(text) as StoredOwner;
    return typeof noted?.pid === 'number' ? noted : undefined;
  } catch {
    return undefined;
  }
}

const nonceBytes = Buffer.alloc(opening.length + 36);

/**
 * Whether the opened lock file is still at its path and names this hold. Opens no file, so it works without a
 * free descriptor. Throws on a disk error, which does not mean that another process has the directory.
 * Every commit calls this twice, so it asks the system for nothing that cannot change.
 */
export function isHeld({ path, nonce, descriptor, inode, device }: LockToken): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined || there.ino !== inode || there.dev !== device) return false;
  try {
    const size = readSync(descriptor, nonceBytes, 0, nonceBytes.length, 0);
    return nonceBytes.toString('latin1', 0, size) === opening + nonce;
  } catch (error) {
    // The descriptor was closed; the last two mean that it leads to something else now.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['EBADF', 'ESPIPE', 'EISDIR'].includes(code)) return false;
    throw error;
  }
}

/** An open LOCK file. */
export class LockFile {
  #port: number | null = null;
  #beat = 0;

  constructor(
    readonly path: string,
    readonly descriptor: number,
  ) {}

  get identity(): { inode: number; device: number } {
    const { ino, dev } = fstatSync(this.descriptor);
    return { inode: ino, device: dev };
  }

  /** Writes a new holder. */
  claim(owner: Owner): void {
    const head = JSON.stringify(owner).slice(0, -1).padEnd(headSize);
    this.#write(head + this.#tail());
  }

  /** Overwrites the block that the file has, so it works on a full disk. */
  #write(text: string): void {
    writeSync(this.descriptor, text, 0, 'latin1');
    ftruncateSync(this.descriptor, text.length);
  }

  setPort(port: number): void {
    this.#port = port;
    this.#writeTail();
  }

  /**
   * Changes the counter to show that the holder is alive. Returns false if another process has the directory.
   * After a disk error the next beat tries again, and commits check the lock themselves.
   */
  beat(token: LockToken): boolean {
    this.#beat++;
    try {
      if (!isHeld(token)) return false;
      this.#writeTail();
    } catch {
      // Ignore the error: other processes detect the missed heartbeat by its counter.
    }
    return true;
  }

  #writeTail(): void {
    writeSync(this.descriptor, this.#tail(), headSize, 'latin1');
  }

  #tail(): string {
    const [port, beat] = [String(this.#port).padStart(6), String(this.#beat).padStart(12)];
    return `,"port":${port},"beat":${beat}}\n`;
  }

  /** Clears the holder. */
  clear(): void {
    this.#write(' '.repeat(headSize));
  }
}
