// `npm run bench -- sizing`: how many machines a graph needs that is divided over many databases, and what
// asking all of them costs. Nothing is measured here: it is arithmetic and a simulation over figures that
// were, each of which an option replaces.
import { numberOption } from '../support/bench-option.js';
import { randomOf } from '../support/seeded-random.js';
import { type Cell, printTable } from '../support/table.js';

const standards = {
  vectors: 1e10,
  edges: 1e11,
  /** Elements of one database: ids are 32 bits, never reused. */
  'shard-elements': 1e9,
  copies: 3,
  'edge-bytes': 160,
  'vector-bytes': 170,
  /** GB of memory of a machine, and the share of it that may be used. */
  machine: 512,
  'machine-share': 0.85,
  cores: 32,
  /** Vectors a second and core, linked into an index. */
  'build-rate': 2190,
  /** GB/s of a snapshot that is read, and of the network. */
  'load-rate': 1.4,
  network: 1.25,
  /** A year, USD per GB. */
  'ram-price': 5,
  'disk-price': 0.15,
  /**
   * Response times of one shard in ms: the median, the spread of the logarithm, how often it pauses, and
   * how long.
   */
  median: 0.35,
  spread: 0.8,
  'pause-share': 0.001,
  pause: 20,
  hedge: 1.5,
  queries: 4000,
  seed: 1,
};

type Plan = typeof standards;

/** Bytes of memory of one vector: `perNumber` for each of its numbers, and `more`. */
interface Layout {
  dimension: number;
  name: 'compact' | 'fast';
  perNumber: number;
  more: number;
}

const layouts: Layout[] = [384, 1536].flatMap((dimension) => [
  { dimension, name: 'compact' as const, perNumber: 1.1, more: 300 },
  { dimension, name: 'fast' as const, perNumber: 9.1, more: 600 },
]);

function sizeOf(plan: Plan, { dimension, name, perNumber, more }: Layout): Cell[] {
  const room = plan.machine * plan['machine-share'];
  const ramOf = (shards: number): number =>
    ((plan.vectors / shards) * (perNumber * dimension + more)) / 1e9;
  let shards = Math.ceil((plan.vectors + plan.edges) / plan['shard-elements']);
  while (ramOf(shards) > room) shards *= 2;
  const ram = ramOf(shards);
  const vectors = plan.vectors / shards;
  const file =
    ((plan.edges / shards) * plan['edge-bytes'] +
      vectors * (4 * dimension + plan['vector-bytes'])) /
    1e9;
  const replicas = shards * plan.copies;
  const machines = Math.ceil(replicas / Math.floor(room / ram));
  const price = replicas * (ram * plan['ram-price'] + file * plan['disk-price']);
  return [
    `${dimension} ${name}`,
    shards,
    ram,
    file,
    (replicas * ram) / 1e3,
    (replicas * file) / 1e3,
    vectors / (plan['build-rate'] * plan.cores) / 60,
    ram / plan['load-rate'] / 60,
    (ram + file) / plan.network / 60,
    machines,
    price / 1e6,
  ];
}

/**
 * Returns p50 and p99 in ms of a request to `shards` shards in parallel. Late ones are asked a second
 * time after `hedge` ms.
 */
function scatter(plan: Plan, shards: number, hedge: number): [number, number] {
  const random = randomOf(plan.seed);
  const one = (): number => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const pause = random() < plan['pause-share'] ? plan.pause : 0;
    return plan.median * Math.exp(plan.spread * normal) + pause;
  };
  const times = Array.from({ length: plan.queries }, () => {
    let slowest = 0;
    for (let shard = 0; shard < shards; shard++) {
      const first = one();
      slowest = Math.max(slowest, first > hedge ? Math.min(first, hedge + one()) : first);
    }
    return slowest;
  }).sort((a, b) => a - b);
  return [times[times.length >> 1]!, times[Math.floor(times.length * 0.99)]!];
}

export async function run(args: string[]): Promise<void> {
  const plan = { ...standards };
  for (const key of Object.keys(plan) as (keyof Plan)[])
    plan[key] = numberOption(args, key, standards[key]);
  console.log(`Taken for granted: ${JSON.stringify(plan)}\n`);
  const columns = [
    'dimension, layout',
    'shards',
    'RAM GB',
    'file GB',
    'all RAM TB',
    'all files TB',
  ];
  const times = ['rebuild min', 'load min', 'copy min', 'machines', 'M USD a year'];
  const rows = layouts.map((layout) => sizeOf(plan, layout));
  console.log(`${printTable([...columns, ...times], rows)}\n`);
  const most = rows[0]![1] as number;
  const answers = [1, 16, most].map((shards): Cell[] => [
    `${shards} shards`,
    ...scatter(plan, shards, Number.POSITIVE_INFINITY),
    ...scatter(plan, shards, plan.hedge),
  ]);
  const asked = ['asked', 'p50 ms', 'p99 ms', 'hedged p50', 'hedged p99'];
  console.log(printTable(asked, answers));
}
