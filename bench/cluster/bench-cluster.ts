// Starts the clusters of a benchmark: three log servers and three nodes on this machine. Also says which node
// leads, sends it durable writes, and counts the CPU time of each process. Needs `nats-server`
// (server/deploy/cluster), by TRELLIS_NATS_SERVER or on the PATH.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { requestBytes, sendHttp } from '../support/http-client.js';
import { endProcess } from '../support/load.js';

export const source = `
N::P { age: I64 }
QUERY add(age: I64) => p <- AddN<P>({ age: age }) RETURN p
QUERY count() => p <- N<P>::RANGE(0, 1) RETURN p::COUNT
`;
const thisBuild = fileURLToPath(new URL('../../..', import.meta.url));
export const settings = '[storage]\nmin_free = 0\nballast = 0\n';
/** Nodes have the three ports from here on, log servers those 1,000, 3,000 and 5,000 higher. */
const firstPort = 26_971;

export interface Cluster {
  urls: string[];
  /** Process of a node. */
  pidOf: (url: string) => number;
  /** Processes of the log servers. */
  logPids: number[];
  stop: () => Promise<void>;
}

/**
 * Starts a cluster of the build in a checkout, by default of this one. `place` counts the clusters that run at
 * the same time.
 */
export async function startCluster(checkout = thisBuild, place = 0): Promise<Cluster> {
  const port = firstPort + 10 * place;
  const script = join(resolve(checkout), 'server/deploy/cluster/start.mjs');
  const folder = mkdtempSync(join(tmpdir(), 'trellis-bench-cluster-'));
  writeFileSync(join(folder, 'main.hx'), source);
  writeFileSync(join(folder, 'trellis.toml'), settings);
  const env = { ...process.env, PORT: String(port), NATS_PORT: String(port + 1000) };
  const child = spawn(process.execPath, [script, folder], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await ready(child);
  const urls = [0, 1, 2].map((i) => `http://127.0.0.1:${port + i}`);
  const lockOf = (url: string): string =>
    join(folder, '.trellis/cluster', `node${urls.indexOf(url) + 1}`, 'LOCK');
  return {
    urls,
    pidOf: (url) => (JSON.parse(readFileSync(lockOf(url), 'utf8')) as { pid: number }).pid,
    logPids: childrenOf(child.pid!).filter((pid) => nameOf(pid).startsWith('nats-server')),
    stop: async () => {
      await endProcess(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Linux only, as all CPU figures here. Finds children by the parent that each process names, because some
 * sandboxes list no children.
 */
const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);

/** None where it has ended meanwhile. */
function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before it is in parentheses and may hold anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

const nameOf = (pid: number): string => readFileSync(`/proc/${pid}/comm`, 'utf8');

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout!.on('data', (text: Buffer) => {
      if (text.toString().includes('cluster ready')) resolve();
    });
    child.once('exit', () => reject(new RangeError('the cluster did not start')));
  });
}

interface Readiness {
  cluster?: { role: string; position: string };
}

/** One that is dead says nothing. */
const readiness = (url: string): Promise<Readiness> =>
  fetch(`${url}/readyz`).then(
    (reply) => reply.json() as Promise<Readiness>,
    () => ({}),
  );

export const seqOf = async (url: string): Promise<number> =>
  Number((await readiness(url)).cluster?.position.split('.')[1] ?? 0);

/** The node that leads, and the others. */
export async function rolesOf({ urls }: Cluster): Promise<{ leader: string; others: string[] }> {
  for (;;) {
    for (const leader of urls) {
      const { cluster } = await readiness(leader);
      if (cluster?.role === 'leader')
        return { leader, others: urls.filter((url) => url !== leader) };
    }
    await pause(50);
  }
}

export async function writeRun(url: string, connections: number, seconds: number) {
  const run = await sendHttp(url, [requestBytes('add', '{"age":1}')], { connections, seconds });
  if (run.failed > 0) throw new RangeError(`${run.failed} of ${run.count} failed`);
  return run;
}
