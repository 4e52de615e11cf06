// Measures what the Model Context Protocol costs compared with plain HTTP. Runs the same point read as
// `POST /<Query>` and as a call of its tool, with the older and the newer protocol, in alternation on one
// server. `--rounds N`.
import { listOption, numberOption } from '../support/bench-option.js';
import { type Load, type Measured, measure, startBenchServer } from '../support/load.js';
import { type Cell, printTable } from '../support/table.js';

const source = `
N::Person { UNIQUE INDEX name: String, age: U8, city: String }
QUERY people(rows: [{name: String, age: U8, city: String}]) =>
  FOR {name, age, city} IN rows { AddN<Person>({ name, age, city }) }
  RETURN "ok"
QUERY ids() => p <- N<Person> RETURN p::ID
QUERY person(id: ID) => p <- N<Person>(id) RETURN p
`;

const modern = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';
const meta = { [`${prefix}protocolVersion`]: modern, [`${prefix}clientCapabilities`]: {} };

function message(id: string, more: object): string {
  const params = { name: 'person', arguments: { id }, ...more };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}

function loadsOf(ids: readonly string[]): Record<string, Load> {
  const some = ids.slice(0, 100);
  const headers = {
    'mcp-protocol-version': modern,
    'mcp-method': 'tools/call',
    'mcp-name': 'person',
  };
  return {
    'POST /person': { path: 'person', bodies: some.map((id) => JSON.stringify({ id })) },
    'tools/call, 2025-11-25': { path: 'mcp', bodies: some.map((id) => message(id, {})) },
    'tools/call, 2026-07-28': {
      path: 'mcp',
      bodies: some.map((id) => message(id, { _meta: meta })),
      headers,
    },
  };
}

const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

export async function run(args: string[]): Promise<void> {
  const seconds = numberOption(args, 'seconds', 3);
  const rounds = numberOption(args, 'rounds', 5);
  const connections = Number(listOption(args, 'connections', ['64'])[0]);
  const server = await startBenchServer(source);
  try {
    const rows = Array.from({ length: 1_000 }, (_, i) => ({
      name: `p${i}`,
      age: i % 100,
      city: 'x',
    }));
    await server.post('people', { rows });
    const { p: ids } = (await server.post('ids', {})) as { p: string[] };
    const loads = Object.entries(loadsOf(ids));
    const runs = new Map<string, Measured[]>(loads.map(([name]) => [name, []]));
    // What is run first warms the machine for the others.
    for (const [, load] of loads) await measure(server, load, connections, 1, 1);
    for (let round = 0; round < rounds; round++) {
      for (const [name, load] of loads) {
        runs.get(name)!.push(await measure(server, load, connections, seconds, 1));
      }
    }
    const of = (name: string, what: keyof Measured): number =>
      median(runs.get(name)!.map((one) => one[what]));
    const [plain] = loads[0]!;
    const table = loads.map(([name]): Cell[] => [
      name,
      Math.round(of(name, 'requestsPerSecond')),
      (of(name, 'requestsPerSecond') / of(plain, 'requestsPerSecond')).toFixed(2),
      of(name, 'cpuMicros'),
      of(name, 'p99Ms'),
      of(name, 'failed'),
    ]);
    const columns = ['call', 'requests/s', 'of plain', 'CPU us', 'p99 ms', 'failed'];
    console.log(`${connections} connections, medians of ${rounds} rounds in turns\n`);
    console.log(printTable(columns, table));
  } finally {
    await server.stop();
  }
}
