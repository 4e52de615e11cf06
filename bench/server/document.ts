// `npm run bench -- document [--queries 10000] [--rounds 5]`: measures the first and the second
// `GET /openapi.json` of a server, with similar queries and with queries that share no line. Also measures
// how long another client waits meanwhile. Every round starts a new server.
import { setTimeout as sleep } from 'node:timers/promises';
import { numberOption } from '../support/bench-option.js';
import { type BenchServer, cpuSeconds, startBenchServer } from '../support/load.js';
import { median } from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';

const schema = Array.from(
  { length: 100 },
  (_, i) => `N::T${i} { UNIQUE INDEX key: String, a: I64, c: Date }\n`,
).join('');

const kinds: Record<string, (i: number, one: string, other: string) => string> = {
  alike: (i, one, other) => `QUERY q${i}(key: String, from?: I64, tags: [String]) =>
  x <- N<${one}>({key: key})
  y <- N<${other}>::WHERE(_::{a}::GT(from))::RANGE(0, 10)
  RETURN x, y::{key, a, named: {c, key}}
`,
  distinct: (i, one, other) => `// Finds the ${i}th of them. It is a fine query.
// key${i % 50}: what it is called
QUERY q${i}(key${i % 50}: String, from${i % 97}?: I64, tags: [String], k: U32) =>
  x${i % 31} <- N<${one}>({key: key${i % 50}})
  y${i % 41} <- N<${other}>::WHERE(_::{a}::GT(from${i % 97}))::RANGE(0, k)
  RETURN x${i % 31}, y${i % 41}::{key, a, named${i}: {c, key, other${i % 13}: a}}
`,
};

const queriesAFile = 500;

interface Asked {
  ms: number;
  cpuMs: number;
  bytes: number;
}

async function ask({ url, pid }: BenchServer): Promise<Asked> {
  const cpu = cpuSeconds(pid);
  const from = performance.now();
  const reply = await fetch(`${url}/openapi.json`);
  const { byteLength: bytes } = await reply.arrayBuffer();
  if (reply.status !== 200) throw new Error(`/openapi.json: ${reply.status}`);
  return { ms: performance.now() - from, cpuMs: (cpuSeconds(pid) - cpu) * 1000, bytes };
}

/** Returns the longest time that another client waits for a response while `work` runs. */
async function longestBeside(server: BenchServer, work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  let longest = 0;
  while (!isDone) {
    const from = performance.now();
    await (await fetch(`${server.url}/livez`)).arrayBuffer();
    longest = Math.max(longest, performance.now() - from);
    await sleep(2);
  }
  await done;
  return longest;
}

async function measureOnce(files: Readonly<Record<string, string>>) {
  const server = await startBenchServer(files);
  try {
    // What a start leaves to do is done before anybody is measured.
    await sleep(2_000);
    const asking = ask(server);
    const beside = await longestBeside(server, asking);
    return { first: await asking, beside, second: await ask(server) };
  } finally {
    await server.stop();
  }
}

export async function run(args: string[]): Promise<void> {
  const count = numberOption(args, 'queries', 10_000);
  const rounds = numberOption(args, 'rounds', 5);
  const rows: Cell[][] = [];
  for (const [name, queryOf] of Object.entries(kinds)) {
    const queries = Array.from({ length: count }, (_, i) =>
      queryOf(i, `T${i % 100}`, `T${(i * 7 + 3) % 100}`),
    );
    const files: Record<string, string> = { 'schema.hx': schema };
    for (let at = 0; at < count; at += queriesAFile)
      files[`queries-${at}.hx`] = queries.slice(at, at + queriesAFile).join('');
    const all = [];
    for (let round = 0; round < rounds; round++) all.push(await measureOnce(files));
    const [firsts, seconds] = [all.map(({ first }) => first), all.map(({ second }) => second)];
    rows.push([
      name,
      firsts[0]!.bytes / 1e6,
      median(firsts.map(({ ms }) => ms)),
      median(firsts.map(({ cpuMs }) => cpuMs)),
      median(seconds.map(({ ms }) => ms)),
      median(all.map(({ beside }) => beside)),
    ]);
  }
  const columns = ['queries', 'MB', 'first ms', 'CPU ms', 'second ms', 'others wait at most ms'];
  console.log(`/openapi.json of ${count} queries; wanted are 200 ms:\n`);
  console.log(printTable(columns, rows));
}
