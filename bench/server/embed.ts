// `npm run bench -- embed [--vectors 100000] [--dimensions 256] [--rounds 3] [--rate 100]`: makes all vectors of a
// type again, with a provider that answers at once, while searches come at a fixed rate. Latencies count from the
// time at which a search was due. Each round measures a job alone, searches alone, and both together.
import { Worker } from 'node:worker_threads';
import { numberOption } from '../support/bench-option.js';
import { requestBytes, sendHttp } from '../support/http-client.js';
import { type BenchServer, cpuSeconds, startBenchServer } from '../support/load.js';
import { decimals } from '../support/served-vectors.js';
import { type Cell, printTable } from '../support/table.js';
import { generateSet } from '../support/vector-data.js';

const source = `
V::Note { text: String }
QUERY addMany(notes: [{ v: [F64], text: String }]) =>
  FOR { v, text } IN notes { AddV<Note>(v, { text: text }) }
  RETURN "ok"
QUERY near(vec: [F64]) => v <- SearchV<Note>(vec, 10) RETURN v::{id, score}
`;

const bulkSize = 500;
const pollMs = 50;

interface Job {
  seconds: number;
  /** Processor time of the server for each vector. */
  micros: number;
}

/** Starts the provider in a thread of its own; resolves with its address. */
async function startProvider(vectors: readonly Float32Array[], dimension: number) {
  const numbers = new Float32Array(new SharedArrayBuffer(vectors.length * dimension * 4));
  for (const [i, vector] of vectors.entries()) numbers.set(vector, i * dimension);
  const workerData = { numbers, dimension };
  const worker = new Worker(new URL('./embed-provider.js', import.meta.url), { workerData });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  return { url: `http://127.0.0.1:${port}/v1`, stop: () => worker.terminate() };
}

async function reembed(server: BenchServer, count: number): Promise<Job> {
  const started = performance.now();
  const before = cpuSeconds(server.pid);
  const path = '_admin/reembed?type=Note';
  await server.post(`${path}&from=text`, {});
  for (;;) {
    const { state } = (await server.post(`${path}&status=true`, {})) as { state: string };
    if (state === 'failed') throw new RangeError('the job has failed');
    if (state === 'done') break;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  const seconds = (performance.now() - started) / 1000;
  return { seconds, micros: ((cpuSeconds(server.pid) - before) * 1e6) / count };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1]!;

export async function run(args: string[]): Promise<void> {
  const count = numberOption(args, 'vectors', 100_000);
  const dimension = numberOption(args, 'dimensions', 256);
  const rounds = numberOption(args, 'rounds', 3);
  const rate = numberOption(args, 'rate', 100);
  const set = generateSet(count, dimension);
  const provider = await startProvider(set.base, dimension);
  const files = { 'main.hx': source, '.env': `OPENAI_BASE_URL=${provider.url}\n` };
  const server = await startBenchServer(files, [], '[embedding]\nmodel = "openai:bench"\n');
  try {
    for (let at = 0; at < count; at += bulkSize) {
      const part = set.base.slice(at, at + bulkSize);
      const notes = part.map((v, i) => ({ v: decimals(v), text: `note ${at + i}` }));
      await server.post('addMany', { notes });
    }
    const queries = set.queries.map((vec) =>
      requestBytes('near', JSON.stringify({ vec: decimals(vec) })),
    );
    // Later as long as a job takes, so that most of the searches next to it count.
    let seconds = Math.max(2, count / 6_000);
    const search = () => sendHttp(server.url, queries, { connections: 4, rate, seconds });
    await search();
    const rows: Cell[][] = [];
    const [speeds, costs, ratios]: [number[], number[], number[]] = [[], [], []];
    for (let round = 1; round <= rounds; round++) {
      const job = await reembed(server, count);
      seconds = job.seconds;
      const alone = await search();
      const [beside] = await Promise.all([search(), reembed(server, count)]);
      speeds.push(count / job.seconds);
      costs.push(job.micros);
      ratios.push(beside.p99 / alone.p99);
      const times = [alone, beside].flatMap(({ p50, p99 }) => [p50 / 1000, p99 / 1000]);
      rows.push([String(round), speeds.at(-1)!, costs.at(-1)!, ...times, ratios.at(-1)!]);
    }
    rows.push(['median', median(speeds), median(costs), '', '', '', '', median(ratios)]);
    console.log(`${count} vectors of ${dimension} made again, searches at ${rate}/s\n`);
    const columns = ['round', 'vectors/s', 'CPU us/vector', 'p50 ms', 'p99 ms'];
    const rest = ['p50 ms with the job', 'p99 ms with the job', 'p99 ratio'];
    console.log(printTable([...columns, ...rest], rows));
  } finally {
    await server.stop();
    await provider.stop();
  }
}
