// The file LOCK of a data directory: who holds it, in one line of JSON.
//
//   0     {"nonce":"<uuid>", who holds it and how ... blanks up to 512
//   512   ,"port":······,"beat":············}
//
// Invariant: the holder changes nothing in front of byte 512 after it has taken the directory, and
// what lies behind it has one place and size for all holders. So a holder that slept through a
// takeover can never put its name back, whatever it was about to write.
import {
  fstatSync,
  ftruncateSync,
  readFileSync,
  readSync,
  readlinkSync,
  statSync,
  writeSync,
} from 'node:fs';
import { shortageOf } from '../../base/os/shortage.js';

export interface Owner {
  /** Of this hold, never used again. */
  nonce: string;
  pid: number;
  /** In which `pid` counts; absent where the system has none. */
  pid_namespace?: string | undefined;
  /** Start of the process in clock ticks since boot; absent where the system does not tell. */
  start?: string | undefined;
  boot?: string | undefined;
  /** Of the file: that of a copied directory is another. */
  inode: number;
  /** What the kernel holds for the process. */
  held_by: 'flock' | 'name';
}

/** What a file says. */
export interface Noted extends Owner {
  port?: number | null;
  beat: number;
}

/** What tells that a process still holds a directory. */
export interface LockToken {
  path: string;
  nonce: string;
  /** LOCK as it was opened: open for as long as the directory is held, and the same in all threads. */
  descriptor: number;
}

const headSize = 512;
const opening = '{"nonce":"';

/** Undefined where there is nothing to read. A file that cannot be opened just now may say all the same. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (shortageOf(error) !== undefined) throw error;
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

/** Fields of /proc/<pid>/stat behind the name in field 2, which may hold anything. */
function statOf(pid: number): string[] | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** This process, on this machine. */
export function describeSelf(): Pick<Owner, 'pid' | 'pid_namespace' | 'start' | 'boot'> {
  return {
    pid: process.pid,
    pid_namespace: namespaceOfPids(),
    start: statOf(process.pid)?.[19],
    boot: readText('/proc/sys/kernel/random/boot_id')?.trim(),
  };
}

/** Whether a process of this pid namespace still runs; one that waits to be reaped does not. */
export function isRunning({ pid, start }: Owner): boolean {
  if (start !== undefined) {
    const stat = statOf(pid);
    return stat?.[19] === start && !/[ZX]/.test(stat[0]!);
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** What a file says of its holder; undefined when it names none. */
export function readOwner(path: string): Noted | undefined {
  const text = readText(path) ?? '';
  try {
    const noted = JSON.parse(text) as Noted;
    return typeof noted?.pid === 'number' ? noted : undefined;
  } catch {
    return undefined;
  }
}

const nonceBytes = Buffer.alloc(opening.length + 36);

/**
 * Whether the file that was opened still lies at the path and names this hold. It opens nothing, so that
 * a process without a free descriptor still knows what it holds. Throws where that cannot be told: a disk
 * that fails is nobody who took it.
 */
export function isHeld({ path, nonce, descriptor }: LockToken): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined) return false;
  try {
    const { ino, dev } = fstatSync(descriptor);
    if (there.ino !== ino || there.dev !== dev) return false;
    const size = readSync(descriptor, nonceBytes, 0, nonceBytes.length, 0);
    return nonceBytes.toString('latin1', 0, size) === opening + nonce;
  } catch (error) {
    // It was let go of.
    if ((error as NodeJS.ErrnoException).code === 'EBADF') return false;
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

  get inode(): number {
    return fstatSync(this.descriptor).ino;
  }

  /** Names a new holder. */
  claim(owner: Owner): void {
    const head = JSON.stringify(owner).slice(0, -1).padEnd(headSize);
    this.#write(head + this.#tail());
  }

  /** In place: the block that the file has is enough, also on a full disk. */
  #write(text: string): void {
    writeSync(this.descriptor, text, 0, 'latin1');
    ftruncateSync(this.descriptor, text.length);
  }

  setPort(port: number): void {
    this.#port = port;
    this.#writeTail();
  }

  /**
   * Shows that the holder is alive: the count changes. Whether it may go on; a disk that fails now is
   * tried again at the next beat, and commits look for themselves.
   */
  beat(token: LockToken): boolean {
    this.#beat++;
    try {
      if (!isHeld(token)) return false;
      this.#writeTail();
    } catch {
      // Whoever watches sees that the count stays, and that is all there is to tell.
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

  /** Names nobody. */
  clear(): void {
    this.#write(' '.repeat(headSize));
  }
}
