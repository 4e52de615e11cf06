// Power cuts (T3): a server writes while every call that changes its files is recorded, and so is
// what it has acknowledged at which point. From the record, states are built that a disk may be in
// after a cut: at synchronisations and between them, with any part of what was not synchronised.
// Each must open, hold all that was acknowledged and nothing by halves, and its indexes must agree
// with its rows. A server that does not synchronise must be found out.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { crashSources, Oracle } from '../crash/oracle.js';
import { makeFolder, removeFolder, writeProject } from '../../support/project.js';
import { noteProof } from '../../support/proof.js';
import { Random } from '../../support/random.js';
import { commandHere } from '../../support/server/command-here.js';
import { Server } from '../../support/server/server.js';
import { Disk, filesBelow, randomStyle } from '../support/disk-model.js';
import { ImageEngine } from '../support/image-engine.js';
import { type IoRecord, Recorder, whyNoRecorder } from '../support/recorder.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const images = long ? 500 : 20;
/** Of those, in the long run, so many begin a whole server. */
const servers = long ? 40 : 0;
const seed = Number(process.env.TRELLIS_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const config = { 'storage.ballast': 0, 'snapshot.after_writes': 200, 'storage.min_free': 0 };

const timeout = long ? 3_600_000 : 120_000;

const missing = whyNoRecorder();
if (missing !== undefined) console.info(`T3 is skipped: ${missing}`);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Recording {
  records: IoRecord[];
  oracle: Oracle;
  /** The recorded folder, and its inode. */
  top: string;
  inode: number;
}

/** Lives of a server on record, each a start, a load and a stop. */
async function recordServer(noSync: boolean, writes: number, lives = 2): Promise<Recording> {
  const folder = makeFolder();
  const project = join(folder, 'project');
  mkdirSync(project);
  writeProject(project, { sources: crashSources, config });
  const recorder = new Recorder(folder, join(makeFolder(), 'log'), { noSync });
  const oracle = new Oracle(seed, () => recorder.position());
  const server = new Server(folder, { env: recorder.env, args: ['--allow-preload'] });
  for (let life = 0; life < lives; life++) {
    await server.start();
    const before = oracle.acknowledged;
    const until = async (share: number): Promise<void> => {
      while (oracle.acknowledged < before + share * writes) await pause(5);
    };
    const load = oracle.load(server, 8, until(1));
    await until(0.5);
    await server.client.post('_admin/snapshot');
    await load;
    await server.stop();
  }
  expect(oracle.refused).toEqual([]);
  const records = recorder.records();
  expect(records.filter(({ kind }) => kind === 'foreign' || kind === 'fault')).toEqual([]);
  const recording = { records, oracle, top: recorder.folder, inode: statSync(folder).ino };
  if (!noSync) expectFollowed(recording, server.data);
  removeFolder(folder);
  return recording;
}

/** What was recorded is all that happened: at the end it makes the same files. */
function expectFollowed(recording: Recording, data: string): void {
  const disk = new Disk(recording.top, recording.inode);
  for (const record of recording.records) disk.apply(record);
  const copy = makeFolder();
  disk.write(copy, { name: 'everything', share: 1 }, new Random(1));
  expect(filesBelow(join(copy, 'data'))).toEqual(filesBelow(data));
  removeFolder(copy);
}

/** Records in whose middle, or before which, the power may go; mostly those that promise something. */
function cutsOf(records: readonly IoRecord[], count: number, random: Random): number[] {
  const promises = records.flatMap(({ kind, through }, at) =>
    kind === 'syncEnd' || kind === 'rename' || through ? [at, at + 1] : [],
  );
  const cut = (): number =>
    random.chance(0.8) ? random.pick(promises) : random.below(records.length + 1);
  return Array.from({ length: count }, cut).sort((a, b) => a - b);
}

interface Finding {
  image: string;
  faults: string[];
}

/** Builds `count` images, all `at` one record if told so, and looks at each; gives those with faults. */
async function examine(
  { records, oracle, top, inode }: Recording,
  count: number,
  look: (path: string, past: Oracle, number: number) => Promise<string[]>,
  at?: number,
): Promise<Finding[]> {
  const random = new Random(seed);
  const disk = new Disk(top, inode);
  const end = records.at(-1)!.position + 1;
  const findings: Finding[] = [];
  let applied = 0;
  const cuts = at === undefined ? cutsOf(records, count, random) : Array(count).fill(at);
  for (const [number, cut] of cuts.entries()) {
    while (applied < cut) disk.apply(records[applied++]!);
    const style = randomStyle(random);
    const path = makeFolder();
    const record = records[cut];
    const write = (): void => disk.write(path, style, random);
    if (record === undefined) write();
    else disk.during(record, write);
    const image = `image ${number}, seed ${seed}: before record ${cut} (${record?.kind}), ${style.name} ${style.share}`;
    const faults = await look(path, oracle.at(record?.position ?? end), number);
    if (faults.length > 0) findings.push({ image, faults: faults.slice(0, 10) });
    removeFolder(path);
  }
  return findings;
}

const engine = new ImageEngine();
afterAll(() => engine.end());

/** What is wrong with an image, as the engine sees it. */
const lookIn = (path: string, past: Oracle): Promise<string[]> =>
  engine.faultsIn(join(path, 'data'), past);

/** The same through a whole start of a server, and its own deep check at rest. */
async function serveFrom(path: string, past: Oracle): Promise<string[]> {
  const project = join(path, 'project');
  mkdirSync(project, { recursive: true });
  writeProject(project, { sources: crashSources, config });
  const server = new Server(path, {});
  try {
    await server.start();
    const faults = await past.check(server, 10);
    await server.stop();
    const { code, stdout } = await commandHere(['verify', server.data, '--deep']);
    return code === 0 ? faults : [...faults, stdout];
  } catch (error) {
    return [`${past.acknowledged} acknowledged: ${(error as Error).message}`];
  } finally {
    if (server.child.exitCode === null && server.child.signalCode === null) await server.kill();
  }
}

describe.skipIf(missing !== undefined)('T3 power cut', () => {
  test(
    `${images} states of the disk lose nothing that was acknowledged, seed ${seed} [I1] [I2]`,
    async () => {
      const recording = await recordServer(false, long ? 2000 : 60);
      const { oracle, records } = recording;
      const findings = await examine(recording, images, (path, past, number) =>
        number % (images / servers) < 1 ? serveFrom(path, past) : lookIn(path, past),
      );
      expect(findings).toEqual([]);
      noteProof(
        'T3',
        `${images} power-cut images (${servers} through a server) of ${records.length} recorded calls, ` +
          `${oracle.acknowledged} acknowledged writes: 0 lost, 0 partial`,
      );
    },
    timeout,
  );

  test(
    'a server that does not synchronise is found out',
    async () => {
      const recording = await recordServer(true, 60, 1);
      const count = long ? 20 : 3;
      // At its end: before, little has been acknowledged that could be lost.
      const findings = await examine(recording, count, lookIn, recording.records.length - 1);
      expect(findings.length).toBeGreaterThan(0);
      noteProof('T3', `canary without fsync: found out in ${findings.length} of ${count} images`);
    },
    timeout,
  );
});
