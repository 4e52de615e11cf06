// T8: every hostile input that is written as steps, again and again on one server, first alone and
// then beside clients that keep it busy: each is answered exactly as it should be, memory does not
// grow with them, and a thousand good requests are answered afterwards.
import { afterAll, expect, test } from 'vitest';
import { caseFiles, readCases } from '../../support/corpus/case.js';
import { groupsOf } from '../../support/corpus/case-group.js';
import { isCommand } from '../../support/server/command.js';
import { type Group, runCase } from '../../support/corpus/corpus.js';
import { Client } from '../../support/server/http.js';
import { memoryOf } from '../../support/server/load-sample.js';
import { noteProof } from '../../support/proof.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const rounds = Number(process.env.TRELLIS_TEST_ROUNDS ?? (long ? 5 : 1));
const growthMax = 64 * 2 ** 20;
// Each thread of the server keeps young objects in 6 MB at most: of 96, how many it takes, what else runs decides.
process.env.NODE_OPTIONS = '--max-semi-space-size=2';

/** Cases that need a configuration, a start or a data directory of their own run elsewhere. */
const groups = groupsOf(
  caseFiles('hostile')
    .flatMap((path) => readCases(path, 'hostile.json'))
    .filter(({ steps }) => steps.length > 0 && !steps.every(isCommand)),
  false,
);
const shared = groups.reduce((most, next) => (next.cases.length > most.cases.length ? next : most));
/** The short run takes a few, and has all on a fresh server in test/conformance/hostile.test.ts. */
const cases = long ? shared.cases : shared.cases.filter((_, i) => i % 64 === 0);
const group: Group = { ...shared, cases, used: false };
afterAll(() => group.server?.dispose());

/** Every case once; gives the ids of those that failed, with the reason. */
async function runAll(): Promise<string[]> {
  const faults: string[] = [];
  for (const one of group.cases) {
    await runCase(group, one).catch((error: Error) => faults.push(`${one.id}: ${error.message}`));
  }
  return faults;
}

/** Good calls of several kinds, as fast as they are answered, until told to stop. */
function keepBusy(port: number): { stop(): Promise<number> } {
  let running = true;
  const work = async (): Promise<number> => {
    const client = new Client(port);
    const id = await client.post('mcp/init');
    let calls = 0;
    for (; running; calls++) {
      const kind = calls % 4;
      if (kind === 0) await client.post('ping');
      else if (kind === 1) await client.post('countPeople');
      else if (kind === 2) await client.post('mcp/reset', { connection_id: id });
      else await client.request({ path: 'keyed', body: '{"key":"nobody"}' });
      // The short run shares its processors with other tests.
      if (!long) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    client.close();
    return calls;
  };
  const clients = Array.from({ length: long ? 8 : 2 }, work);
  return {
    stop: async () => {
      running = false;
      return (await Promise.all(clients)).reduce((sum, calls) => sum + calls, 0);
    },
  };
}

async function thousandGood(port: number): Promise<void> {
  const client = new Client(port);
  for (let i = 0; i < 1_000; i++) expect(await client.post('ping')).toEqual({ data: 'pong' });
  client.close();
}

test.each(long ? ['fresh', 'busy'] : ['busy'])(
  'T8 hostile inputs on a %s server',
  async (kind) => {
    const faults: string[] = await runAll();
    const { port, pid } = group.server!;
    let calls = 0;
    /**
     * All cases, beside clients or alone, and a thousand good calls, three times; gives the least
     * memory after one of them. The collector of each thread goes when it likes, so that memory by
     * itself goes up and down by tens of megabytes: what stays is at the foot of that.
     */
    const footOf = async (times: number): Promise<number> => {
      const feet: number[] = [];
      for (let i = 0; i < 3; i++) {
        const busy = kind === 'busy' ? keepBusy(port) : undefined;
        for (let j = 0; j < times; j++) faults.push(...(await runAll()));
        calls += (await busy?.stop()) ?? 0;
        expect(faults).toEqual([]);
        await thousandGood(port);
        feet.push(memoryOf(pid));
      }
      return Math.min(...feet);
    };
    const before = await footOf(1);
    const grown = (await footOf(rounds)) - before;
    expect(group.server!.pid).toBe(pid);
    const inputs = 3 * (1 + rounds) * group.cases.length;
    noteProof(
      'T8',
      `${inputs} hostile cases on a ${kind} server (${calls} good calls beside): ` +
        `0 wrong, RSS + ${(grown / 2 ** 20).toFixed(0)} MB, then 1,000 good requests`,
    );
    expect(grown).toBeLessThan(growthMax);
  },
  1_200_000,
);
