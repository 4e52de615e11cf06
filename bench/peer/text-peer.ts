// Keyword search engines that are Python packages, each in a process of its own with one thread. They time their
// searches themselves, so no pipe is between a query and its results.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Timing } from '../support/sample-times.js';
import { PeerProcess } from './peer-process.js';
import {
  type PythonPackage,
  environmentPython,
  installPackage,
  makeEnvironment,
} from './python-environment.js';

export interface TextPeer {
  name: string;
  /** Seconds of the build. */
  seconds: number;
  cpu: number;
  /** Times the searches of one list of queries. */
  time(queries: number, seconds: number): Timing;
  /** The ten best of each query. */
  search(queries: number): number[][];
  close(): Promise<void>;
}

/** Packages by their names in `--peers`. Versions are fixed, so that two runs compare the same code. */
const packages: Readonly<Record<string, PythonPackage & { name: string }>> = {
  tantivy: { name: 'Tantivy', spec: 'tantivy==0.27.0', module: 'tantivy', pip: [] },
  bm25s: { name: 'bm25s', spec: 'bm25s==0.3.16', module: 'bm25s', pip: [] },
};

const program = resolve('bench', 'peer', 'text-peer.py');

/**
 * Starts the named peers and builds their indexes. `queries`: lists of texts, which `time` and `search` name by
 * their places. A printed line gives the reason for each peer that is not available here.
 */
export function textPeers(
  names: readonly string[],
  documents: readonly string[],
  queries: readonly (readonly string[])[],
): TextPeer[] {
  const wanted = names.filter((name) => Object.hasOwn(packages, name));
  const noEnvironment = wanted.length === 0 ? undefined : makeEnvironment();
  return wanted.flatMap((kind) => {
    const reason = noEnvironment ?? installPackage(packages[kind]!);
    if (reason === undefined) return start(kind, { documents, queries });
    console.log(`${packages[kind]!.name} is left out: ${reason}`);
    return [];
  });
}

function start(kind: string, data: object): TextPeer[] {
  const { name } = packages[kind]!;
  const folder = mkdtempSync(join(tmpdir(), 'text-peer-'));
  const path = join(folder, 'data.json');
  writeFileSync(path, JSON.stringify(data));
  const peer = new PeerProcess(environmentPython, [program, kind, path], folder);
  const close = async (): Promise<void> => {
    await peer.end();
    rmSync(folder, { recursive: true });
  };
  const { error } = peer.read();
  if (error !== undefined) {
    console.log(`${name} is left out: ${error}`);
    void close();
    return [];
  }
  const built = peer.request<{ seconds: number; cpu: number }>({ op: 'build' });
  return [
    {
      name,
      ...built,
      time: (list, seconds) => peer.request<Timing>({ op: 'time', queries: list, seconds }),
      search: (list) => peer.request<{ found: number[][] }>({ op: 'search', queries: list }).found,
      close,
    },
  ];
}
