// Power cuts (T3) and the names of files: what a folder names is on the disk when the folder was synchronised, not
// when the file was. A database that is being made may be cut off anywhere, with any of the names that are not
// certain, and is opened again; and what a command has said is done is there by its name, in folders that
// are as new as it.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { crashSources, Oracle } from '../crash/oracle.js';
import { makeFolder, removeFolder, root, writeProject } from '../../support/project.js';
import { noteProof } from '../../support/proof.js';
import { Random } from '../../support/random.js';
import { runCli, Server } from '../../support/server/server.js';
import { Disk, filesBelow, type Style } from '../support/disk-model.js';
import { ImageEngine } from '../support/image-engine.js';
import { type IoRecord, Recorder, whyNoRecorder } from '../support/recorder.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const seed = Number(process.env.TRELLIS_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const config = { 'storage.ballast': 0, 'storage.min_free': 0 };

const missing = whyNoRecorder();
if (missing !== undefined) console.info(`T3 is skipped: ${missing}`);

const engine = new ImageEngine();
afterAll(() => engine.end());

/** A folder whose changes are recorded, with a project that was there before. */
function recorded() {
  const folder = makeFolder();
  const project = join(folder, 'project');
  mkdirSync(project);
  writeProject(project, { sources: crashSources, config });
  const recorder = new Recorder(folder, join(makeFolder(), 'log'));
  return { folder, project, recorder, inode: statSync(folder).ino };
}

const styles: Style[] = [
  { name: 'sectors', share: 0.5 },
  { name: 'one lost', share: 0.9 },
  { name: 'in order', share: 1 },
];

/** States behind a record: a name that takes the place of another may be there before those that it promises. */
const statesBehind = ({ kind }: IoRecord): number =>
  kind === 'rename' ? 12 : ['create', 'unlink', 'mkdir', 'syncBegin'].includes(kind) ? 2 : 0;

/** Builds states behind each of the records, and looks at all; how many, and what is wrong with which. */
async function lookAtStates(
  disk: Disk,
  records: readonly IoRecord[],
  look: (copy: string) => Promise<string[]>,
): Promise<[images: number, faults: string[]]> {
  const random = new Random(seed);
  const faults: string[] = [];
  let images = 0;
  for (const [at, record] of records.entries()) {
    disk.apply(record);
    const states = statesBehind(record) * (long ? 5 : 1);
    for (let state = 0; state < states; state++, images++) {
      const style = styles[state % styles.length]!;
      const copy = makeFolder();
      disk.write(copy, style, random);
      for (const fault of await look(copy))
        faults.push(`behind record ${at} (${record.kind}), ${style.name}: ${fault}`);
      removeFolder(copy);
    }
  }
  return [images, faults];
}

/** Files of databases and of commands, by their place; who holds a lock is no promise. */
const promisedIn = (folder: string): Map<string, number> =>
  new Map(
    [...filesBelow(folder)].filter(
      ([path]) => basename(path) !== 'LOCK' && !path.startsWith('project/'),
    ),
  );

/** Data of another node, fetched as `join.ts` does, take the place of those in a directory, which are kept elsewhere. */
async function takeCopy(
  from: string,
  data: string,
  kept: string,
  env: Record<string, string>,
): Promise<void> {
  const engineFile = pathToFileURL(join(root, 'dist/engine/internal.js')).href;
  const script = `
    import { copyFileSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
    import { copyPlaceIn, installNodeCopy } from ${JSON.stringify(engineFile)};
    const [, from, data, kept] = process.argv;
    const to = copyPlaceIn(data);
    mkdirSync(to + '/graph', { recursive: true });
    for (const name of ['MANIFEST.json', 'graph/data.mdb']) {
      copyFileSync(from + '/' + name, to + '/' + name);
      fsyncSync(openSync(to + '/' + name));
    }
    await installNodeCopy(data, kept);`;
  const argv = ['--input-type=module', '-e', script, from, data, kept];
  const child = spawn(process.execPath, argv, {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
}

type Recording = ReturnType<typeof recorded>;

/** Some writes, a snapshot and a backup by a server; what it has then. */
async function serveAndBackUp({ folder, recorder }: Recording): Promise<Oracle> {
  const oracle = new Oracle(seed);
  const server = new Server(folder, { env: recorder.env, args: ['--allow-preload'] });
  await server.start();
  await oracle.load(server, 2, new Promise((resolve) => setTimeout(resolve, 300)));
  await server.client.post('_admin/snapshot');
  await server.client.post('_admin/backup', { name: 'deep/served' });
  await server.stop();
  return oracle;
}

/** A command on record. */
async function run({ folder, project, recorder }: Recording, ...argv: string[]): Promise<void> {
  const { code, stderr } = await runCli([...argv, '--project', project], {
    env: { ...recorder.env, TRELLIS_LOG_LEVEL: 'error' },
    cwd: folder,
  });
  expect(code, `${argv[0]}: ${stderr}`).toBe(0);
}

describe.skipIf(missing !== undefined)('T3 power cut and names', () => {
  test(`a database that is cut off while it is made is made again, seed ${seed}`, async () => {
    const { folder, recorder, inode } = recorded();
    const server = new Server(folder, { env: recorder.env, args: ['--allow-preload'] });
    await server.start();
    await server.stop();
    const disk = new Disk(recorder.folder, inode);
    const nobody = new Oracle(seed);
    const [images, faults] = await lookAtStates(disk, recorder.records(), (copy) =>
      engine.faultsIn(join(copy, 'data'), nobody),
    );
    expect(faults).toEqual([]);
    expect(images).toBeGreaterThan(40);
    noteProof('T3', `${images} power-cut images of a first start, by names: all are opened`);
  }, 600_000);

  test('a directory that is being filled is whole, or says that it is not', async () => {
    const recording = recorded();
    const { folder, recorder, inode } = recording;
    const oracle = await serveAndBackUp(recording);
    const backup = join(folder, 'data', 'backups', 'deep', 'served');
    await run(recording, 'dump', join(folder, 'all.ndjson'), '--data', join(folder, 'data'));
    const disk = new Disk(recorder.folder, inode);
    const ways = {
      restored: ['restore', backup],
      loaded: ['load', join(folder, 'all.ndjson')],
    };
    let [known, looked, whole] = [0, 0, 0];
    for (const [place, argv] of Object.entries(ways)) {
      for (const record of recorder.records().slice(known)) disk.apply(record);
      const before = recorder.records().length;
      await run(recording, ...argv, '--data', join(folder, place));
      const records = recorder.records();
      known = records.length;
      const [images, faults] = await lookAtStates(disk, records.slice(before), async (copy) => {
        const data = join(copy, place);
        // Nobody takes this for a database.
        if (!existsSync(data) || readdirSync(data).length === 0) return [];
        const faults = await engine.faultsIn(data, oracle);
        if (faults.length === 0) whole++;
        return faults.filter((fault) => !fault.includes('a restore did not finish'));
      });
      expect([place, faults]).toEqual([place, []]);
      looked += images;
    }
    expect(whole).toBeGreaterThan(0);
    noteProof(
      'T3',
      `${looked} power-cut images of a restore and a load: ${whole} whole, the others say so`,
    );
  }, 600_000);

  test('the reported result of a command exists by its name', async () => {
    const recording = recorded();
    const { folder, recorder, inode } = recording;
    await serveAndBackUp(recording);
    const told = [{ step: 'serve', until: recorder.position(), files: promisedIn(folder) }];
    const tell = async (...argv: string[]): Promise<void> => {
      await run(recording, ...argv);
      told.push({ step: argv[0]!, until: recorder.position(), files: promisedIn(folder) });
    };
    const data = join(folder, 'data');
    const backup = join(data, 'backups', 'deep', 'rested');
    await tell('keys', 'add', 'first', '--role', 'read', '--data', join(folder, 'for', 'keys'));
    await tell('dump', join(folder, 'all.ndjson'), '--data', data);
    await tell('backup', 'deep/rested', '--data', data);
    await tell('restore', backup, '--data', join(folder, 'a', 'b'));
    await tell('load', join(folder, 'all.ndjson'), '--data', join(folder, 'c', 'd'));
    await tell('compact', '--data', data);
    await tell('verify', data, '--repair-derived');
    await takeCopy(backup, join(folder, 'c', 'd'), join(folder, 'kept', 'away'), recorder.env);
    told.push({ step: 'join', until: recorder.position(), files: promisedIn(folder) });

    const disk = new Disk(recorder.folder, inode);
    const records = recorder.records();
    const lost: string[] = [];
    let applied = 0;
    for (const { step, until, files } of told) {
      while (applied < records.length && records[applied]!.position < until)
        disk.apply(records[applied++]!);
      const copy = makeFolder();
      disk.write(copy, { name: 'nothing', share: 0 }, new Random(seed));
      const certain = promisedIn(copy);
      for (const [path, sum] of files) if (certain.get(path) !== sum) lost.push(`${step}: ${path}`);
      removeFolder(copy);
    }
    expect(lost).toEqual([]);
    noteProof(
      'T3',
      `what ${told.length} commands have told is there behind a power cut at their end`,
    );
  }, 300_000);
});
