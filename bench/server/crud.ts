// `npm run bench -- crud [--part embedded,http] [--peers sqlite,grafeo]`: create, read, update, scan and delete.
// In process, beside SQLite and Grafeo on the same data, one client. Then through HTTP, with vectors, and
// durable: 10,000 operations one after another, and 10,000 by 64 clients (helix-bench's shape).
import {
  columns as embeddedColumns,
  compareOperation,
  withContenders,
} from '../embedded/embedded.js';
import type { Operation as EmbeddedOperation } from '../embedded/embedded-contender.js';
import { listOption, numberOption } from '../support/bench-option.js';
import { type HttpTiming, requestBytes, sendHttp } from '../support/http-client.js';
import { type BenchServer, cpuSeconds, startBenchServer } from '../support/load.js';
import { randomOf } from '../support/seeded-random.js';
import { type Cell, printTable } from '../support/table.js';

const dimensions = 128;
const source = `
N::Item { INDEX code: String, name: String, stock: I64 }
V::Embedding { code: String }
QUERY create(code: String, name: String, stock: I64) =>
  i <- AddN<Item>({ code, name, stock })
  RETURN i::ID
QUERY read(id: ID) => i <- N<Item>(id) RETURN i
QUERY update(id: ID, stock: I64) => i <- N<Item>(id)::UPDATE({ stock: stock }) RETURN i::ID
QUERY scan(from: U32, to: U32) => i <- N<Item>::RANGE(from, to) RETURN i
QUERY delete(id: ID) => DROP N<Item>(id) RETURN "gone"
QUERY create_vector(vector: [F64], code: String) =>
  v <- AddV<Embedding>(vector, { code })
  RETURN v::ID
QUERY search_vector(vector: [F64]) => v <- SearchV<Embedding>(vector, 10) RETURN v::{id, score}
`;

interface Operation {
  name: string;
  /** A body per operation; `ids` are those the creations gave. */
  body: (n: number, ids: string[]) => object;
}

const random = randomOf(17);
const vector = (): number[] =>
  Array.from({ length: dimensions }, () => Math.round((random() * 2 - 1) * 1e6) / 1e6);

const operations: Operation[] = [
  { name: 'create', body: (n) => ({ code: `c${n}`, name: `item number ${n}`, stock: n }) },
  { name: 'read', body: (n, ids) => ({ id: ids[n] }) },
  { name: 'update', body: (n, ids) => ({ id: ids[n], stock: n + 1 }) },
  { name: 'scan', body: (n) => ({ from: (n * 20) % 5_000, to: ((n * 20) % 5_000) + 20 }) },
  { name: 'delete', body: (n, ids) => ({ id: ids[n] }) },
  { name: 'create_vector', body: (n) => ({ vector: vector(), code: `v${n}` }) },
  { name: 'search_vector', body: () => ({ vector: vector() }) },
];

interface Outcome {
  timing: HttpTiming;
  cpu: number;
}

const uuid = /[0-9a-f]{8}-[0-9a-f-]{27}/;

async function runOperation(
  server: BenchServer,
  { name, body }: Operation,
  ids: string[],
  count: number,
  connections: number,
): Promise<Outcome> {
  const requests = Array.from({ length: count }, (_, n) =>
    requestBytes(name, JSON.stringify(body(n, ids))),
  );
  const found: string[] = [];
  const before = cpuSeconds(server.pid);
  const timing = await sendHttp(server.url, requests, {
    connections,
    ...(name === 'create' && {
      onAnswer: (answer: Buffer) => found.push(uuid.exec(answer.toString('latin1'))![0]),
    }),
  });
  if (name === 'create') ids.splice(0, ids.length, ...found);
  return { timing, cpu: ((cpuSeconds(server.pid) - before) * 1e6) / count };
}

/** The operations in this process, each with its peers in turn. */
const embedded: readonly EmbeddedOperation[] = [
  'durable create',
  'point read by id',
  'durable update',
  'scan of 20 rows',
  'durable delete',
];

async function runEmbedded(args: string[]): Promise<void> {
  const options = {
    seconds: numberOption(args, 'seconds', 1),
    rounds: numberOption(args, 'rounds', 5),
  };
  await withContenders(listOption(args, 'peers', ['sqlite', 'grafeo']), async (contenders) => {
    const rows: Cell[][] = [];
    for (const operation of embedded)
      rows.push(...(await compareOperation(contenders, operation, options)));
    console.log(`In process, one client\n\n${printTable(embeddedColumns, rows)}\n`);
  });
}

export async function run(args: string[]): Promise<void> {
  const parts = listOption(args, 'part', ['embedded', 'http']);
  if (parts.includes('embedded')) await runEmbedded(args);
  if (parts.includes('http')) await runHttp(numberOption(args, 'count', 10_000));
}

async function runHttp(count: number): Promise<void> {
  const server = await startBenchServer(source);
  const rows: Cell[][] = [];
  try {
    await server.post('create', { code: 'first', name: 'warm', stock: 0 });
    for (const connections of [1, 64]) {
      const ids: string[] = [];
      for (const operation of operations) {
        const { timing, cpu } = await runOperation(server, operation, ids, count, connections);
        const { perSecond, p50, p99, failed } = timing;
        rows.push([operation.name, String(connections), perSecond, p50, p99, cpu, String(failed)]);
      }
    }
    const columns = ['operation', 'clients', 'ops/s', 'p50 us', 'p99 us', 'CPU us/op', 'failed'];
    console.log(`${count} operations each, vectors of ${dimensions}\n`);
    console.log(printTable(columns, rows));
  } finally {
    await server.stop();
  }
}
