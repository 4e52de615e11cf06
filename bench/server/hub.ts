// `npm run bench -- hub [--degrees 10000,20000,35000] [--only leaf] [--rounds 3] [--beside 0]`: measures the
// DROP of a node with many edges, or of as many nodes without edges, and how long small writes of another
// client wait for the writer meanwhile. `--beside` adds this many edges between the neighbors for each edge of
// the hub.
import { numberOption, listOption } from '../support/bench-option.js';
import { type BenchServer, cpuSeconds, startBenchServer } from '../support/load.js';
import { median } from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';

const source = `
N::Thing { INDEX name: String }
N::Note { text: String }
E::Tie { From: Thing, To: Thing }
E::Link { From: Thing, To: Thing, Properties: { INDEX weight: I64 } }
QUERY note(text: String) => AddN<Note>({ text }) RETURN "ok"
QUERY dropHub(name: String) => gone <- DROP N<Thing>({name: name}) RETURN gone
`;

/** How the i-th edge hangs on the hub: type, far end, weight. */
const kinds: Record<string, (i: number) => [string, number, number?]> = {
  'a leaf each': (i) => ['Tie', i],
  '300 far ends': (i) => ['Tie', i % 300],
  'a leaf each, 7 values': (i) => ['Link', i, i % 7],
  'a leaf each, all differ': (i) => ['Link', i, Math.imul(i, 0x9e3779b1) >>> 0],
};

/** In place of a hub: as many nodes of one name, without edges. */
const nodesOnly = 'none, nodes without edges';

/** No limit but time. */
const settings = `[limits]
body_bytes = "256MiB"
query_memory = "2GiB"
txn_bytes = "2GiB"
txn_writes = 20000000
drop_edges = 10000000
`;

interface Dropped {
  ms: number;
  cpuMs: number;
  /** How long the slowest small write took. */
  longestMs: number;
}

function rowsOf(hub: string, kind: string, degree: number, beside: number): string {
  const node = (name: string, id = name): string =>
    `{"node":"Thing","id":"${id}","properties":{"name":"${name}"}}\n`;
  if (kind === nodesOnly)
    return Array.from({ length: degree }, (_, i) => node(hub, `${hub} ${i}`)).join('');
  const make = kinds[kind]!;
  const rows = [node(hub)];
  const ends = new Set<number>();
  for (let i = 0; i < degree; i++) ends.add(make(i)[1]);
  for (const end of ends) rows.push(node(`${hub}.${end}`));
  for (let i = 0; i < degree; i++) {
    const [type, end, weight] = make(i);
    const values = weight === undefined ? '' : `,"properties":{"weight":${weight}}`;
    rows.push(`{"edge":"${type}","from":"${hub}","to":"${hub}.${end}"${values}}\n`);
  }
  const all = [...ends];
  for (let i = 0; i < beside * degree; i++) {
    const [from, to] = [all[i % all.length], all[(i * 7919) % all.length]];
    rows.push(`{"edge":"Tie","from":"${hub}.${from}","to":"${hub}.${to}"}\n`);
  }
  return rows.join('');
}

async function sow(server: BenchServer, rows: string): Promise<void> {
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const reply = await fetch(`${server.url}/_admin/import`, { method: 'POST', headers, body: rows });
  if (reply.status !== 200) throw new Error(`import: ${reply.status} ${await reply.text()}`);
  await reply.text();
}

async function drop(server: BenchServer, name: string, count: number): Promise<Dropped> {
  let longestMs = 0;
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      const from = performance.now();
      await server.post('note', { text: 'small' });
      longestMs = Math.max(longestMs, performance.now() - from);
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, 200));
  longestMs = 0;
  const cpu = cpuSeconds(server.pid);
  const from = performance.now();
  const answer = (await server.post('dropHub', { name }).catch(String)) as { gone: number };
  const ms = performance.now() - from;
  const cpuMs = (cpuSeconds(server.pid) - cpu) * 1000;
  isOver = true;
  await writing;
  if (answer.gone !== count) console.log(String(answer));
  return { ms, cpuMs, longestMs };
}

export async function run(args: string[]): Promise<void> {
  const degrees = listOption(args, 'degrees', ['10000', '20000', '35000']).map(Number);
  const rounds = numberOption(args, 'rounds', 3);
  const beside = numberOption(args, 'beside', 0);
  const only = listOption(args, 'only', ['']);
  const server = await startBenchServer(source, [], settings);
  try {
    const table: Cell[][] = [];
    for (const kind of [...Object.keys(kinds), nodesOnly].filter((name) =>
      only.some((one) => name.includes(one)),
    )) {
      for (const degree of degrees) {
        const runs: Dropped[] = [];
        for (let round = 0; round < rounds; round++) {
          const hub = `${kind} ${degree} ${round}`;
          await sow(server, rowsOf(hub, kind, degree, beside));
          runs.push(await drop(server, hub, kind === nodesOnly ? degree : 1));
        }
        const of = (field: keyof Dropped): number => median(runs.map((one) => one[field]));
        const each = (1000 * of('ms')) / degree;
        const longest = Math.max(...runs.map(({ longestMs }) => longestMs));
        table.push([kind, degree, of('ms'), of('cpuMs'), each, of('longestMs'), longest]);
      }
    }
    const columns = [
      'edges to',
      'degree',
      'DROP ms',
      'CPU ms',
      'us an edge',
      'others wait ms',
      'at most',
    ];
    console.log(printTable(columns, table));
  } finally {
    await server.stop();
  }
}
