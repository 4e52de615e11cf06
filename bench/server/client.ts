// `npm run bench -- client`: compares the functions of a generated module with the calls that they replace,
// in alternation: `call` in this process, and a plain `fetch` over HTTP.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from '../../engine/internal.js';
import { bind, connect } from '../../server/client/client.js';
import { numberOption } from '../support/bench-option.js';
import { startBenchServer } from '../support/load.js';
import { type Task, type Timing, interleave, oneByOne } from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';

const source = `
N::Person { UNIQUE INDEX name: String, age: U8, city: String }
QUERY add(name: String) => p <- AddN<Person>({ name, age: 1, city: "Lund" }) RETURN p::ID
QUERY person(id: ID) => p <- N<Person>(id) RETURN p
`;

interface Typed {
  person(params: { id: string }): Promise<unknown>;
}

const shapes = { person: { writes: false, at: 0 } } as const;

interface Pair {
  /** What is written by hand, and the generated function. */
  names: readonly [string, string];
  tasks: readonly [Task, Task];
}

async function measurePair({ names, tasks }: Pair, rounds: number, seconds: number) {
  for (const task of tasks) await oneByOne(task, seconds);
  const [plain, typed] = await interleave(tasks, rounds, (task) => oneByOne(task, seconds));
  const row = (name: string, timing: Timing): Cell[] => {
    const { perSecond, p50, cpu } = timing;
    return [name, perSecond, p50, cpu, (cpu / plain!.cpu).toFixed(3)];
  };
  return [row(names[0], plain!), row(names[1], typed!)];
}

async function embeddedPair(rounds: number, seconds: number): Promise<Cell[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-bench-'));
  const db = await open({ dataDir: folder, sources: [{ path: 'main.hx', text: source }] });
  try {
    const { p: id } = await db.call<{ p: string }>('add', { name: 'a' });
    const typed = bind<Typed>(db, shapes);
    const tasks = [() => db.call('person', { id }), () => typed.person({ id })] as const;
    return await measurePair({ names: ['call', 'embedded, typed'], tasks }, rounds, seconds);
  } finally {
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function httpPair(rounds: number, seconds: number): Promise<Cell[][]> {
  const server = await startBenchServer(source);
  try {
    const { p: id } = (await server.post('add', { name: 'a' })) as { p: string };
    const typed = bind<Typed>(connect({ url: server.url }), shapes);
    const tasks = [() => server.post('person', { id }), () => typed.person({ id })] as const;
    return await measurePair({ names: ['fetch by hand', 'HTTP, typed'], tasks }, rounds, seconds);
  } finally {
    await server.stop();
  }
}

export async function run(args: string[]): Promise<void> {
  const seconds = numberOption(args, 'seconds', 1);
  const rounds = numberOption(args, 'rounds', 9);
  const rows = [...(await embeddedPair(rounds, seconds)), ...(await httpPair(rounds, seconds))];
  const columns = ['call', 'calls/s', 'p50 us', 'CPU us/call', 'of the plain one'];
  console.log(printTable(columns, rows));
}
