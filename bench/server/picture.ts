// `npm run bench -- picture [--rounds 14]`: measures the time from opening a page of the demo until it is
// drawn and its layout has converged: the overview, and the page Graph. Every round uses a new browser
// profile. Needs a Chromium (TRELLIS_CHROMIUM is its path).
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { numberOption } from '../support/bench-option.js';
import { type BenchServer, startBenchServer } from '../support/load.js';
import { median } from '../support/sample-times.js';
import { type Cell, printTable } from '../support/table.js';

const demo = fileURLToPath(new URL('../../../server/demo', import.meta.url));
const demoFiles = ['schema.hx', 'queries.hx', 'load.hx', 'seed.ndjson', 'trellis.toml'];
const pages: Record<string, string> = { overview: '', graph: '#/graph' };

/**
 * Records when the page first draws, and when it last draws or receives a layout, in ms since it was
 * opened.
 */
const watch = `
  const seen = (globalThis.seen = {});
  const Plain = Worker;
  globalThis.Worker = class extends Plain {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', () => { seen.laid = performance.now(); });
    }
  };
  const gl = WebGL2RenderingContext.prototype;
  const draw = gl.drawArraysInstanced;
  gl.drawArraysInstanced = function (...args) {
    seen.drawn ??= performance.now();
    seen.last = performance.now();
    return draw.apply(this, args);
  };
`;

/** Milliseconds without movement after which a page is at rest. */
const stillMs = 700;
const patienceMs = 60_000;

interface Seen {
  drawn: number;
  laid: number;
  last: number;
  now: number;
}

async function look(browser: Browser, url: string): Promise<Seen> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    await page.addInitScript({ content: watch });
    await page.goto(url);
    for (;;) {
      const seen = await page.evaluate<Seen>('({ ...seen, now: performance.now() })');
      // Before anything was seen this is no number.
      if (seen.now - Math.max(seen.laid, seen.last) > stillMs) return seen;
      if (seen.now > patienceMs) throw new Error(`${url} never stands still`);
      await sleep(50);
    }
  } finally {
    await context.close();
  }
}

async function measureAll(browser: Browser, server: BenchServer, rounds: number) {
  const seen = new Map<string, Seen[]>(Object.keys(pages).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, hash] of Object.entries(pages))
      seen.get(name)!.push(await look(browser, `${server.url}/${hash}`));
  }
  return [...seen].map(([name, all]): Cell[] => {
    const rest = all.map(({ laid, last }) => Math.max(laid, last));
    const first = median(all.map(({ drawn }) => drawn));
    return [name, first, median(rest), Math.min(...rest), Math.max(...rest)];
  });
}

export async function run(args: string[]): Promise<void> {
  const places = [process.env.TRELLIS_CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'];
  const executablePath = places.find((path) => path !== undefined && existsSync(path));
  if (executablePath === undefined) {
    console.log('no Chromium: install one or set TRELLIS_CHROMIUM to its path');
    return;
  }
  const texts = demoFiles.map((name) => [name, readFileSync(join(demo, name), 'utf8')]);
  const server = await startBenchServer(Object.fromEntries(texts) as Record<string, string>);
  try {
    // What a start leaves to do is done before anybody is measured.
    await sleep(3_000);
    const browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--enable-unsafe-swiftshader'],
    });
    try {
      const rows = await measureAll(browser, server, numberOption(args, 'rounds', 14));
      console.log("The demo's pages, drawn by the processor; wanted is rest after 1,000 ms:\n");
      const columns = ['page', 'first drawn ms', 'at rest ms', 'soonest', 'latest'];
      console.log(printTable(columns, rows));
    } finally {
      await browser.close();
    }
  } finally {
    await server.stop();
  }
}
