// Contenders compiled here from C++ headers with all that this processor offers: hnswlib (Debian's
// libhnswlib-dev) and usearch (the headers of its npm package). Each is a child process that takes
// commands and answers over two named pipes; peer-loop.hpp says which.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { VectorSet, VectorShape } from '../support/vector-data.js';
import type { Contender, FilteringContender } from './vector-peer.js';

const folder = resolve('bench', 'peers');

const hasHnswlib = (): boolean => {
  const has = existsSync('/usr/include/hnswlib/hnswlib.h');
  if (!has) console.log('hnswlib C++ is left out: libhnswlib-dev is not installed');
  return has;
};

/** Runs a compiler; the reason when it fails. */
function faultOf(command: string, args: readonly string[], cwd: string): string | undefined {
  const { status, error, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status === 0) return undefined;
  return error?.message ?? stderr.split('\n')[0] ?? 'no reason given';
}

/** The compiled program; undefined, with a printed reason, when it cannot be had here. */
function compile(
  name: 'hnswlib-peer' | 'hnswlib-growth' | 'usearch-peer',
  more: readonly string[],
): string | undefined {
  mkdirSync(folder, { recursive: true });
  const program = join(folder, name);
  const options = ['-O3', '-march=native', '-std=c++17', '-DNDEBUG', '-pthread', '-w'];
  const source = resolve('bench/peer', `${name}.cpp`);
  const fault = faultOf('g++', [...options, source, ...more, '-o', program], folder);
  if (fault === undefined) return program;
  console.log(`${name}.cpp is left out, it cannot be compiled here: ${fault}`);
  return undefined;
}

/**
 * usearch's SIMD as a library, made as its numkong.gypi has it: every instruction set that the
 * compiler knows, chosen when the program runs. Undefined, with a printed reason, on failure.
 */
function numkong(root: string): string | undefined {
  const library = join(root, 'numkong.a');
  if (existsSync(library)) return library;
  console.log('compiling NumKong, which usearch C++ calls: once, some minutes');
  const sources = readdirSync(join(root, 'c')).filter((name) => name.endsWith('.c'));
  const objects = join(root, 'objects');
  mkdirSync(objects, { recursive: true });
  const defines = ['-DNK_NATIVE_F16=0', '-DNK_NATIVE_BF16=0', '-DNK_DYNAMIC_DISPATCH=1'];
  const includes = ['-include', join(root, 'nk_probes.h'), '-I', join(root, 'include')];
  const options = ['-std=c11', '-O3', '-w', '-Wno-psabi', ...defines, ...includes];
  const files = sources.map((name) => join(root, 'c', name));
  const fault =
    faultOf(process.execPath, [join(root, 'probes', 'probe.js')], root) ??
    faultOf('cc', ['-c', ...options, ...files], objects) ??
    faultOf('ar', ['rcs', library, ...sources.map((name) => name.replace(/c$/, 'o'))], objects);
  if (fault === undefined) return library;
  console.log(`usearch C++ is left out, NumKong cannot be compiled here: ${fault}`);
  return undefined;
}

/** Writes the vectors and queries to a file for the programs of the peers. peer-loop.hpp describes its format. */
export function writeData(set: VectorSet, path: string): void {
  const file = openSync(path, 'w');
  const { dimension, base, queries, metric } = set;
  const head = [dimension, base.length, queries.length, metric === 'cosine' ? 1 : 0];
  writeSync(file, new Uint8Array(Uint32Array.from(head).buffer));
  for (const row of [...base, ...queries]) writeSync(file, row);
  closeSync(file);
}

class Pipe {
  readonly #program: string;
  readonly #child: ChildProcess;
  readonly #commands: number;
  readonly #answers: number;

  constructor(program: string, place: string) {
    this.#program = program;
    const [data, commands, answers] = ['data', 'commands', 'answers'].map((n) => join(place, n));
    spawnSync('mkfifo', [commands!, answers!]);
    this.#child = spawn(program, [data!, commands!, answers!], { stdio: 'inherit' });
    this.#child.unref();
    // Both wait for the other end.
    this.#commands = openSync(commands!, 'w');
    this.#answers = openSync(answers!, 'r');
  }

  #send(words: Uint32Array): void {
    const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#commands, bytes, done);
  }

  /** Seconds of CPU time the command took, and `words` words of answer. */
  ask(
    command: [number, number, number],
    words = 0,
    more = new Uint32Array(),
  ): { seconds: number; found: Uint32Array } {
    this.#send(Uint32Array.from(command));
    this.#send(more);
    const bytes = new Uint8Array(8 + words * 4);
    for (let done = 0; done < bytes.length; ) {
      const count = readSync(this.#answers, bytes, done, bytes.length - done, null);
      if (count === 0) throw new Error(`${this.#program} has ended`);
      done += count;
    }
    return {
      seconds: new Float64Array(bytes.buffer, 0, 1)[0]!,
      found: new Uint32Array(bytes.buffer, 8),
    };
  }

  /** Resolves when the process is gone: only then does the system count its time as ours. */
  async end(): Promise<void> {
    this.#child.ref();
    const gone = new Promise((done) => this.#child.once('exit', done));
    this.#send(Uint32Array.of(3, 0, 0));
    closeSync(this.#commands);
    closeSync(this.#answers);
    await gone;
  }
}

/** A running peer as a contender; `bytes` is what it keeps per vector. */
function contenderOf(
  name: string,
  program: string,
  set: VectorSet,
  bytes: number,
): FilteringContender {
  const place = mkdtempSync(join(tmpdir(), 'vector-peer-'));
  writeData(set, join(place, 'data'));
  const pipe = new Pipe(program, place);
  const count = set.queries.length;
  return {
    name,
    widths: [10, 16, 24, 36, 54, 80, 120, 180, 270, 400, 800, 1600],
    add: () => {},
    addRange: (from, to) => pipe.ask([0, from, to]).seconds,
    finish: () => {},
    setWidth: (width) => void pipe.ask([1, width, 0]),
    setFilter: (rows) => {
      const bitmap = new Uint32Array((set.base.length + 31) >>> 5);
      for (const row of rows) bitmap[row >>> 5]! |= 1 << (row & 31);
      pipe.ask([4, bitmap.length, 0], 0, bitmap);
    },
    search: () => [],
    searchAll: (k) => {
      const { seconds, found } = pipe.ask([2, k, 0], count * k);
      return { seconds, found: set.queries.map((_, q) => found.subarray(q * k, q * k + k)) };
    },
    bytes: () => set.base.length * bytes,
    close: async () => {
      await pipe.end();
      rmSync(place, { recursive: true });
    },
  };
}

/** hnswlib; undefined where it cannot be had. Debian's version has no filters. */
export function hnswlibCpp(set: VectorSet): Contender | undefined {
  if (!hasHnswlib()) return undefined;
  const program = compile('hnswlib-peer', []);
  if (program === undefined) return undefined;
  return contenderOf('hnswlib C++', program, set, set.dimension * 4 + 16 * 2 * 4 + 20);
}

/** usearch, half-precision numbers; undefined where it cannot be had. Needs `installPeers`. */
export function usearchCpp(set: VectorSet): FilteringContender | undefined {
  const root = join(folder, 'node_modules', 'usearch');
  const library = numkong(join(root, 'numkong'));
  if (library === undefined) return undefined;
  const defines = ['-DUSEARCH_USE_NUMKONG=1', '-DNK_DYNAMIC_DISPATCH=1'];
  const includes = ['include', 'numkong/include'].map((path) => `-I${join(root, path)}`);
  const program = compile('usearch-peer', [...defines, ...includes, library]);
  if (program === undefined) return undefined;
  return contenderOf('usearch C++ f16', program, set, set.dimension * 2 + 16 * 3 * 5);
}

/**
 * Measures hnswlib's search on vectors like those of `scale`. Returns the microseconds at the narrowest
 * width for each recall@10, or undefined if hnswlib is not available.
 */
export function hnswlibGrowth(
  count: number,
  { dimensions, intrinsic }: VectorShape,
  recalls: readonly number[],
): { micros: number; recall: number }[] | undefined {
  const program = hasHnswlib() ? compile('hnswlib-growth', []) : undefined;
  if (program === undefined) return undefined;
  const args = [count, dimensions, intrinsic, availableParallelism(), ...recalls].map(String);
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`hnswlib-growth ended with ${status}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [micros, , recall] = line.split(' ').map(Number);
      return { micros: micros!, recall: recall! };
    });
}
