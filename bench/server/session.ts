// `npm run bench -- session`: many open sessions over HTTP: memory of an idle one, latency of `next`
// while all are open, and the cost of `next` over long traversals, which must be linear.
import { readFileSync } from 'node:fs';
import { numberOption } from '../support/bench-option.js';
import { requestBytes, sendHttp } from '../support/http-client.js';
import { type BenchServer, startBenchServer } from '../support/load.js';
import { type Cell, printTable } from '../support/table.js';

const source = `
N::Person { name: String, age: U8 }
N::Page { no: U32 }
QUERY people(rows: [{name: String, age: U8}]) =>
  FOR {name, age} IN rows { AddN<Person>({ name, age }) }
  RETURN "ok"
QUERY pages(rows: [{no: U32}]) => FOR {no} IN rows { AddN<Page>({ no }) } RETURN "ok"
`;

/** Bytes of the process's own memory, without mapped files. */
function ownBytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(text)?.[1]) * 1024;
}

const bodyOf = (answer: Buffer): string => answer.toString('utf8', answer.indexOf('\r\n\r\n') + 4);

/** Opens sessions, all at the same traversal, and gives their ids as JSON. */
async function openSessions(server: BenchServer, count: number): Promise<string[]> {
  const ids: string[] = [];
  const init = Array.from({ length: count }, () => requestBytes('mcp/init', ''));
  await sendHttp(server.url, init, {
    connections: 16,
    onAnswer: (answer) => ids.push(bodyOf(answer)),
  });
  return ids;
}

const call = (tool: string, session: string, data: string): Buffer =>
  requestBytes(`mcp/${tool}`, `{"connection_id":${session},"data":${data}}`);
const startAt = (type: string): string => `{"node_type":"${type}"}`;

/** `next` to the end of a traversal of `count` items, microseconds per item. */
async function walk(server: BenchServer, count: number): Promise<number> {
  const [session] = await openSessions(server, 1);
  await sendHttp(server.url, [call('n_from_type', session!, startAt('Page'))], { connections: 1 });
  const started = performance.now();
  const next = call('next', session!, '{}');
  await sendHttp(server.url, [next], { connections: 1, count });
  return ((performance.now() - started) * 1000) / count;
}

export async function run(args: string[]): Promise<void> {
  const count = numberOption(args, 'sessions', 10_000);
  const people = numberOption(args, 'people', 1_000);
  const server = await startBenchServer(source);
  try {
    const rows = Array.from({ length: people }, (_, i) => ({ name: `p${i}`, age: i % 100 }));
    await server.post('people', { rows });
    const pages = Array.from({ length: 50_000 }, (_, no) => ({ no }));
    await server.post('pages', { rows: pages });
    // The first few thousand calls grow the heap whatever they do.
    const warm = await openSessions(server, 1);
    await sendHttp(server.url, [call('n_from_type', warm[0]!, startAt('Person'))], {
      connections: 16,
      count: 5_000,
    });
    const before = ownBytes(server.pid);
    const ids = await openSessions(server, count - 1);
    const opened = ownBytes(server.pid);
    const steps = ids.map((id) => call('n_from_type', id, startAt('Person')));
    const stepped = await sendHttp(server.url, steps, { connections: 64 });
    const after = ownBytes(server.pid);
    const next = ids.map((id) => call('next', id, '{}'));
    const cells: Cell[][] = [];
    const add = (name: string, run: Awaited<ReturnType<typeof sendHttp>>): void => {
      cells.push([name, run.perSecond, run.p50, run.p99, String(run.failed)]);
    };
    add('n_from_type, 64 parallel', stepped);
    add(
      'next, each session once, 1 parallel',
      await sendHttp(server.url, next, { connections: 1 }),
    );
    add('next, 64 parallel', await sendHttp(server.url, next, { connections: 64 }));
    add('next at 2,000/s', await sendHttp(server.url, next, { connections: 64, rate: 2_000 }));
    console.log(`${ids.length} sessions open at a traversal of ${people} people\n`);
    console.log(printTable(['call', 'calls/s', 'p50 us', 'p99 us', 'failed'], cells));
    const perSession = (bytes: number): string => ((bytes - before) / ids.length / 1024).toFixed(1);
    console.log(
      `\nKiB per session: ${perSession(opened)} after init, ${perSession(after)} after its first step`,
    );
    for (const length of [1_000, 10_000, 50_000])
      console.log(
        `next over ${length} items: ${(await walk(server, length)).toFixed(0)} us an item`,
      );
  } finally {
    await server.stop();
  }
}
