// The whole system against a model (T1, T2): random clients make every kind of call, while the server
// is killed at random moments and at named places, or stopped; what is there after each restart must
// be what is believed, and its deep check must be clean. A failing run is repeated with its seed:
// TRELLIS_TEST_SEED.
import { expect, test } from 'vitest';
import { noteProof } from '../support/proof.js';
import { Random } from '../support/random.js';
import { commandHere } from '../support/server/command-here.js';
import { StartFailed, startServer, type Server } from '../support/server/server.js';
import { ImageEngine } from './support/image-engine.js';
import { worldSources } from './support/world.js';
import { checkWorld } from './support/world-check.js';
import { World } from './support/world-load.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
/** Of each of the seeds, which run beside each other. */
const deaths = long ? 500 : 3;
/**
 * Calls to be acknowledged meanwhile: lives that end at an early place hold few, so that as many more
 * follow as it takes.
 */
const wanted = deaths * 9;
const given = process.env.TRELLIS_TEST_SEED;
const seeds = long ? 2 : 1;
const config = { 'storage.ballast': 0, 'storage.min_free': 0, 'log.level': 'warn' };

/** Places where a write, a snapshot, a reload, an import, a start or a stop may die. */
const points = [
  ...['W5', 'W6', 'beforeSyncDataPages', 'W9', 'W10', 'W11', 'W12'],
  ...['W13', 'midSnapshotBlock', 'W14', 'afterSnapshotRename', 'beforeDirFsync', 'W15'],
  ...['beforeVlogTrim', 'W16', 'midReload', 'inShutdown', 'midRebuild', 'loadPiece'],
];
const passes = [1, 2, 7, 100];

interface Death {
  how: string;
  env: Record<string, string>;
}

/** How the next life of a server ends; the longest way is a place that it may never pass. */
function nextDeath(random: Random): Death {
  const env: Record<string, string> = {};
  if (random.chance(0.3)) env.TRELLIS_SNAPSHOT_AFTER_WRITES = String(random.pick([20, 100]));
  const dice = random.next();
  if (dice < 0.5) return { how: 'kill -9', env };
  if (dice < 0.6) return { how: 'SIGTERM', env };
  const failpoint = `${random.pick(points)}@${random.pick(passes)}:kill`;
  return { how: failpoint, env: { ...env, TRELLIS_FAILPOINT: failpoint } };
}

/** How a server is started besides: which threads take connections, and by what. */
const optionsOf = (random: Random): Record<string, string> => ({
  TRELLIS_SERVER_HTTP_THREADS: String(1 + random.below(3)),
  TRELLIS_SERVER_TRANSPORT: random.pick(['auto', 'node']),
});

/** The first of many faults: their messages are cut short otherwise. */
const few = (faults: readonly string[]): string[] => faults.slice(0, 5);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const timeout = long ? 3_600_000 : 120_000;

/** Lets one life of a server run to its end. Gives how it really ended. */
async function live(server: Server, world: World, random: Random, death: Death): Promise<string> {
  const ended = server.exit(60_000);
  const load = world.load(server, 1 + random.below(16), ended);
  // Some calls at least, and not longer than it takes a place to be passed.
  const enough = world.acknowledged + (death.how.includes('@') ? 120 : 10);
  await Promise.race([pause(50 + random.below(long ? 250 : 150)), ended]);
  while (world.acknowledged < enough && server.child.exitCode === null) {
    await Promise.race([pause(10), ended]);
    if (server.child.signalCode !== null) break;
  }
  const passed = server.child.signalCode !== null;
  if (!passed) {
    if (death.how === 'SIGTERM' || death.how.startsWith('inShutdown')) {
      server.child.kill('SIGTERM');
      await Promise.race([ended, pause(20_000)]);
    }
    if (server.child.signalCode === null && server.child.exitCode === null) await server.kill();
  }
  await load;
  const { code, signal } = await ended;
  const isSound = signal === 'SIGKILL' || (signal === null && code === 0);
  if (!isSound) world.faults.push(`ended with ${code ?? signal}: ${server.stderr.slice(-500)}`);
  return passed ? `${death.how}, passed` : death.how;
}

/** The deep check of the data at rest, by the engine or now and then by the command. */
async function verify(server: Server, engine: ImageEngine, world: World, nth: number) {
  if (nth % 25 === 0) {
    const { code, stdout, stderr } = await commandHere(['verify', server.data, '--deep']);
    return code === 0 ? [] : [`verify: ${stdout}${stderr}`];
  }
  try {
    await engine.open(server.data, { 'main.hx': worldSources(world.version) });
    return await engine.verify();
  } catch (error) {
    return [(error as Error).message];
  } finally {
    await engine.close();
  }
}

async function runModel(seed: number): Promise<World> {
  const random = new Random(seed);
  const world = new World(random);
  const engine = new ImageEngine();
  const server = await startServer({ sources: { 'main.hx': worldSources(1) }, config });
  await world.found(server.client);
  const ends = new Map<string, number>();
  let nth = 1;
  try {
    let death: Death = { how: 'kill -9', env: {} };
    for (; nth <= deaths || world.acknowledged <= wanted; nth++) {
      const how = await live(server, world, random, death);
      ends.set(how, (ends.get(how) ?? 0) + 1);
      const where = `seed ${seed}, death ${nth} (${how})`;
      expect(few(world.faults), where).toEqual([]);
      if (nth % 2 === 0) expect(await verify(server, engine, world, nth), where).toEqual([]);
      death = nextDeath(random);
      const options = optionsOf(random);
      const env = { ...death.env, ...options };
      const workers = 1 + random.below(3);
      // A place on the way of a start may kill it.
      await server.start({ env, workers }).catch(async (error) => {
        if (!(error instanceof StartFailed) || error.exit.signal !== 'SIGKILL') throw error;
        ends.set(`${death.how}, at the start`, 1);
        await server.start({ env: options, workers });
      });
      expect(few(await checkWorld(world, server, random, 6)), where).toEqual([]);
    }
  } finally {
    engine.end();
    await server.dispose();
  }
  const places = [...ends.keys()].filter((how) => how.includes(','));
  const calls = [...world.done].map(([path, count]) => `${path} ${count}`).join(', ');
  noteProof('T1', `seed ${seed}: ${nth - 1} deaths of a server, acknowledged: ${calls}; 0 lost`);
  noteProof('T2', `seed ${seed}: died at ${places.length} named places and passes, none harmful`);
  return world;
}

test.concurrent.each(
  Array.from({ length: seeds }, (_, i) =>
    given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given) + i,
  ),
)(
  `T1 T2 ${deaths} deaths under every kind of call, seed %i [I1] [I2]`,
  async (seed) => {
    const world = await runModel(seed);
    expect(world.acknowledged).toBeGreaterThan(wanted);
  },
  timeout,
);
