// `npm run bench -- live`: runs searches at a fixed rate over HTTP. Meanwhile, it adds vectors one by one and
// in bulk, drops them until the index consolidates, or writes snapshots. None of this may stall a search.
// Latencies count from the time at which a search was due.
import { numberOption } from '../support/bench-option.js';
import { type HttpTiming, requestBytes, sendHttp } from '../support/http-client.js';
import { startBenchServer } from '../support/load.js';
import { decimals, sowVectors } from '../support/served-vectors.js';
import { type Cell, printTable } from '../support/table.js';
import { generateSet } from '../support/vector-data.js';

const source = `
V::Passage { no: I64 }
QUERY addMany(vecs: [[F64]]) => v <- BatchAddV<Passage>(vecs) RETURN v::ID
QUERY add(vec: [F64]) => v <- AddV<Passage>(vec, { no: 1 }) RETURN v::ID
QUERY drop(id: ID) => DROP V<Passage>(id) RETURN "ok"
QUERY near(vec: [F64]) => v <- SearchV<Passage>(vec, 10) RETURN v::{id, score}
`;

interface Work {
  name: string;
  /** Requests sent for as long as the searches run. */
  requests: readonly Buffer[];
  connections: number;
  /** Vectors of one request. */
  size: number;
}

const bulkSize = 200;

const addOf = (vector: Float32Array): Buffer =>
  requestBytes('add', JSON.stringify({ vec: decimals(vector) }));

function works(spare: readonly Float32Array[], ids: readonly string[]): Work[] {
  const bulks: Buffer[] = [];
  for (let at = 0; at + bulkSize <= spare.length; at += bulkSize) {
    const vecs = spare.slice(at, at + bulkSize).map(decimals);
    bulks.push(requestBytes('addMany', JSON.stringify({ vecs })));
  }
  const adds = spare.map(addOf);
  const drops = ids.map((id) => requestBytes('drop', JSON.stringify({ id })));
  const snapshot = requestBytes('_admin/snapshot', '{}');
  return [
    { name: 'nothing', requests: [], connections: 0, size: 0 },
    { name: 'adding one by one, 8 parallel', requests: adds, connections: 8, size: 1 },
    { name: `adding ${bulkSize} a call`, requests: bulks, connections: 1, size: bulkSize },
    { name: 'dropping, 8 parallel', requests: drops, connections: 8, size: 1 },
    { name: 'snapshots, one after another', requests: [snapshot], connections: 1, size: 1 },
    {
      name: 'snapshots, adding one by one',
      requests: [snapshot, ...adds.slice(0, 2_000)],
      connections: 4,
      size: 1,
    },
  ];
}

function rowOf({ name, size }: Work, searches: HttpTiming, other?: HttpTiming): Cell[] {
  const { perSecond, p50, p99, longest, failed } = searches;
  const rest: Cell[] = other
    ? [other.perSecond * size, other.p50 / 1000, other.longest / 1000]
    : ['', '', ''];
  const failures = failed + (other?.failed ?? 0);
  return [name, perSecond, p50 / 1000, p99 / 1000, longest / 1000, ...rest, String(failures)];
}

const columns = [
  'meanwhile',
  'searches/s',
  'p50 ms',
  'p99 ms',
  'longest ms',
  'writes/s',
  'p50 ms',
  'longest ms',
  'failed',
];

export async function run(args: string[]): Promise<void> {
  const count = numberOption(args, 'vectors', 30_000);
  const dimension = numberOption(args, 'dimensions', 384);
  const seconds = numberOption(args, 'seconds', 8);
  const rate = numberOption(args, 'rate', 200);
  const set = generateSet(count + 20_000, dimension);
  const server = await startBenchServer(source);
  try {
    const ids = await sowVectors(server, 'addMany', set.base.slice(0, count));
    const queries = set.queries.map((vec) =>
      requestBytes('near', JSON.stringify({ vec: decimals(vec) })),
    );
    const search = () => sendHttp(server.url, queries, { connections: 8, rate, seconds });
    await search();
    const rows: Cell[][] = [];
    for (const work of works(set.base.slice(count), ids.slice(count >> 1))) {
      const { requests, connections } = work;
      const beside =
        connections > 0 ? sendHttp(server.url, requests, { connections, seconds }) : undefined;
      rows.push(rowOf(work, await search(), await beside));
    }
    console.log(`${count} vectors of ${dimension}, searches at ${rate}/s\n`);
    console.log(printTable(columns, rows));
  } finally {
    await server.stop();
  }
}
