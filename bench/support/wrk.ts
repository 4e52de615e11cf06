// wrk as load generator, where it is installed: a few microseconds of processor time a request, where
// autocannon takes more than the server that it measures.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Load } from './load.js';

export interface WrkRun {
  requestsPerSecond: number;
  requests: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  failed: number;
}

export const hasWrk = (): boolean => spawnSync('wrk', ['-v']).error === undefined;

/** Every request is made before the first is sent. */
function scriptOf({ method = 'POST', path, bodies = ['{}'] }: Load): string {
  const requests = bodies.map(
    (body) => `wrk.format(${JSON.stringify(method)}, "/${path}", head, ${JSON.stringify(body)})`,
  );
  return `
    local head = { ["Content-Type"] = "application/json" }
    local requests, at
    init = function()
      requests = { ${requests.join(',\n')} }
      at = math.random(#requests)
    end
    request = function()
      at = at % #requests + 1
      return requests[at]
    end
  `;
}

const units: Record<string, number> = { us: 0.001, ms: 1, s: 1_000, m: 60_000 };

function milliseconds(text: string, share: number): number {
  const [, value, unit] = new RegExp(`${share}%\\s+([\\d.]+)(us|ms|s|m)`).exec(text) ?? [];
  return unit === undefined ? Number.NaN : Number(value) * units[unit]!;
}

export async function runWrk(
  url: string,
  load: Load,
  connections: number,
  seconds: number,
  threads: number,
): Promise<WrkRun> {
  const folder = mkdtempSync(join(tmpdir(), 'trellis-wrk-'));
  const script = join(folder, 'load.lua');
  writeFileSync(script, scriptOf(load));
  try {
    const argv = ['-t', threads, '-c', connections, '-d', `${seconds}s`, '--latency', '-s', script];
    const child = spawn('wrk', [...argv.map(String), url]);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(`wrk ended with ${code}: ${text}`);
    const errors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(
      text,
    );
    const broken = (errors ?? []).slice(1).reduce((sum, count) => sum + Number(count), 0);
    return {
      requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]),
      requests: Number(/(\d+) requests in/.exec(text)?.[1]),
      p50: milliseconds(text, 50),
      p99: milliseconds(text, 99),
      failed: broken + Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
