// `npm run bench -- embedded [--peers sqlite,grafeo] [--only create]`: the engine inside this process, `open()`
// and calls on this thread: latencies of point reads, hops of 20 rows and durable writes, one client. SQLite and
// Grafeo run the same operations on the same data in turns. Then calls that return bytes, and 64 and 256 writes
// in parallel, of ours alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedDatabase } from '../../engine/internal.js';
import { listOption, numberOption } from '../support/bench-option.js';
import {
  type Task,
  type Timing,
  interleave,
  oneByOne,
  sideBySide,
} from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';
import {
  type EmbeddedContender,
  type Operation,
  hubs,
  makePeople,
  operations,
  people,
} from './embedded-contender.js';
import { grafeoContender } from './grafeo-contender.js';
import { sqliteContender } from './sqlite-contender.js';
import { openPeople, trellisContender } from './trellis-contender.js';
import { turn } from './turns.js';

interface Options {
  seconds: number;
  rounds: number;
  peers: readonly string[];
  only: readonly string[];
}

/** Calls that give bytes, and parallel writes: what other systems have no counterpart of. */
function ownMeasurements(db: EmbeddedDatabase, ids: readonly string[], seconds: number) {
  let created = 0;
  const bytes = (name: string, args: (n: number) => Record<string, unknown>): Task => {
    return (n) => db.callBytes(name, args(n));
  };
  const any = (n: number) => ({ id: ids[turn(n, people)] });
  const hub = (n: number) => ({ id: ids[turn(n, hubs)] });
  const alone = (task: Task) => (): Promise<Timing> => oneByOne(task, seconds);
  const create: Task = () => db.callBytes('create', { name: `parallel ${created++}` });
  // Persons beyond the hubs, so that the hops stay at 20 rows.
  const far = (n: number): string => ids[hubs + turn(n, people - hubs)]!;
  const edge: Task = (n) => db.callBytes('join', { a: far(n), b: far(n + 1) });
  return [
    { name: 'point read by id, bytes', time: alone(bytes('person', any)) },
    { name: 'hop, 20 whole rows, bytes', time: alone(bytes('friends', hub)) },
    { name: 'hop, 20 rows of 2 members, bytes', time: alone(bytes('friendNames', hub)) },
    { name: 'durable edge, 256 parallel', time: () => sideBySide(edge, 256, seconds) },
    { name: 'durable create, 64 parallel', time: () => sideBySide(create, 64, seconds) },
    { name: 'durable create, 256 parallel', time: () => sideBySide(create, 256, seconds) },
  ];
}

/** Ends the process with an error if a contender holds other data than the first. */
async function checkData(contenders: readonly EmbeddedContender[]): Promise<void> {
  const [wanted, ...others] = await Promise.all(contenders.map(({ check }) => check(7)));
  for (const [i, found] of others.entries()) {
    found.friends.sort();
    wanted!.friends.sort();
    if (JSON.stringify(found) === JSON.stringify(wanted)) continue;
    console.log(`${contenders[i + 1]!.name} holds other data: ${JSON.stringify(found)}`);
    process.exitCode = 1;
  }
}

export const columns = [
  'call',
  'contender',
  'calls/s',
  'p50 us',
  'p99 us',
  'CPU us/call',
  'p50 ratio',
  'CPU ratio',
];

/** Every contender in turn. The ratios are the peer's figure divided by ours: below 1 the peer is better. */
export async function compareOperation(
  contenders: readonly EmbeddedContender[],
  operation: Operation,
  { seconds, rounds }: Pick<Options, 'seconds' | 'rounds'>,
): Promise<Cell[][]> {
  // A delete takes one of those that the creates before it have added.
  const isDelete = operation === 'durable delete';
  const countMax = isDelete ? 200 : Infinity;
  if (!isDelete) for (const { tasks } of contenders) await oneByOne(tasks[operation], seconds);
  const timings = await interleave(contenders, rounds, async ({ tasks }) => {
    if (isDelete) for (let i = 0; i < countMax; i++) await tasks['durable create'](i);
    return oneByOne(tasks[operation], seconds, countMax);
  });
  const [own] = timings;
  return timings.map(({ p50, cpu, rounds: spreads }, i): Cell[] => {
    const { name, isDurable } = contenders[i]!;
    const isMarked = operation.startsWith('durable') && !isDurable;
    const beside = [p50 / own!.p50, cpu / own!.cpu].map((ratio) => `${ratio.toFixed(2)}x`);
    // A write that is not on the disk has done less: there is no ratio.
    const ratios = i === 0 ? ['', ''] : isMarked ? ['-', '-'] : beside;
    const contender = isMarked ? `${name}, not durable` : name;
    return [
      operation,
      contender,
      spreads.perSecond,
      spreads.p50,
      spreads.p99,
      spreads.cpu,
      ...ratios,
    ];
  });
}

/** Runs `work` with TrellisDB and the peers that can be had, all with the same people. */
export async function withContenders(
  peers: readonly string[],
  work: (
    contenders: readonly EmbeddedContender[],
    own: { db: EmbeddedDatabase; ids: readonly string[] },
  ) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'trellisdb-bench-'));
  const data = makePeople();
  const own = await openPeople(join(folder, 'trellis'), data);
  const found = [
    trellisContender(own.db, own.ids),
    peers.includes('sqlite') ? await sqliteContender(folder, data) : undefined,
    peers.includes('grafeo') ? await grafeoContender(folder, data) : undefined,
  ];
  const contenders = found.filter((each) => each !== undefined);
  try {
    await checkData(contenders);
    await work(contenders, own);
  } finally {
    for (const contender of contenders) await contender.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function run(args: string[]): Promise<void> {
  const options: Options = {
    seconds: numberOption(args, 'seconds', 1),
    rounds: numberOption(args, 'rounds', 5),
    peers: listOption(args, 'peers', ['sqlite', 'grafeo']),
    only: listOption(args, 'only', ['']),
  };
  const isWanted = (name: string): boolean => options.only.some((word) => name.includes(word));
  await withContenders(options.peers, async (contenders, { db, ids }) => {
    const rows: Cell[][] = [];
    for (const operation of operations.filter(isWanted)) {
      rows.push(...(await compareOperation(contenders, operation, options)));
    }
    const list = ownMeasurements(db, ids, options.seconds).filter(({ name }) => isWanted(name));
    for (const { time } of list) await time();
    const timings = await interleave(list, options.rounds, ({ time }) => time());
    for (const [i, { rounds }] of timings.entries()) {
      const { perSecond, p50, p99, cpu } = rounds;
      rows.push([list[i]!.name, contenders[0]!.name, perSecond, p50, p99, cpu, '', '']);
    }
    console.log(printTable(columns, rows));
  });
}
