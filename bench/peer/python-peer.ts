// Runs the peers of a vector benchmark that are Python packages. The first run makes a Python environment in
// bench/peers/python (git-ignored: peers are measured, never shipped). Each peer is a process with one thread
// that runs vector-peer.py over two named pipes. A peer that is not available here prints one line and is
// left out.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { VectorSet } from '../support/vector-data.js';
import { writeData } from './cpp-peer.js';
import { PeerProcess } from './peer-process.js';
import {
  type PythonPackage,
  environmentPython,
  installPackage,
  makeEnvironment,
} from './python-environment.js';
import type { Contender } from './vector-peer.js';

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

interface VectorPackage extends PythonPackage {
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
export const pythonPackages: Readonly<Record<string, VectorPackage>> = {
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
  cpu: number;
  bytes: number;
  ids?: number[][];
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
    peer.request<Response>({ op: 'search', k, width: isGraph ? Math.max(k, width) : width, ids });
  return {
    name,
    widths,
    isGraph,
    add: () => {},
    addRange: (_, to) => {
      if (to < set.base.length) return 0;
      const built = peer.request<Response>({ op: 'build' });
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
