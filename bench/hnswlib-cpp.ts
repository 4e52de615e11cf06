// hnswlib compiled from Debian's headers (libhnswlib-dev) with all that this processor offers, as a
// contender: a child process that takes commands and answers over two named pipes.
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { VectorSet } from './vector-data.js';
import type { Contender } from './vector-peer.js';

const header = '/usr/include/hnswlib/hnswlib.h';

/** The compiled program; undefined, with a printed reason, when it cannot be had here. */
function compile(): string | undefined {
  if (!existsSync(header)) {
    console.log('hnswlib C++ is left out: libhnswlib-dev is not installed');
    return undefined;
  }
  const folder = resolve('bench', 'peers');
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'hnswlib-peer');
  const options = ['-O3', '-march=native', '-std=c++17', '-DNDEBUG', '-pthread', '-w'];
  const source = resolve('bench', 'hnswlib-peer.cpp');
  const built = spawnSync('g++', [...options, source, '-o', program], { encoding: 'utf8' });
  if (built.status === 0) return program;
  const reason = built.error?.message ?? built.stderr.split('\n')[0];
  console.log(`hnswlib C++ is left out, it cannot be compiled here: ${reason}`);
  return undefined;
}

function writeData(set: VectorSet, path: string): void {
  const file = openSync(path, 'w');
  const { dimension, base, queries, metric } = set;
  const head = [dimension, base.length, queries.length, metric === 'cosine' ? 1 : 0];
  writeSync(file, new Uint8Array(Uint32Array.from(head).buffer));
  for (const row of [...base, ...queries]) writeSync(file, row);
  closeSync(file);
}

class Pipe {
  readonly #commands: number;
  readonly #answers: number;

  constructor(program: string, folder: string) {
    const [data, commands, answers] = ['data', 'commands', 'answers'].map((n) => join(folder, n));
    spawnSync('mkfifo', [commands!, answers!]);
    const child = spawn(program, [data!, commands!, answers!], { stdio: 'inherit' });
    child.unref();
    // Both wait for the other end.
    this.#commands = openSync(commands!, 'w');
    this.#answers = openSync(answers!, 'r');
  }

  /** Seconds of CPU time the command took, and `words` words of answer. */
  ask(command: [number, number, number], words = 0): { seconds: number; found: Uint32Array } {
    writeSync(this.#commands, new Uint8Array(Uint32Array.from(command).buffer));
    const bytes = new Uint8Array(8 + words * 4);
    for (let done = 0; done < bytes.length; ) {
      const count = readSync(this.#answers, bytes, done, bytes.length - done, null);
      if (count === 0) throw new Error('the hnswlib peer has ended');
      done += count;
    }
    return {
      seconds: new Float64Array(bytes.buffer, 0, 1)[0]!,
      found: new Uint32Array(bytes.buffer, 8),
    };
  }

  end(): void {
    writeSync(this.#commands, new Uint8Array(Uint32Array.from([3, 0, 0]).buffer));
    closeSync(this.#commands);
    closeSync(this.#answers);
  }
}

/** The contender; undefined where it cannot be had. */
export function hnswlibCpp(set: VectorSet): Contender | undefined {
  const program = compile();
  if (program === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'hnswlib-'));
  writeData(set, join(folder, 'data'));
  const pipe = new Pipe(program, folder);
  const count = set.queries.length;
  return {
    name: 'hnswlib C++',
    widths: [10, 16, 24, 36, 54, 80, 120, 180, 270, 400, 800, 1600],
    add: () => {},
    addRange: (from, to) => pipe.ask([0, from, to]).seconds,
    finish: () => {},
    setWidth: (width) => void pipe.ask([1, width, 0]),
    search: () => [],
    searchAll: (k) => {
      const { seconds, found } = pipe.ask([2, k, 0], count * k);
      return { seconds, found: set.queries.map((_, q) => found.subarray(q * k, q * k + k)) };
    },
    bytes: () => set.base.length * (set.dimension * 4 + 16 * 2 * 4 + 20),
    close: () => {
      pipe.end();
      rmSync(folder, { recursive: true });
    },
  };
}
