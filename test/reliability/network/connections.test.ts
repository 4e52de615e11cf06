// Connections in numbers (T11) and clients that are slow on purpose (T12), on both transports: those
// who behave are served as before, and what the server keeps for the others is bounded. Latencies
// are compared in the long run only, before and while, in turns.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Connection, requestBytes } from '../../support/server/http.js';
import { type Latency, median, memoryOf, sampleLatency } from '../../support/server/load-sample.js';
import { noteProof } from '../../support/proof.js';
import { type Server, startServer } from '../../support/server/server.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const idleCount = long ? 9_500 : 300;
const activeCount = long ? 200 : 10;
const slowCount = long ? 500 : 15;
/** Those who do not read what they asked for: 4 MB each, of which their systems take nearly all. */
const deafCount = long ? 500 : 60;
const slowMs = Number(process.env.TRELLIS_TEST_MINUTES ?? (long ? 1.5 : 0.01)) * 60_000;
/** In which those who do not read come one by one: what they ask for costs, not that they wait. */
const gatherMs = long ? 30_000 : 100;
const rounds = long ? 7 : 1;
const sampleMs = long ? 1_500 : 150;
const cap = 32 * 2 ** 20;

const sources = {
  'main.hx': `
N::Text { v: String }
QUERY ping() => RETURN "pong"
QUERY put(v: String) => t <- AddN<Text>({ v }) RETURN NONE
QUERY texts() => t <- N<Text> RETURN t::{v}
`,
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const holder = new URL('../../support/server/idle-connections.mjs', import.meta.url);

/** Connections of another process. */
class Idle {
  private constructor(private readonly process: ChildProcess) {}

  static async open(port: number, count: number): Promise<Idle> {
    const idle = new Idle(fork(holder, [String(port), String(count)]));
    expect(await idle.#heard()).toBe('open');
    return idle;
  }

  async #heard(): Promise<unknown> {
    const [message] = await once(this.process, 'message');
    return message;
  }

  closed(): Promise<unknown> {
    const heard = this.#heard();
    this.process.send('closed?');
    return heard;
  }

  async end(): Promise<void> {
    const exit = once(this.process, 'exit');
    this.process.disconnect();
    await exit;
  }
}

const print = ({ calls, p50, p99 }: Latency): string =>
  `${calls} calls, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`;

// The twin is slower by itself, not in what it bounds: the short run is content with one.
describe.each(long ? ['uws', 'node'] : ['uws'])('on %s', (transport) => {
  let shared: Server;
  const config = {
    'server.transport': transport,
    'server.idle_time': '12s',
    'limits.connections': 12_000,
    'limits.buffered_response_bytes': cap,
    'limits.receive_time': '3s',
  };
  beforeAll(async () => {
    shared = await startServer({ sources, config });
    const v = 'x'.repeat(1 << 20);
    for (let i = 0; i < 4; i++) await shared.client.post('put', { v });
    await sampleLatency(shared.port, activeCount, sampleMs);
  });
  afterAll(() => shared?.dispose());

  test(`T11 ${idleCount} idle connections next to ${activeCount} active ones, on ${transport}`, async () => {
    // Of connections without a request the node transport ends those that are as old as `receive_time`: all of
    // them together, amid a sample, if that is short.
    const patient = { ...config, 'limits.receive_time': '30s' };
    const server = long ? await startServer({ sources, config: patient }) : shared;
    await sampleLatency(server.port, activeCount, sampleMs);
    const before = memoryOf(server.pid);
    const growths: number[] = [];
    let alone!: Latency;
    let beside!: Latency;
    for (let i = 0; i < rounds; i++) {
      alone = await sampleLatency(server.port, activeCount, sampleMs);
      const idle = await Idle.open(server.port, idleCount);
      // What connections cost while they come is not what they cost while they are idle.
      await sampleLatency(server.port, activeCount, sampleMs / 3);
      beside = await sampleLatency(server.port, activeCount, sampleMs);
      growths.push(beside.p99 / alone.p99);
      if (i === rounds - 1 && long)
        await vi.waitFor(async () => expect(await idle.closed()).toBe(idleCount), 16_000);
      await idle.end();
      await pause(50);
    }
    const grown = (memoryOf(server.pid) - before) / 2 ** 20;
    if (server !== shared) await server.dispose();
    const growth = median(growths);
    const what = `${idleCount} idle, ${activeCount} active on ${transport}: alone ${print(alone)}`;
    noteProof(
      'T11',
      `${what}; beside ${print(beside)}; p99 x ${growth.toFixed(2)}, RSS + ${grown.toFixed(0)} MB`,
    );
    if (long) expect(growth, `growths ${growths}`).toBeLessThan(1.2);
    expect(grown).toBeLessThan(long ? 200 : 64);
  }, 600_000);

  /** Whether the slow ones go on. */
  let slowTime = false;

  /** Sends a byte now and then; opens another connection when this one is closed. */
  async function trickle(): Promise<void> {
    while (slowTime) {
      const connection = await Connection.open(shared.port);
      connection.send(requestBytes({ path: 'ping', headers: { 'Content-Length': '1000' } }));
      while (slowTime && !connection.ended) {
        connection.send(' ');
        await pause(Math.min(1_000, slowMs / 5));
      }
      connection.close();
    }
  }

  /** Asks for megabytes, not at the same moment as all others, and reads none of them. */
  async function neverRead(delayMs: number): Promise<void> {
    await pause(delayMs);
    const connection = await Connection.open(shared.port);
    connection.socket.pause();
    connection.send(requestBytes({ path: 'texts' }));
    while (slowTime) await pause(Math.min(500, slowMs / 5));
    connection.close();
  }

  async function metric(name: string): Promise<number> {
    const { text } = await shared.client.request({ method: 'GET', path: 'metrics' });
    return Number(new RegExp(`^trellis_${name} (\\d+)`, 'm').exec(text)![1]);
  }

  test(`T12 ${slowCount} that send slowly and ${deafCount} that do not read, on ${transport}`, async () => {
    // Beside a server of its own that has no such clients, in turns: the machine has other work.
    const control = long ? await startServer({ sources, config }) : shared;
    const before = memoryOf(shared.pid);
    slowTime = true;
    const slow = Promise.all([
      ...Array.from({ length: slowCount }, trickle),
      ...Array.from({ length: deafCount }, (_, i) => neverRead((i / deafCount) * gatherMs)),
    ]);
    await pause(gatherMs);
    // What they ask for is work like any other; from here on they only wait.
    await expect.poll(() => metric('requests_in_flight'), { timeout: 200_000 }).toBeLessThan(5);
    const until = performance.now() + slowMs;
    let most = 0;
    let resident = 0;
    const shares: number[] = [];
    let alone!: Latency;
    let beside!: Latency;
    do {
      alone = await sampleLatency(control.port, 10, Math.min(2_000, slowMs / 3));
      beside = await sampleLatency(shared.port, 10, Math.min(2_000, slowMs / 3));
      shares.push(beside.p99 / alone.p99);
      most = Math.max(most, await metric('buffered_response_bytes'));
      resident = Math.max(resident, memoryOf(shared.pid));
    } while (performance.now() < until);
    slowTime = false;
    await slow;
    if (control !== shared) await control.dispose();
    const grown = (resident - before) / 2 ** 20;
    const what = `${slowCount} + ${deafCount} slow on ${transport} for ${slowMs / 1000} s`;
    noteProof(
      'T12',
      `${what}: alone ${print(alone)}; beside ${print(beside)}; p99 x ${median(shares).toFixed(2)}; ` +
        `${(most / 2 ** 20).toFixed(0)} MB buffered at most, RSS + ${grown.toFixed(0)} MB`,
    );
    expect(most).toBeLessThanOrEqual(cap);
    // Beside it what was read and made lately, and not collected yet.
    expect(grown).toBeLessThan(long ? 300 : 200);
    if (long) expect(median(shares), `shares ${shares}`).toBeLessThan(2);
    expect(await shared.client.post('ping')).toEqual({ data: 'pong' });
  }, 900_000);
});
