// Failing calls (T5): the n-th call that changes a server's files fails, for every n until one run
// passes without a fault, in four ways. The server may go read-only or end with a code of the
// catalogue; it never answers wrong data, and what it acknowledged is there at the next start.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { crashSources, Oracle } from '../crash/oracle.js';
import { makeFolder, removeFolder, writeProject } from '../../support/project.js';
import { noteProof } from '../../support/proof.js';
import { type Exit, Server, StartFailed } from '../../support/server/server.js';
import { ImageEngine } from '../support/image-engine.js';
import { Recorder, whyNoRecorder } from '../support/recorder.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const seed = Number(process.env.TRELLIS_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const missing = whyNoRecorder();
const config = { 'storage.ballast': 0, 'storage.min_free': 0, 'log.level': 'error' };
/** Exit codes that name what is wrong (operations.md 1): 70 would be a defect. */
const sound = [0, 65, 71, 74, 75, 76, 78];
/**
 * lmdb 3.5.6 (mdb.c) says this of a write that failed, and then prints a longer text into 100 bytes: its heap is
 * broken, and the C library ends the process. Nothing above it can hinder that; what the next start finds is
 * checked as for any other end.
 */
const lmdbWriteError = /^Write error: .+ position \d+, size \d+/m;
const isOfLmdb = ({ signal }: Exit, { stderr }: Server): boolean =>
  signal === 'SIGABRT' && lmdbWriteError.test(stderr);
/** Reading fails like this where nobody answers any more. */
const goneAway = /^reading: .*(ECONNREFUSED|ECONNRESET|EPIPE|closed before a whole reply)/;

let original: string;
let known: Oracle;

beforeAll(async () => {
  if (missing !== undefined) return;
  original = makeFolder();
  mkdirSync(join(original, 'project'));
  writeProject(join(original, 'project'), { sources: crashSources, config });
  known = new Oracle(1);
  const server = await new Server(original, {}).start();
  await known.load(server, 2, acknowledged(known, 20));
  await server.stop();
});
/** Resolves when that many writes more are answered, or can no longer be. */
async function acknowledged(oracle: Oracle, count: number, server?: Server): Promise<void> {
  const answered = (): number => oracle.acknowledged + oracle.refused.length;
  const end = answered() + count;
  while (answered() < end && server?.child.exitCode == null && server?.child.signalCode == null) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

interface Run {
  /** Whether any call failed. */
  injected: boolean;
  /** What it was. */
  call: string;
  /** Ended by LMDB's own fault. */
  aborted: boolean;
  faults: string[];
}

/** Reads everything; where the last page of a commit failed, the file is opened again meanwhile. */
async function checkReads(oracle: Oracle, server: Server): Promise<string[]> {
  for (let left = 40; ; left--) {
    try {
      return await oracle.check(server, 4);
    } catch (error) {
      const { message } = error as Error;
      if (left === 0 || !message.includes('NOT_READY')) return [`reading: ${message}`];
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** What a run does and answers while a call of it fails. */
async function live(server: Server, oracle: Oracle, faults: string[]): Promise<Exit> {
  try {
    await server.start({ readyMs: 40_000 });
  } catch (error) {
    if (error instanceof StartFailed) return error.exit;
    throw error;
  }
  await oracle.load(server, 2, acknowledged(oracle, 10, server));
  const snapshot = await server.client.request({ path: '_admin/snapshot' }).catch(() => undefined);
  if (snapshot?.text.includes('INTERNAL')) faults.push(`snapshot: ${snapshot.text}`);
  await oracle.load(server, 2, acknowledged(oracle, 4, server));
  if (server.child.exitCode === null) faults.push(...(await checkReads(oracle, server)));
  faults.push(
    ...oracle.refused.filter((text) => !/READ_ONLY|NOT_READY|INSUFFICIENT_STORAGE/.test(text)),
  );
  return server.stop();
}

async function runWith(n: number, how: string, engine: ImageEngine): Promise<Run> {
  const folder = makeFolder();
  cpSync(original, folder, { recursive: true });
  const recorder = new Recorder(folder, join(makeFolder(), 'log'), { fail: `${n}:${how}` });
  const oracle = known.at(Number.POSITIVE_INFINITY);
  const server = new Server(folder, { env: recorder.env, args: ['--allow-preload'] });
  const living: string[] = [];
  const exit = await live(server, oracle, living).catch((error: Error): Exit => {
    living.push(error.message);
    return { code: 0, signal: null };
  });
  const aborted = isOfLmdb(exit, server);
  const faults = living.filter((fault) => !(aborted && goneAway.test(fault)));
  if (!aborted && !sound.includes(exit.code ?? -1)) {
    faults.push(`ended with ${exit.code ?? exit.signal}: ${server.stderr.slice(-600)}`);
  }
  await server.kill();
  const fault = recorder.records().find(({ kind }) => kind === 'fault');
  try {
    await engine.open(server.data, crashSources);
    faults.push(...(await oracle.check(engine, 10)), ...(await engine.verify()));
  } catch (error) {
    faults.push(`the next start: ${(error as Error).message}`);
  } finally {
    await engine.close();
  }
  removeFolder(folder);
  const call = fault === undefined ? 'no call' : `call ${n} (${fault.failed})`;
  return { injected: fault !== undefined, call, aborted, faults };
}

/** In the short run a call in the middle of a commit, and the one that ends it. */
const some = [21, 22];
/** EIO meets every call, the others a third of them. */
const strides: [how: string, stride: number][] = [
  ['EIO', 1],
  ['ENOSPC', 3],
  ['SHORT', 3],
  ['EINTR', 3],
];
const callsMax = 2000;

describe.skipIf(missing !== undefined)('T5 a call fails', () => {
  // Most of a run is waiting: for a server that starts, and for its disk.
  test.concurrent.each(long ? strides : strides.slice(0, 1))(
    '%s',
    async (how, stride) => {
      const engine = new ImageEngine();
      const numbers = long
        ? Array.from({ length: callsMax }, (_, i) => 1 + (seed % stride) + i * stride)
        : some;
      const found: string[] = [];
      let runs = 0;
      let aborts = 0;
      for (const n of numbers) {
        const { injected, call, aborted, faults } = await runWith(n, how, engine);
        if (aborted) aborts++;
        if (faults.length > 0) found.push(`${how} ${call}: ${faults.slice(0, 5).join('\n  ')}`);
        if (long && !injected) break;
        runs++;
      }
      await engine.end();
      expect(found, found.join('\n')).toEqual([]);
      const ends = `${aborts} of them ended in a SIGABRT of LMDB's own`;
      const held = 'no wrong data, nothing acknowledged lost';
      noteProof('T5', `${runs} calls failed with ${how}, ${ends}: ${held}`);
    },
    3_600_000,
  );
});
