// Measures what an open page of the explorer costs other calls: `http --polls 50` requests `/_explore/status`
// that often per second in every second round, and never in the others. A page polls once a second. This cost
// is less than the noise of a run, so it is measured many times over and divided.
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchServer, type Load, measure } from '../support/load.js';
import { percentile } from '../support/sample-times.js';
import type { Cell } from '../support/table.js';

export const pollColumns = [
  'call',
  'connections',
  'rounds',
  'polls',
  'CPU us/request without polls',
  'with polls',
  '% more',
  '% more for a page (quartiles)',
];

const rounds = 20;

/** Polls until it is aborted; resolves to the number of polls. */
async function poll({ url }: BenchServer, perSecond: number, signal: AbortSignal): Promise<number> {
  const began = performance.now();
  let count = 0;
  while (!signal.aborted) {
    const reply = await fetch(`${url}/_explore/status?since=bench`);
    if (reply.status !== 200) throw new Error(`status: ${reply.status}`);
    await reply.arrayBuffer();
    count++;
    await sleep(began + (1_000 * count) / perSecond - performance.now());
  }
  return count;
}

/** Rounds with and without, in turn, each as often the first as the other. */
export async function measurePolled(
  server: BenchServer,
  [name, load]: [string, Load],
  connections: number,
  { seconds, workers, polls }: { seconds: number; workers: number; polls: number },
): Promise<Cell[]> {
  const [none, beside]: [number[], number[]] = [[], []];
  let asked = 0;
  const run = async (isPolled: boolean): Promise<void> => {
    const stop = new AbortController();
    const polling = isPolled ? poll(server, polls, stop.signal) : undefined;
    const { cpuMicros } = await measure(server, load, connections, seconds, workers);
    stop.abort();
    asked += (await polling) ?? 0;
    (isPolled ? beside : none).push(cpuMicros);
  };
  for (let round = 0; round < rounds; round++) {
    await run(round % 2 === 1);
    await run(round % 2 === 0);
  }
  const more = none.map((cost, at) => 100 * (beside[at]! / cost - 1));
  const perSecond = asked / (rounds * seconds);
  const middle = (list: readonly number[], share = 0.5): number => percentile([...list], share);
  const ofPage = [0.25, 0.5, 0.75].map((share) => (middle(more, share) / perSecond).toFixed(3));
  return [
    name,
    String(connections),
    String(rounds),
    String(asked),
    middle(none),
    middle(beside),
    middle(more).toFixed(2),
    `${ofPage[1]} (${ofPage[0]} to ${ofPage[2]})`,
  ];
}
