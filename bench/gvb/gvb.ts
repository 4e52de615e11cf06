// `npm run bench -- gvb [--scale 0.1] [--contenders trellis,surreal,kuzu,lance] [--part embedded,http]`: runs
// the workloads of HelixDB's graph-vector-bench on users, items with vectors, and edges. Uses the embedded
// API, compared with embedded peers, and the HTTP server. Loaded data stay in the temporary folder between
// runs.
import { availableParallelism } from 'node:os';
import { listOption, numberOption } from '../support/bench-option.js';
import { type GvbContender, type Workload, recallOf, workloads } from './gvb-contender.js';
import { type Gvb, loadGvb } from './gvb-data.js';
import { runGvbHttp } from './gvb-http.js';
import { lanceContender } from './gvb-lance.js';
import { kuzuContender, surrealContender } from './gvb-peer.js';
import { fillStore, trellisEmbedded } from './gvb-trellis.js';
import { type Timing, interleave, sideBySide } from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';

interface Options {
  scale: number;
  seconds: number;
  rounds: number;
  widths: number[];
  contenders: readonly string[];
  parts: readonly string[];
  workloads: readonly Workload[];
}

function readOptions(args: string[]): Options {
  return {
    scale: numberOption(args, 'scale', 1),
    seconds: numberOption(args, 'seconds', 1),
    rounds: numberOption(args, 'rounds', 3),
    widths: listOption(args, 'concurrency', ['1', '16', '64', '256']).map(Number),
    contenders: listOption(args, 'contenders', ['trellis', 'surreal', 'kuzu', 'lance']),
    parts: listOption(args, 'part', ['embedded', 'http']),
    workloads: listOption(args, 'workloads', workloads) as Workload[],
  };
}

async function openContenders({ data }: Gvb, options: Options): Promise<GvbContender[]> {
  const { scale } = options;
  const makers: Record<string, () => Promise<GvbContender | undefined>> = {
    trellis: async () => trellisEmbedded(data, await fillStore(data, scale)),
    surreal: () => surrealContender(data, scale),
    kuzu: () => kuzuContender(data, scale),
    lance: () => lanceContender(data),
  };
  const found: GvbContender[] = [];
  for (const name of options.contenders) {
    const contender = await makers[name]!();
    if (contender !== undefined) found.push(contender);
  }
  return found;
}

const columns = [
  'workload',
  'parallel',
  'contender',
  'calls/s',
  'p50 us',
  'p99 us',
  'CPU us/call',
  'recall',
  'ours is',
];

/** One workload at one width: everyone in turn, several rounds. */
async function compare(
  gvb: Gvb,
  contenders: readonly GvbContender[],
  workload: Workload,
  width: number,
  options: Options,
): Promise<Timing[]> {
  const requests = contenders.map(({ users }) => gvb.requestsFor(users));
  return interleave(contenders, options.rounds, (contender) => {
    const own = requests[contenders.indexOf(contender)]!;
    const call = contender.run[workload]!;
    return sideBySide((n) => call(own[n % own.length]!), width, options.seconds);
  });
}

/** A round at this width must not take minutes: in-flight calls are waited for. */
const roundSecondsMax = 6;

async function measureWorkload(
  gvb: Gvb,
  contenders: readonly GvbContender[],
  workload: Workload,
  options: Options,
): Promise<Cell[][]> {
  const rows: Cell[][] = [];
  const recalls: number[] = [];
  for (const contender of contenders) {
    const sample = gvb.requestsFor(contender.users).slice(0, 200);
    recalls.push(await recallOf(contender, workload, sample));
  }
  const alone = await compare(gvb, contenders, workload, 1, { ...options, rounds: 1 });
  for (const width of options.widths) {
    const isFast = (i: number): boolean =>
      (alone[i]!.cpu * width) / 1e6 / availableParallelism() < roundSecondsMax;
    const able = contenders.filter((_, i) => isFast(i));
    const timings = await compare(gvb, able, workload, width, options);
    for (const [i, contender] of contenders.entries()) {
      const { name } = contender;
      const timing = timings[able.indexOf(contender)];
      if (timing === undefined) rows.push([workload, `${width}`, name, 'too slow', ...noFigures]);
      else {
        const { perSecond, p50, p99, cpu } = timing;
        const times = i === 0 ? '' : `${(timings[0]!.perSecond / perSecond).toFixed(1)}x`;
        rows.push([workload, `${width}`, name, perSecond, p50, p99, cpu, recalls[i]!, times]);
      }
    }
  }
  return rows;
}

const noFigures = ['', '', '', '', ''];

async function runEmbedded(gvb: Gvb, options: Options): Promise<void> {
  const contenders = await openContenders(gvb, options);
  const rows: Cell[][] = [];
  for (const workload of options.workloads) {
    const able = contenders.filter(({ run }) => run[workload] !== undefined);
    if (able.length > 0) rows.push(...(await measureWorkload(gvb, able, workload, options)));
  }
  if (rows.length > 0)
    console.log(`\nIn process, objects in and out\n\n${printTable(columns, rows)}`);
  for (const contender of contenders) await contender.close();
}

export async function run(args: string[]): Promise<void> {
  const options = readOptions(args);
  const gvb = await loadGvb(options.scale);
  if (gvb === undefined) return;
  const { users, items, edges } = gvb.data;
  const counts = [users, items, edges].map((count) => count.toLocaleString('en-US'));
  console.log(`${counts[0]} users, ${counts[1]} items with vectors of 256, ${counts[2]} edges`);
  if (options.parts.includes('embedded')) await runEmbedded(gvb, options);
  if (options.parts.includes('http'))
    await runGvbHttp(gvb, await fillStore(gvb.data, options.scale), options);
}
