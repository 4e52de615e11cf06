// The server that has a data directory open, as other commands reach it: its port stands in the LOCK
// file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorData, TrellisError, fail } from '../engine/index.js';
import type { Config } from './config.js';

/** Whether an error says that a running server has the directory. */
export function isLocked(error: unknown): boolean {
  return error instanceof TrellisError && error.code === 'DATA_LOCKED';
}

function addressOf(config: Config): string {
  let port: number | undefined;
  try {
    const text = readFileSync(join(config.dataDir, 'LOCK'), 'utf8');
    port = (JSON.parse(text) as { port?: number }).port;
  } catch {
    // A server that is just starting or stopping has not written it.
  }
  if (port === undefined) {
    fail('DATA_LOCKED', { what: `${config.dataDir} belongs to a process that serves no port` });
  }
  const scheme = config.tls.cert === '' ? 'http' : 'https';
  return `${scheme}://127.0.0.1:${port}`;
}

/** Asks the running server for an operator's action. Fails with its error. */
export async function askServer(config: Config, action: string, body: object): Promise<unknown> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (config.auth.api_key !== '') headers['x-api-key'] = config.auth.api_key;
  const url = `${addressOf(config)}/_admin/${action}`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const reply = (await response.json()) as ErrorData;
  if (!response.ok) throw new TrellisError({ code: reply.code, args: reply.args ?? {} });
  return reply;
}
