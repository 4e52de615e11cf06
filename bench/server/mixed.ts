// `npm run bench -- mixed`: cheap point reads at a fixed rate, alone and while heavy two-hop queries
// keep the reader lanes busy. Latencies count from when a read was due.
import { numberOption } from '../support/bench-option.js';
import { type HttpTiming, requestBytes, sendHttp } from '../support/http-client.js';
import { type BenchServer, startBenchServer } from '../support/load.js';
import { median } from '../support/sample-times.js';
import { randomOf } from '../support/seeded-random.js';
import { type Cell, printTable } from '../support/table.js';

const source = `
N::Person { name: String, age: U8 }
E::Knows { From: Person, To: Person }
QUERY people(rows: [{name: String, age: U8}]) =>
  FOR {name, age} IN rows { AddN<Person>({ name, age }) }
  RETURN "ok"
QUERY ids() => p <- N<Person> RETURN p::ID
QUERY link(a: ID, bs: [ID]) => FOR b IN bs { AddE<Knows>::From(a)::To(b) } RETURN "ok"
QUERY person(id: ID) => p <- N<Person>(id) RETURN p
QUERY circle(id: ID) =>
  p <- N<Person>(id)::Out<Knows>::Out<Knows>::WHERE(_::{age}::GT(90))::DEDUP
  RETURN p::{name}
`;

const people = 10_000;
const degree = 60;

async function sow(server: BenchServer): Promise<string[]> {
  const random = randomOf(13);
  const rows = Array.from({ length: people }, (_, i) => ({ name: `person ${i}`, age: i % 100 }));
  await server.post('people', { rows });
  const { p: ids } = (await server.post('ids', {})) as { p: string[] };
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < people) {
      const a = ids[next++];
      const bs = Array.from({ length: degree }, () => ids[Math.floor(random() * people)]!);
      await server.post('link', { a, bs });
    }
  };
  await Promise.all(Array.from({ length: 32 }, loop));
  return ids;
}

export async function run(args: string[]): Promise<void> {
  const seconds = numberOption(args, 'seconds', 4);
  const rate = numberOption(args, 'rate', 1_000);
  const rounds = numberOption(args, 'rounds', 5);
  const heavyAtOnce = numberOption(args, 'heavy', 4);
  const server = await startBenchServer(source);
  try {
    const ids = await sow(server);
    const of = (path: string) => ids.map((id) => requestBytes(path, JSON.stringify({ id })));
    const cheap = of('person');
    const heavy = of('circle');
    const alone: HttpTiming[] = [];
    const beside: HttpTiming[] = [];
    const heavies: HttpTiming[] = [];
    const read = () => sendHttp(server.url, cheap, { connections: 16, rate, seconds });
    for (let round = 0; round < rounds; round++) {
      alone.push(await read());
      const load = sendHttp(server.url, heavy, { connections: heavyAtOnce, seconds: seconds + 1 });
      await new Promise((resolve) => setTimeout(resolve, 300));
      beside.push(await read());
      heavies.push(await load);
    }
    const row = (name: string, runs: HttpTiming[], wanted: string): Cell[] => {
      const middle = (field: keyof HttpTiming): number => median(runs.map((run) => run[field]));
      const failed = runs.reduce((sum, run) => sum + run.failed, 0);
      return [name, middle('perSecond'), middle('p50'), middle('p99'), String(failed), wanted];
    };
    console.log(
      printTable(
        ['calls', 'per second', 'p50 us', 'p99 us', 'failed', 'wanted'],
        [
          row('point reads alone', alone, ''),
          row(`point reads with ${heavyAtOnce} heavy`, beside, 'p50 <= 1,000, p99 <= 10,000'),
          row(`two hops, ${degree * degree} rows, filtered`, heavies, ''),
        ],
      ),
    );
  } finally {
    await server.stop();
  }
}
