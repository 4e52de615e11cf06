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
  let port: number | null | undefined;
  try {
    const text = readFileSync(join(config.dataDir, 'LOCK'), 'utf8');
    port = (JSON.parse(text) as { port?: number | null }).port;
  } catch {
    // A server that is just starting or stopping has not written it.
  }
  if (port === undefined || port === null) {
    fail('DATA_LOCKED', { what: `${config.dataDir} belongs to a process that serves no port` });
  }
  const scheme = config.tls.cert === '' ? 'http' : 'https';
  return `${scheme}://127.0.0.1:${port}`;
}

/** What the refusals of a key are about, for somebody at a command line. */
const keyHint = 'Give the key of an administrator with --key.';
const keyCodes: ReadonlySet<string> = new Set(['API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN']);

/** Asks the running server for an operator's action. Fails with its error. */
export async function askServer(config: Config, action: string, body: object): Promise<unknown> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  if (config.auth.api_key !== '') headers['x-api-key'] = config.auth.api_key;
  const url = `${addressOf(config)}/_admin/${action}`;
  let response: Response;
  try {
    response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  } catch (error) {
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
    const what = `the server at ${addressOf(config)} does not answer (${cause?.code ?? error})`;
    return fail('DATA_LOCKED', { what });
  }
  const reply = (await response.json()) as ErrorData;
  if (response.ok) return reply;
  const { code, args = {} } = reply;
  throw new TrellisError({ code, args, ...(keyCodes.has(code) && { hint: keyHint }) });
}
