// `npm run bench -- traverse`: measures hops and shortest paths over Open English WordNet in this process,
// compared with Kuzu and SurrealDB. Checks every result against the data and its expected.json first.
import { listOption, numberOption } from '../support/bench-option.js';
import { type Timing, interleave, sideBySide } from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';
import {
  type TraverseContender,
  type TrellisNet,
  kuzuContender,
  surrealContender,
  trellisContender,
} from './traverse-contender.js';
import { type WordNet, drawRequests, loadWordNet, workloads } from './traverse-data.js';

/** Ancestors by repeated calls, and direct hyponyms, as expected.json has them; the faults found. */
async function checkExpected(net: WordNet, own: TrellisNet): Promise<number> {
  let faults = 0;
  for (const { id, expect } of net.expected.hypernym_ancestors) {
    const found = new Set<string>();
    let level = [own.synsets[net.synsetOf.get(id)!]!];
    while (level.length > 0) {
      const next = new Map<string, string>();
      for (const each of level) {
        const { s } = await own.db.call<{ s: { id: string; key: string }[] }>('parents', {
          id: each,
        });
        for (const parent of s) if (!found.has(parent.key)) next.set(parent.id, parent.key);
      }
      for (const key of next.values()) found.add(key);
      level = [...next.keys()];
    }
    if ([...found].sort().join() !== expect.join()) faults++;
  }
  for (const { id, expect } of net.expected.direct_hyponym_count) {
    const from = net.synsetOf.get(id)!;
    if ((await own.run['hyponyms, 1 hop']({ from, to: -1, answer: expect })) !== expect) faults++;
  }
  return faults;
}

export async function run(args: string[]): Promise<void> {
  const seconds = numberOption(args, 'seconds', 1);
  const rounds = numberOption(args, 'rounds', 3);
  const names = listOption(args, 'contenders', ['surreal', 'kuzu']);
  const net = await loadWordNet();
  if (net === undefined) return;
  const own = await trellisContender(net);
  const peers = [
    names.includes('kuzu') ? await kuzuContender(net) : undefined,
    names.includes('surreal') ? await surrealContender(net) : undefined,
  ];
  const contenders = [own, ...peers.filter((peer) => peer !== undefined)];
  const faults = await checkExpected(net, own);
  const checked = net.expected.hypernym_ancestors.length + net.expected.direct_hyponym_count.length;
  console.log(
    `expected.json, ancestors and hyponyms: ${checked - faults} of ${checked} as expected\n`,
  );
  const requests = drawRequests(net);
  const rows: Cell[][] = [];
  for (const workload of workloads) {
    const list = requests[workload];
    const wrong: number[] = [];
    for (const { run: calls } of contenders) {
      let count = 0;
      for (const request of list) if ((await calls[workload](request)) !== request.answer) count++;
      wrong.push(count);
    }
    const time = ({ run: calls }: TraverseContender): Promise<Timing> =>
      sideBySide((n) => calls[workload](list[n % list.length]!), 1, seconds);
    const timings = await interleave<TraverseContender>(contenders, rounds, time);
    const mean = list.reduce((sum, { answer }) => sum + answer, 0) / list.length;
    for (const [i, { perSecond, p50, p99, cpu }] of timings.entries()) {
      const times = i === 0 ? '' : `${(p50 / timings[0]!.p50).toFixed(1)}x`;
      const { name } = contenders[i]!;
      rows.push([workload, mean, name, perSecond, p50, p99, cpu, `${wrong[i]}`, times]);
    }
  }
  const columns = [
    'workload',
    'mean rows',
    'contender',
    'calls/s',
    'p50 us',
    'p99 us',
    'CPU us/call',
  ];
  console.log(printTable([...columns, 'wrong', 'ours is'], rows));
  for (const contender of contenders) await contender.close();
}
