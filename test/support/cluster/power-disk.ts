// Simulates a disk that loses power, with a separate file system on a loop device. Data that had not reached
// the device at the power cut is lost; synced data is kept. Needs root. Invariant: no disk stays mounted
// after the test.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../project.js';

const megabytes = 512;

/** EXT4_IOC_SHUTDOWN without a flush of the journal: the file system writes nothing from then on. */
const cutter = `
import fcntl, os, struct, sys
folder = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
fcntl.ioctl(folder, 0x8004587d, struct.pack('I', 2))
`;

const run = (command: string, ...args: string[]): void =>
  void execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });

const mounted = new Set<PowerDisk>();
process.on('exit', () => {
  for (const disk of mounted) disk.remove();
});

export class PowerDisk {
  readonly #image: string;
  readonly #place: string;

  private constructor() {
    const folder = makeFolder();
    this.#image = join(folder, 'disk');
    this.#place = join(folder, 'mounted');
  }

  static make(): PowerDisk {
    const disk = new PowerDisk();
    writeFileSync(disk.#image, '');
    truncateSync(disk.#image, megabytes * 1024 * 1024);
    run('mkfs.ext4', '-q', '-F', '-m', '0', disk.#image);
    mkdirSync(disk.#place);
    disk.#mount();
    return disk;
  }

  /** Why there can be none here; undefined: there can. */
  static missing(): string | undefined {
    try {
      const disk = PowerDisk.make();
      try {
        disk.cut();
        disk.restore();
      } finally {
        disk.remove();
      }
      return undefined;
    } catch (error) {
      return (error as Error).message.split('\n')[0];
    }
  }

  /** Where files are kept on it. */
  get folder(): string {
    return this.#place;
  }

  #mount(): void {
    run('mount', '-o', 'loop', this.#image, this.#place);
    mounted.add(this);
  }

  /** From now on nothing reaches it. */
  cut(): void {
    run('python3', '-c', cutter, this.#place);
  }

  /** Restores the power. No process may have a file on the disk open. */
  restore(): void {
    run('umount', this.#place);
    mounted.delete(this);
    this.#mount();
  }

  remove(): void {
    if (!mounted.delete(this)) return;
    run('umount', '-l', this.#place);
    rmSync(this.#image, { force: true });
  }
}
