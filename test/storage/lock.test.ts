// Who may have a data directory: processes in pid, network, mount and user namespaces of their own,
// as containers have them, on one volume; dead, stopped, copied and forged holders. Every holder
// commits through the same door as the writer lane, and what one was told is done must be there for
// the next.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openDataDirectory } from '../../engine/storage/folder/manifest.js';
import { LockFile } from '../../engine/storage/lock/lock-file.js';
import { compileStorage } from './support/compiled.js';
import { freshFolder } from './support/garden.js';
import { expectFigure } from '../support/run/figure.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const unshare = ['unshare', '--pid', '--net', '--mount', '--user', '--map-root-user', '--fork'];
const contained = [...unshare, '--mount-proc', '--kill-child'];
const mayUnshare = spawnSync(contained[0]!, [...contained.slice(1), 'true']).status === 0;
if (!mayUnshare) console.log('skipped: this machine permits no namespaces (unshare)');
const inContainers = mayUnshare ? it : it.skip;

/** Opens the directory, then commits or lists what it is asked for on its input. */
const script = (compiled: string): string => `
import { createInterface } from 'node:readline';
const [path] = process.argv.slice(1);
const { openDataDirectory } = await import('${compiled}/storage/folder/manifest.js');
const { openStorage } = await import('${compiled}/storage/open-storage.js');
const { WriteFence } = await import('${compiled}/storage/lock/write-fence.js');
const { defaultLimits } = await import('${compiled}/base/limits.js');
const say = (text) => console.log(text);
try {
  const began = performance.now();
  const directory = openDataDirectory(path);
  directory.onLost(() => say('lost'));
  const permit = new WriteFence(directory.lock, () => {});
  const storage = openStorage(path + '/graph', { limits: defaultLimits, mode: 'create', permit });
  const { env } = storage;
  say('held ' + Math.round(performance.now() - began));
  createInterface({ input: process.stdin }).on('line', (line) => {
    const [verb, key] = line.split(' ');
    try {
      if (verb === 'close') {
        storage.close();
        directory.close({ clean: true });
        process.exit(0);
      } else if (verb === 'put') {
        env.transact(() => { env.derived.put(Buffer.from(key), Buffer.from(key)); return true; });
        say('done ' + key);
      } else {
        env.refresh();
        say('has ' + env.derived.keys({ start: Uint8Array.of(0), end: Uint8Array.of(255) })
          .map((key) => Buffer.from(key).toString()).join());
      }
    } catch (error) {
      say(error.code + ' ' + error.message);
    }
  });
} catch (error) {
  say(error.code + ' ' + error.message);
  process.exit(75);
}`;

let compiled: string;
beforeAll(async () => {
  compiled = await compileStorage();
});

const holders = new Set<Holder>();
afterEach(() => {
  for (const holder of holders) holder.kill();
  holders.clear();
});

/** A process that wants the directory. */
class Holder {
  readonly child: ChildProcess;
  readonly #lines: string[] = [];
  #wake: (() => void) | undefined;
  readonly gone: Promise<void>;

  constructor(path: string, { container = false, flock = true } = {}) {
    const node = [process.execPath, '--input-type=module', '-e', script(compiled), path];
    const [command, ...args] = container ? [...contained, ...node] : node;
    const env = flock ? process.env : { ...process.env, PATH: '/nowhere' };
    const file = command === 'unshare' ? unsharePath : command!;
    this.child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.gone = new Promise((resolve) => this.child.once('close', () => resolve()));
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      this.#lines.push(line);
      this.#wake?.();
    });
    holders.add(this);
  }

  /** What it says next; it may say that it lost the directory at any time. */
  async hears(): Promise<string> {
    for (;;) {
      const line = this.#lines.shift();
      if (line === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
      else if (line !== 'lost') return line;
    }
  }

  ask(line: string): Promise<string> {
    this.child.stdin!.write(`${line}\n`);
    return this.hears();
  }

  /** The process itself, seen from here. */
  get pid(): number {
    const { pid } = this.child;
    if (this.child.spawnfile !== unsharePath) return pid!;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1');
    const found = Number(children.trim().split(' ')[0]);
    // 0 would be this test and everybody around it.
    if (!(found > 0)) throw new RangeError('the process is gone');
    return found;
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  async kill(): Promise<void> {
    try {
      this.signal('SIGKILL');
    } catch {
      // It has ended by itself.
    }
    this.child.kill('SIGKILL');
    await this.gone;
  }
}

const unsharePath = mayUnshare
  ? execFileSync('which', ['unshare'], { encoding: 'utf8' }).trim()
  : 'unshare';

/** How long opening took when it worked. */
function heldIn(line: string): number {
  expect(line).toMatch(/^held \d+$/);
  return Number(line.split(' ')[1]);
}

describe('a directory on a shared volume', () => {
  inContainers.each([
    ['with flock', { flock: true }],
    ['without flock', { flock: false }],
  ])('has one holder, wherever processes run, %s', async (_, { flock }) => {
    const path = freshFolder();
    const first = new Holder(path, { container: true, flock });
    heldIn(await first.hears());
    expect(await first.ask('put a')).toBe('done a');
    const others = Array.from({ length: long && flock ? 100 : 2 }, (_, i) => i);
    await Promise.all(
      others.map(async (i) => {
        const other = new Holder(path, { container: i % 2 === 1, flock });
        expect(await other.hears()).toMatch(/^DATA_LOCKED .*of another pid namespace.* holds it/);
        await other.gone;
        expect(other.child.exitCode).toBe(75);
      }),
    );
    expect(await first.ask('put b')).toBe('done b');
    expect(await first.ask('list')).toBe('has a,b');
  });

  inContainers('goes to exactly one of two that start at the same time', async () => {
    const path = freshFolder();
    for (let round = 0; round < (long ? 50 : 1); round++) {
      const both = [false, true].map((container) => new Holder(path, { container }));
      const said = await Promise.all(both.map((one) => one.hears()));
      expect(said.filter((line) => line.startsWith('held'))).toHaveLength(1);
      expect(said.filter((line) => line.startsWith('DATA_LOCKED'))).toHaveLength(1);
      await Promise.all(both.map((one) => one.kill()));
    }
  });

  inContainers('is free at once when its holder was killed, and nothing is lost', async () => {
    const path = freshFolder();
    const done: string[] = [];
    for (let round = 0; round < (long ? 50 : 3); round++) {
      const holder = new Holder(path, { container: round !== 2 });
      expectFigure(heldIn(await holder.hears()), 2_000, 'ms to the lock');
      expect(await holder.ask('list')).toBe(`has ${done.join()}`);
      done.push(`k${String(round).padStart(3, '0')}`);
      expect(await holder.ask(`put ${done.at(-1)}`)).toBe(`done ${done.at(-1)}`);
      await holder.kill();
    }
  });

  inContainers('is taken from a stopped holder, which commits nothing when it wakes', async () => {
    const path = freshFolder();
    const sleeper = new Holder(path, { container: true, flock: false });
    heldIn(await sleeper.hears());
    expect(await sleeper.ask('put a')).toBe('done a');
    sleeper.signal('SIGSTOP');
    const taker = new Holder(path, { flock: false });
    expect(heldIn(await taker.hears())).toBeGreaterThan(4000);
    expect(await taker.ask('list')).toBe('has a');
    expect(await taker.ask('put b')).toBe('done b');
    sleeper.signal('SIGCONT');
    expect(await sleeper.ask('put c')).toBe(
      'STORAGE_LOST The data files are no longer usable: another process has taken the data directory.',
    );
    expect(await taker.ask('put d')).toBe('done d');
    expect(await taker.ask('list')).toBe('has a,b,d');
    // Nor does it take the file back, or empty it, when it ends.
    sleeper.child.stdin!.write('close\n');
    await sleeper.gone;
    expect(await taker.ask('put e')).toBe('done e');
  });

  it('stays with a stopped holder that the kernel knows of, is free in a copy', async () => {
    const path = freshFolder();
    const holder = new Holder(path);
    heldIn(await holder.hears());
    holder.signal('SIGSTOP');
    expect(() => openDataDirectory(path)).toThrowError(expect.objectContaining(locked));
    const copy = freshFolder();
    cpSync(path, copy, { recursive: true });
    openDataDirectory(copy).close({ clean: true });
    holder.signal('SIGCONT');
    expect(await holder.ask('put a')).toBe('done a');
    rmSync(join(path, 'LOCK'));
    expect(await holder.ask('put b')).toMatch(/^STORAGE_LOST/);
    expect(await holder.ask('list')).toBe('has a');
  });
});

const locked = { code: 'DATA_LOCKED' };

describe('a LOCK without a kernel lock', () => {
  const parent = process.ppid;
  const startOf = (pid: number): string => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!;
  };
  /** A process that has ended and that nobody waits for. */
  const zombie = async (): Promise<{ pid: number; child: ChildProcess }> => {
    const child = spawn('sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 60']);
    const pid = Number(await new Promise((done) => child.stdout.once('data', done)));
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'latin1')).toMatch(/\) Z /);
    return { pid, child };
  };
  /** A directory whose LOCK names a holder. */
  const owned = (owner: (own: Record<string, unknown>) => object): string => {
    const path = freshFolder();
    openDataDirectory(path);
    const file = join(path, 'LOCK');
    const own = JSON.parse(readFileSync(file, 'utf8'));
    const forged = freshFolder();
    cpSync(path, forged, { recursive: true });
    const { ino } = statSync(join(forged, 'LOCK'));
    const lock = { ...own, nonce: 'another', inode: ino, held_by: 'name', ...owner(own) };
    writeFileSync(join(forged, 'LOCK'), JSON.stringify(lock));
    return forged;
  };
  const opens = (path: string): void => openDataDirectory(path).close({ clean: true });

  it('names a process that runs', () => {
    const path = owned(() => ({ pid: parent, start: startOf(parent) }));
    expect(() => opens(path)).toThrowError(/process \d+ holds it/);
  });

  it.each([
    ['another start of the pid', () => ({ pid: parent, start: '1' })],
    ['another boot', () => ({ pid: parent, start: startOf(parent), boot: 'earlier' })],
    ['another file', () => ({ pid: parent, start: startOf(parent), inode: 1 })],
    ['a holder of flock', () => ({ pid: parent, start: startOf(parent), held_by: 'flock' })],
    ['no process at all', () => ({ pid: undefined })],
  ])('names %s, and the directory is free', (_, owner) => {
    opens(owned(owner));
  });

  it('names a zombie, and the directory is free', async () => {
    const { pid, child } = await zombie();
    opens(owned(() => ({ pid, start: startOf(pid) })));
    child.kill('SIGKILL');
  });
});

describe('the beat of a holder', () => {
  const nonce = 'a'.repeat(36);

  it.each<[name: string, prepare: (path: string) => void, flags: string, goesOn: boolean]>([
    ['its file', () => undefined, 'r+', true],
    // As a disk that fails does: nothing can be written, and nothing is thrown.
    ['a file that takes no writes', () => undefined, 'r', true],
    ['a folder in its place', (path) => replace(path, () => mkdirSync(path)), 'r', false],
    [
      'a path that leads in circles',
      (path) => replace(path, () => symlinkSync(path, path)),
      'r',
      true,
    ],
    ['no file', (path) => rmSync(path), 'r+', false],
    ["another's file", (path) => writeFileSync(path, `{"nonce":"${'b'.repeat(36)}"}`), 'r+', false],
    ['an empty file', (path) => writeFileSync(path, ''), 'r+', false],
  ])('over %s', (_, prepare, flags, goesOn) => {
    const path = join(freshFolder(), 'LOCK');
    writeFileSync(path, '');
    const claimed = openSync(path, 'r+');
    const owner = { nonce, pid: 1, inode: 1, held_by: 'name' } as const;
    new LockFile(path, claimed).claim(owner);
    closeSync(claimed);
    const descriptor = openSync(path, flags);
    prepare(path);
    const file = new LockFile(path, descriptor);
    const token = { path, nonce, descriptor, ...file.identity };
    expect([file.beat(token), file.beat(token)]).toEqual([goesOn, goesOn]);
    closeSync(descriptor);
  });

  function replace(path: string, make: () => void): void {
    rmSync(path);
    make();
  }
});
