// The parts that HTTP threads share with the main thread: complete headers, messages that all arrive, rates
// and counts of all threads together; and how a thread with connections ends.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { SharedRate } from '../../server/auth/rate-limiter.js';
import { ForwardedExchange } from '../../server/http-threads/main-exchange.js';
import { writeHead } from '../../server/http-threads/head-codec.js';
import { SharedCounts } from '../../server/http-threads/shared-counts.js';
import {
  type Batch,
  type ThreadItem,
  type MainItem,
  Outbox,
} from '../../server/http-threads/messages.js';
import { ThreadMetrics } from '../../server/telemetry/thread-metrics.js';
import { Metrics } from '../../server/telemetry/metrics.js';
import { addOnName } from '../../server/http/native/uws-add-on.js';
import { hasUws } from '../support/server/has-uws.js';
import { Random } from '../support/random.js';
import { root } from '../support/project.js';

const long = process.env.TRELLIS_TEST_LONG === '1';
const built = (path: string) => JSON.stringify(pathToFileURL(join(root, 'dist', path)).href);
const threadOf = (script: string, options: WorkerOptions = {}) =>
  new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), options);

const outbox = new Outbox<MainItem>({ postMessage: () => undefined });
const onEnd = () => undefined;
const fresh = (head: string) => new ForwardedExchange(1, head, 0, outbox, onEnd);
const emptyHead = writeHead(fresh('\n'.repeat(99)));

/** Every header that means something, and one that does not. */
const names = [
  'host content-type content-length transfer-encoding x-api-key authorization origin',
  'sec-fetch-site x-request-id x-request-timeout-ms accept accept-encoding content-encoding',
  'idempotency-key traceparent mcp-protocol-version mcp-method mcp-name if-none-match',
  'x-trellis-access x-forwarded-for forwarded via access-control-request-method x-else',
  'x-forwarded-host x-real-ip trellis-consistency trellis-after trellis-partial trellis-tenant',
  'trellis-node trellis-passed-on',
].flatMap((line) => line.split(' '));

describe('heads on their way to the main thread', () => {
  it('arrive unchanged, with any headers', () => {
    const random = new Random(14);
    for (let round = 0; round < 300; round++) {
      const sent = fresh(emptyHead);
      sent.method = random.pick(['GET', 'POST', 'OPTIONS']);
      sent.path = random.pick(['/', '/a', `/${'p'.repeat(300)}`, '/%0a']);
      sent.query = random.pick(['', 'a=1', 'explain=1&x']);
      for (const name of names) {
        for (let i = random.below(3); i > 0; i--) {
          sent.keepHeader(name, random.pick(['', 'x', 'a b;c', 'é\t~', '0', 'chunked']));
        }
      }
      const got = fresh(writeHead(sent));
      expect({ ...got }).toEqual({ ...sent });
      expect(writeHead(got)).toBe(writeHead(sent));
    }
  });
});

describe('messages between an HTTP thread and the main thread', () => {
  it('all arrive, complete and in order, for any bursts and pauses', async () => {
    const count = long ? 10_000_000 : 100_000;
    // Sends back what it hears; its own bursts are not those that came.
    const thread = threadOf(`
      import { parentPort } from 'node:worker_threads';
      const { Outbox } = await import(${built('server/http-threads/messages.js')});
      const outbox = new Outbox(parentPort);
      const echo = ({ items, bytes }) => {
        for (const [, id, start, end] of items) {
          const span = outbox.keep(new Uint8Array(bytes, start, end - start));
          outbox.add(['answer', id, ['', '', 0, 0], false, 0, ...span]);
        }
      };
      const held = [];
      const drain = () => {
        while (held.length > 0) echo(held.shift());
      };
      parentPort.on('message', (batch) => {
        held.push(batch);
        if (batch.items.length % 7 > 0) drain();
        else setImmediate(drain);
      });
    `);
    const random = new Random(41);
    const box = new Outbox<ThreadItem>(thread);
    const pool = Buffer.alloc(4096, 'body');
    const lengths: number[] = [];
    let [sent, heard] = [0, 0];
    const done = new Promise<void>((resolve, reject) => {
      thread.on('error', reject);
      thread.on('message', ({ items, bytes }: Batch<MainItem>) => {
        for (const item of items as Extract<MainItem, ['answer', ...unknown[]]>[]) {
          const [, id, , , , start, end] = item;
          const isWhole = end - start === lengths.shift() && end <= bytes.byteLength;
          if (id !== heard || !isWhole) return reject(new Error(`${id} came, not ${heard}`));
          heard++;
        }
        if (heard === count) resolve();
        // With nothing under way both sides sleep: what is sent next must wake them.
        else if (heard === sent) send();
      });
    });
    const send = (): void => {
      const burst = Math.min(count - sent, 1 + random.below(random.below(4) > 0 ? 900 : 2));
      for (let i = 0; i < burst; i++) {
        const body = pool.subarray(0, random.below(8) > 0 ? 16 : random.below(4096));
        lengths.push(body.length);
        const span = box.keep(body);
        box.add(['body', sent++, ...span]);
      }
      if (sent < count && random.below(2) > 0) setImmediate(send);
    };
    send();
    await done;
    expect([heard, lengths.length]).toEqual([count, 0]);
    await thread.terminate();
  });
});

describe('the end of a thread that has connections', () => {
  const uws = JSON.stringify(hasUws && createRequire(import.meta.url).resolve(addOnName));

  it('is its own when its heap fills: it gives up before V8 ends it', async () => {
    const thread = threadOf(
      `
      import { parentPort } from 'node:worker_threads';
      const { guardHeap } = await import(${built('server/http-threads/heap-guard.js')});
      const kept = [];
      const leak = setInterval(() => {
        for (let i = 0; i < 3_000; i++) kept.push({ i, text: [i] });
      }, 2);
      guardHeap((message) => {
        clearInterval(leak);
        parentPort.postMessage(message);
      });
      `,
      // Room above what one collection of the young may promote, which is 16 MB at once.
      { resourceLimits: { maxOldGenerationSizeMb: 160 } },
    );
    const error = once(thread, 'error').then(([reason]) => String(reason));
    const [said] = await Promise.race([once(thread, 'message'), error.then((text) => [text])]);
    expect(said).toMatch(/^its heap is nearly full: \d+ of \d+ bytes$/);
    await thread.terminate();
  });

  it.skipIf(!hasUws)('from outside ends the whole process, which skips its own end tasks', () => {
    const script = `
      const { Worker, isMainThread, parentPort } = require('node:worker_threads');
      if (isMainThread) {
        const thread = new Worker(process.env.SCRIPT, { eval: true });
        thread.on('message', () => thread.terminate().then(() => console.log('alive')));
      } else {
        const app = require(${uws}).App();
        process.on('exit', () => app.close());
        app.listen(0, () => parentPort.postMessage(''));
      }
    `;
    const env = { ...process.env, SCRIPT: script };
    const ended = spawnSync(
      '/bin/sh',
      ['-c', 'ulimit -c 0; exec "$0" -e "$SCRIPT"', process.execPath],
      {
        env,
        encoding: 'utf8',
      },
    );
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toContain('open handles');
    expect(ended.signal).toBe('SIGABRT');
  });
});

describe('rates of all threads', () => {
  it('count every source separately, and start again each second', () => {
    const rate = new SharedRate(3);
    for (const second of [1000, 2000, 3500]) {
      for (let source = 0; source < 2000; source++) {
        const passed = [1, 2, 3, 4, 5].map(() => rate.pass(`source ${source}`, second));
        expect(passed).toEqual([true, true, true, false, false]);
      }
    }
  });

  it('count too many rather than too few if there are more sources than entries', () => {
    const rate = new SharedRate(1);
    let passed = 0;
    for (let source = 0; source < 60_000; source++) if (rate.pass(`${source}`, 0)) passed++;
    expect(passed).toBeGreaterThan(20_000);
    expect(passed).toBeLessThanOrEqual(32_768);
  });

  it('let exactly this many through, on any threads', async () => {
    const rate = new SharedRate(5_000);
    // Each thread's clock begins with it: the second is that of the clock they share.
    const script = `
      import { parentPort, workerData } from 'node:worker_threads';
      const { SharedRate } = await import(${built('server/auth/rate-limiter.js')});
      const { sharedOriginMs } = await import(${built('engine/base/clock.js')});
      const rate = new SharedRate(5_000, workerData);
      let passed = 0;
      for (let i = 0; i < 4_000; i++) if (rate.pass('one', 500 - sharedOriginMs)) passed++;
      parentPort.postMessage(passed);
    `;
    const threads = [1, 2].map(() => threadOf(script, { workerData: rate.buffer }));
    const passed = await Promise.all(
      threads.map(async (thread) => ((await once(thread, 'message')) as [number])[0]),
    );
    expect(passed[0]! + passed[1]!).toBe(5_000);
  });
});

describe('counts of all threads', () => {
  it('are sums, and hold nothing of a thread that has ended', () => {
    const counts = new SharedCounts(3);
    const [main, thread, other] = [0, 1, 2].map((row) => counts.of(row));
    main!.connections += 2;
    thread!.connections += 5;
    thread!.aborted += 3;
    other!.bufferedBodyBytes += 100;
    expect(new SharedCounts(3, counts.buffer).totals()).toMatchObject({
      connections: 7,
      aborted: 3,
      bufferedBodyBytes: 100,
    });
    counts.forget(1);
    counts.forget(2);
    expect(counts.totals()).toMatchObject({ connections: 2, aborted: 3, bufferedBodyBytes: 0 });
  });

  it('of responses stay when their thread has another program, or has ended', () => {
    const metrics = new Metrics();
    const figures = new ThreadMetrics(['a', 'b']);
    const seen = () =>
      metrics
        .samples()
        .filter(({ name }) =>
          /^(requests|request_errors|limit_hits)_total$|_count$|bytes_total$/.test(name),
        )
        .map(({ name, labels, value }) => `${name} ${Object.values(labels ?? {})} ${value}`)
        .filter((line) => !line.endsWith(' 0'));
    metrics.route('a').record('200 OK', 0.001, 1, 2);
    metrics.route('b');
    const followed = new ThreadMetrics(figures.names, figures.buffer);
    metrics.follow(followed);
    figures.at(0).record('200 OK', 0.002, 10, 20);
    figures.at(1).record('404 Not Found', 0.002, 10, 20);
    figures.reject('NO_VALUE_FOUND');
    figures.reject('JSON_TOO_DEEP');
    const wanted = [
      'requests_total a,200 2',
      'request_bytes_total a 11',
      'response_bytes_total a 22',
      'request_duration_seconds_count a 2',
      'requests_total b,404 1',
      'request_bytes_total b 10',
      'response_bytes_total b 20',
      'request_duration_seconds_count b 1',
      'request_errors_total NO_VALUE_FOUND 1',
      'request_errors_total JSON_TOO_DEEP 1',
      'limit_hits_total json_depth 1',
    ];
    const check = () => {
      expect(seen().sort()).toEqual(wanted.sort());
      expect(metrics.route('a').tally.since(undefined)).toMatchObject({ calls: 2, errors: 0 });
      expect(metrics.route('b').tally.since(undefined)).toMatchObject({ calls: 1, errors: 1 });
    };
    check();
    metrics.unfollow(followed);
    check();
    figures.at(0).record('200 OK', 0.002, 10, 20);
    check();
  });
});
