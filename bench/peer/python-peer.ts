// Runs the peers of a vector benchmark that are Python packages. The first run makes a Python environment in
// bench/peers/python (git-ignored: peers are measured, never shipped). Each peer is a process with one thread
// that runs vector-peer.py over two named pipes. A peer that is not available here prints one line and is
// left out.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { VectorSet } from '../support/vector-data.js';
import { writeData } from './cpp-peer.js';
import type { Contender } from './vector-peer.js';

const environment = resolve('bench', 'peers', 'python');
const environmentPython = join(environment, 'bin', 'python');
const program = resolve('bench', 'peer', 'vector-peer.py');

const graphWidths = [10, 16, 24, 36, 54, 80, 120, 180, 270, 400, 600, 900, 1400];

interface PythonPeer {
  name: string;
  /** A key of `peers` in vector-peer.py. */
  kind: string;
  widths: readonly number[];
  /** Whether a width is the size of a candidate list, which is never below k. */
  isGraph: boolean;
  options: Readonly<Record<string, number>>;
}

interface PythonPackage {
  /** What pip installs. */
  spec: string;
  /** The module that Python imports. */
  module: string;
  /** Further arguments of pip. */
  pip: readonly string[];
  peers: readonly PythonPeer[];
}

const graph = (name: string, kind: string, options: PythonPeer['options']): PythonPeer => ({
  name,
  kind,
  widths: graphWidths,
  isGraph: true,
  options,
});

const like = { m: 16, efConstruction: 200 };

/** Packages by their names in `--beside`. Versions are fixed, so that two runs compare the same code. */
export const pythonPackages: Readonly<Record<string, PythonPackage>> = {
  symqg: {
    spec: 'rabitqlib==0.7.1',
    module: 'rabitqlib',
    pip: [],
    peers: [graph('SymphonyQG', 'symqg', { degree: 32, efConstruction: 400 })],
  },
  glass: {
    spec: 'glassppy==1.0.5',
    module: 'glass',
    pip: [],
    peers: [graph('Glass', 'glass', { degree: 32, efConstruction: 200 })],
  },
  faiss: {
    spec: 'faiss-cpu==1.15.1',
    module: 'faiss',
    pip: [],
    peers: [
      graph('Faiss HNSW SQ8', 'faiss-graph', like),
      {
        name: 'Faiss IVF PQ4',
        kind: 'faiss-lists',
        widths: [1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256],
        isGraph: false,
        options: {},
      },
    ],
  },
  usearch: {
    spec: 'usearch==2.26.6',
    module: 'usearch.index',
    pip: [],
    peers: [graph('usearch f16', 'usearch', like)],
  },
  hnswlib: {
    spec: 'hnswlib==0.8.0',
    module: 'hnswlib',
    // Compiled here: its build adds -march=native.
    pip: ['--no-binary', 'hnswlib'],
    peers: [graph('hnswlib native', 'hnswlib', like)],
  },
};

/** Runs a program to its end. Returns the last line that it printed if it fails, undefined if it succeeds. */
function failureOf(command: string, args: readonly string[]): string | undefined {
  const { HNSWLIB_NO_NATIVE: _, ...env } = process.env;
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env });
  if (status === 0) return undefined;
  const lines = `${stdout ?? ''}\n${stderr ?? ''}`.trim().split('\n');
  return error?.message ?? lines.at(-1) ?? `it ended with ${status}`;
}

/** The reason why there is no environment, undefined after it is there. */
function makeEnvironment(): string | undefined {
  if (process.platform === 'win32') return 'named pipes are not available on Windows';
  if (
    existsSync(environmentPython) &&
    failureOf(environmentPython, ['-m', 'pip', '--version']) === undefined
  )
    return undefined;
  console.log('making a Python environment in bench/peers/python');
  return failureOf('python3', ['-m', 'venv', '--clear', environment]);
}

/** Installs a package if Python cannot import it. Returns the reason if it still cannot. */
function installPackage({ spec, module, pip }: PythonPackage): string | undefined {
  const imports = (): string | undefined =>
    failureOf(environmentPython, ['-c', `import numpy, ${module}`]);
  if (imports() === undefined) return undefined;
  console.log(`installing ${spec} into bench/peers/python`);
  const limits = ['--disable-pip-version-check', '--retries', '1', '--timeout', '15', '--quiet'];
  return (
    failureOf(environmentPython, ['-m', 'pip', 'install', ...limits, ...pip, spec, 'numpy']) ??
    imports()
  );
}

/**
 * Starts the peers that `--beside` names, after it installs what is missing. Returns those that are available
 * here, in the order of the names; a printed line gives the reason for each of the others.
 */
export function pythonPeers(set: VectorSet, names: readonly string[]): Contender[] {
  const noEnvironment = makeEnvironment();
  return names.flatMap((name) => {
    const described = pythonPackages[name]!;
    const reason = noEnvironment ?? installPackage(described);
    if (reason !== undefined) console.log(`${name} is left out: ${reason}`);
    const open = reason === undefined ? described.peers : [];
    return open.flatMap((peer) => startPythonPeer(set, peer) ?? []);
  });
}

interface Response {
  error?: string;
  cpu: number;
  bytes: number;
  ids?: number[][];
}

/** The process of one peer. Requests block this thread, so that nothing else is measured meanwhile. */
class PeerProcess {
  readonly #child: ChildProcess;
  readonly #requests: number;
  readonly #responses: number;
  #rest = Buffer.alloc(0);

  constructor(python: string, args: readonly string[], folder: string) {
    const [requests, responses] = ['requests', 'responses'].map((name) => join(folder, name));
    spawnSync('mkfifo', [requests!, responses!]);
    // The shell opens both pipes before Python starts. If Python is absent or fails, the pipes close, and
    // `read` sees the end. Without the shell, opening a pipe here would wait forever for a process that never
    // comes.
    const script = 'exec "$0" "$@" <"$PEER_REQUESTS" >"$PEER_RESPONSES"';
    const env = { ...process.env, PEER_REQUESTS: requests, PEER_RESPONSES: responses };
    this.#child = spawn('sh', ['-c', script, python, ...args], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.#child.unref();
    this.#requests = openSync(requests!, 'w');
    this.#responses = openSync(responses!, 'r');
  }

  /** The next response. A process that has ended gives an error. */
  read(): Response {
    const parts: Buffer[] = [];
    let next = this.#rest;
    while (!next.includes(10)) {
      parts.push(next);
      next = Buffer.alloc(65_536);
      const count = readSync(this.#responses, next, 0, next.length, null);
      if (count === 0) return { error: 'the process has ended', cpu: 0, bytes: 0 };
      next = next.subarray(0, count);
    }
    const end = next.indexOf(10);
    this.#rest = Buffer.from(next.subarray(end + 1));
    const line = Buffer.concat([...parts, next.subarray(0, end)]).toString();
    return JSON.parse(line) as Response;
  }

  /** Throws an error with the text of the peer when a request fails. */
  request(body: object): Response {
    writeSync(this.#requests, `${JSON.stringify(body)}\n`);
    const response = this.read();
    if (response.error !== undefined) throw new Error(response.error);
    return response;
  }

  /** Resolves when the process has ended. */
  async end(): Promise<void> {
    this.#child.ref();
    const ended = new Promise((done) => this.#child.once('exit', done));
    closeSync(this.#requests);
    closeSync(this.#responses);
    if (this.#child.exitCode === null && this.#child.signalCode === null) await ended;
  }
}

/**
 * Starts a peer, which builds its whole index when the last rows are added. Returns undefined, with a printed
 * reason, when the peer does not start. `python` is the program that runs it.
 */
export function startPythonPeer(
  set: VectorSet,
  { name, kind, widths, isGraph, options }: PythonPeer,
  python = environmentPython,
): (Contender & { searchAll: NonNullable<Contender['searchAll']> }) | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'vector-peer-'));
  const data = join(folder, 'data');
  writeData(set, data);
  const peer = new PeerProcess(python, [program, kind, data, JSON.stringify(options)], folder);
  const close = async (): Promise<void> => {
    await peer.end();
    rmSync(folder, { recursive: true });
  };
  const { error } = peer.read();
  if (error !== undefined) {
    console.log(`${name} is left out: ${error}`);
    void close();
    return undefined;
  }
  let width = 0;
  let bytes = 0;
  const search = (k: number, ids: boolean): Response =>
    peer.request({ op: 'search', k, width: isGraph ? Math.max(k, width) : width, ids });
  return {
    name,
    widths,
    isGraph,
    add: () => {},
    addRange: (_, to) => {
      if (to < set.base.length) return 0;
      const built = peer.request({ op: 'build' });
      bytes = built.bytes;
      return built.cpu;
    },
    finish: () => {},
    setWidth: (next) => {
      width = next;
    },
    search: () => [],
    searchAll: (k) => {
      const { cpu, ids } = search(k, true);
      return { seconds: cpu, found: ids ?? [] };
    },
    timeAll: (k) => search(k, false).cpu,
    bytes: () => bytes,
    close,
  };
}
