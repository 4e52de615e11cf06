// Small file systems of their own, for tests that fill one or cut its power: ext4 in a file, which needs
// root and loop devices. Where there are none, tests say so and are skipped.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crashSources } from '../crash/oracle.js';
import { makeFolder, removeFolder, root, writeProject } from '../../support/project.js';
import { Server } from '../../support/server/server.js';

const run = (command: string, ...args: string[]): void => {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
};

/** A file system in a file. */
export class SmallDisk {
  readonly #home = makeFolder();
  readonly folder = join(this.#home, 'disk');
  readonly #image = join(this.#home, 'image');

  constructor(bytes: number) {
    mkdirSync(this.folder);
    run('truncate', '-s', String(bytes), this.#image);
    run('mkfs.ext4', '-q', '-F', '-m', '0', this.#image);
    process.once('exit', () => this.#detach());
  }

  /** `commit`: seconds between two writes of the journal. */
  mount(commit = 5): void {
    run('mount', '-o', `loop,commit=${commit}`, this.#image, this.folder);
  }

  /** Cuts the power: processes with open files get errors. Mount the disk again afterwards. */
  cutPower(): void {
    run(cutProgram(), this.folder);
  }

  /** No process may have a file open. */
  unmount(): void {
    run('umount', this.folder);
  }

  #detach(): void {
    spawnSync('umount', ['-l', this.folder], { stdio: 'ignore' });
  }

  remove(): void {
    this.#detach();
    removeFolder(this.#home);
  }
}

/** A file system in memory: created immediately, and filled as far as a test wants. */
export class MemoryDisk {
  readonly folder = makeFolder();
  readonly #filler = join(this.folder, 'filler');

  constructor(bytes: number) {
    run('mount', '-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', this.folder);
    process.once('exit', () => this.#detach());
  }

  /** Fills the disk to the last page, or to this many bytes before it. */
  fill(left = 0): void {
    const page = Buffer.alloc(4096, 1);
    const isLeft = (): boolean => {
      const { bavail, bsize } = statfsSync(this.folder);
      return bavail * bsize > left;
    };
    try {
      while (left === 0 || isLeft()) writeFileSync(this.#filler, page, { flag: 'a' });
    } catch {
      // There is no room for one more.
    }
  }

  free(): void {
    rmSync(this.#filler);
  }

  #detach(): void {
    spawnSync('umount', ['-l', this.folder], { stdio: 'ignore' });
  }

  remove(): void {
    this.#detach();
    removeFolder(this.folder);
  }
}

/** Why there can be no such disk on this machine, or undefined; says so. */
export function whyNoMemoryDisk(): string | undefined {
  try {
    new MemoryDisk(2 ** 20).remove();
    return undefined;
  } catch {
    const reason = 'a file system in memory needs root';
    console.info(`a test of T7 is skipped: ${reason}`);
    return reason;
  }
}

let program: string | undefined;

function cutProgram(): string {
  if (program === undefined) {
    program = join(makeFolder(), 'cut-power');
    run('cc', '-o', program, join(root, 'test/reliability/support/cut-power.c'));
  }
  return program;
}

/** Why there can be no such disk on this machine, or undefined. */
export function whyNoDisk(): string | undefined {
  let disk: SmallDisk | undefined;
  try {
    disk = new SmallDisk(4 * 2 ** 20);
    disk.mount();
    disk.cutPower();
    disk.unmount();
    return undefined;
  } catch (error) {
    return `an ext4 file system in a file cannot be had: ${(error as Error).message.split('\n')[0]}`;
  } finally {
    disk?.remove();
  }
}

/** The project of the crash tests, with its data on the disk. */
export function serverOn(disk: SmallDisk, config: Record<string, number | string>): Server {
  const project = join(disk.folder, 'project');
  mkdirSync(project, { recursive: true });
  writeProject(project, { sources: crashSources, config });
  return new Server(disk.folder, {});
}
