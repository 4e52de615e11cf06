// T10: many sessions open at once, a few of them walked at a time: every one goes on where it was,
// none ends early, all end in time, and what they took is given back.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteProof } from '../../support/proof.js';
import { Random } from '../../support/random.js';
import { type Server, startServer } from '../../support/server/server.js';
import { expectFigure } from '../../support/run/figure.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const count = long ? 10_000 : 200;
const activeMs = long ? 180_000 : 1500;
const perSecond = 50;
const people = 100;
const idleSeconds = long ? 300 : 8;

const sources = {
  'main.hx': `
N::Person { no: I64 }
QUERY sow(nos: [I64]) => FOR no IN nos { AddN<Person>({ no: no }) } RETURN "ok"
`,
};

let server: Server;
beforeAll(async () => {
  const config = { 'limits.session_idle': `${idleSeconds}s`, 'limits.sessions': count };
  server = await startServer({ sources, config });
  await server.client.post('sow', { nos: Array.from({ length: people }, (_, i) => i) });
});
afterAll(() => server?.dispose());

const url = (path: string): string => `http://127.0.0.1:${server.port}/${path}`;

async function call(tool: string, body: object): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' };
  const reply = await fetch(url(`mcp/${tool}`), {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const answer = (await reply.json()) as { code?: string };
  if (reply.status !== 200) throw new Error(`${tool}: ${reply.status} ${answer.code}`);
  return answer;
}

/** Runs `work` for 0 to `total`, a few at a time. */
async function each(total: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < total; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}

async function openNow(): Promise<number> {
  const text = await (await fetch(url('metrics'))).text();
  return Number(/^trellis_sessions (\d+)/m.exec(text)![1]);
}

function ownBytes(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)![1]) * 1024;
}

const ninetyNine = (times: number[]): number =>
  times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!;

test('many open sessions each continue at their position (T10)', {
  timeout: 1_200_000,
}, async () => {
  const before = process.platform === 'linux' ? ownBytes() : 0;
  const ids: string[] = [];
  await each(count, async (i) => {
    ids[i] = (await call('init', {})) as string;
    await call('n_from_type', { connection_id: ids[i], data: { node_type: 'Person' } });
  });
  expect(await openNow()).toBe(count);
  const bytes = process.platform === 'linux' ? (ownBytes() - before) / count : 0;
  const random = new Random(10);
  /** How many items each session has been given; the first came with `n_from_type`. */
  const given = new Array<number>(count).fill(1);
  const [times, plain]: [number[], number[]] = [[], []];
  const pending = new Set<Promise<void>>();
  const started = performance.now();
  let calls = 0;
  while (performance.now() - started < activeMs) {
    const i = random.below(count);
    const want = given[i]!++ % people;
    const timed = async (): Promise<void> => {
      const at = performance.now();
      const item = (await call('next', { connection_id: ids[i] })) as { no: number } | null;
      times.push(performance.now() - at);
      // Calls of one session overlap now and then: which of two answers comes first is open.
      if (item !== null) expect(Math.abs(item.no - want)).toBeLessThanOrEqual(2);
      const health = performance.now();
      await fetch(url('livez'));
      plain.push(performance.now() - health);
    };
    const one = timed();
    pending.add(one);
    void one.finally(() => pending.delete(one)).catch(() => undefined);
    calls++;
    const due = started + (calls * 1000) / perSecond;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
  }
  await Promise.all(pending);
  const p99 = ninetyNine(times);
  // Beside other work on the machine everything is late: then `next` may be as late as a health check.
  expectFigure(p99, Math.max(10, 3 * ninetyNine(plain)), 'ms, p99 of next');
  expect(await openNow()).toBe(count);
  await expect.poll(openNow, { timeout: (idleSeconds + 75) * 1000, interval: 500 }).toBe(0);
  if (long) expect(bytes).toBeLessThan(20 * 1024);
  noteProof(
    'T10',
    `${count} sessions, ${calls} calls of next at ${perSecond}/s: p99 ${p99.toFixed(1)} ms, ${(bytes / 1024).toFixed(1)} KiB each, all ended in time`,
  );
});
