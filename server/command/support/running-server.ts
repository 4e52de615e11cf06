// The server that has a data directory open, as other commands reach it: its port stands in the LOCK
// file, a socket in the file system in the configuration.
import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, type RequestOptions, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { type ErrorData, TrellisError, fail, holderOf } from '../../../engine/index.js';
import { shownKey } from '../../auth/environment-key.js';
import type { Config } from '../../config/config.js';
import { socketPathOf } from '../../http/listen-socket.js';
import { parseRemoteError } from '../../http/remote-error.js';

/** Whether an error says that a running server has the directory. */
export function isLocked(error: unknown): error is TrellisError {
  return error instanceof TrellisError && error.code === 'DATA_LOCKED';
}

/** Where the server listens that has the data directory open. */
export interface Place {
  origin: string;
  socketPath?: string;
}

function placeOf(config: Config): Place {
  const place = servedAt(config);
  if (typeof place === 'object') return place;
  const what = `${config.dataDir} belongs to a process that serves no port`;
  return fail('DATA_LOCKED', { what });
}

/** Since the server wrote its port down, another program may have taken it. */
function noneOfOurs({ origin, socketPath }: Place): ErrorData {
  const what = `what answers at ${socketPath ?? origin} is no server of this version`;
  return { code: 'DATA_LOCKED', args: { what } };
}

/** What the refusals of a key are about, for somebody at a command line. */
const keyHint = 'Give the key of an administrator with --key.';
const keyCodes: ReadonlySet<string> = new Set(['API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN']);

/** Whether a server holds the directory and serves a port. */
export const isServed = (config: Config): boolean => typeof servedAt(config) === 'object';

/** Where a running server is reached; `starting` while it is not yet, undefined for none. */
export function servedAt(config: Config): Place | 'starting' | undefined {
  const holder = holderOf(config.dataDir);
  if (holder === undefined) return undefined;
  const scheme = config.tls.cert === '' ? 'http' : 'https';
  const socketPath = socketPathOf(config.server.host);
  if (socketPath !== undefined) return { origin: `${scheme}://localhost`, socketPath };
  return typeof holder.port === 'number'
    ? { origin: `${scheme}://127.0.0.1:${holder.port}` }
    : 'starting';
}

/** Asks the running server for an operator's action. Fails with its error. */
export async function askServer(config: Config, action: string, body: object): Promise<unknown> {
  const reply = await askBytes(config, `_admin/${action}`, JSON.stringify(body));
  return JSON.parse(reply.toString());
}

/** The reply to a body of JSON. `onCancellable` is told how to leave before it has come. */
export async function askBytes(
  config: Config,
  path: string,
  body: string,
  onCancellable?: (cancel: () => void) => void,
): Promise<Buffer> {
  // Our servers take the name of a request and give it back: another program does not.
  const requestId = randomUUID();
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'X-Request-Id': requestId,
  };
  const key = shownKey(config.auth.api_key);
  if (key !== '') headers['x-api-key'] = key;
  if (config.tenant !== '') headers['trellis-tenant'] = config.tenant;
  const place = placeOf(config);
  const url = `${place.origin}/${path}`;
  let answer: Answer;
  try {
    const options = { method: 'POST', headers, ...(place.socketPath && place) };
    answer = await post(url, options, body, onCancellable);
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const what = `the server at ${place.socketPath ?? place.origin} does not answer (${code})`;
    return fail('DATA_LOCKED', { what });
  }
  const { status, reply } = answer;
  const named = answer.headers['x-request-id'];
  // `none`: it was refused before its head was read.
  const isOurs = named === requestId || named === 'none';
  if (status === 200 && isOurs) return reply;
  const { data } = parseRemoteError(isOurs ? reply : Buffer.alloc(0), noneOfOurs(place));
  throw new TrellisError(keyCodes.has(data.code) ? { ...data, hint: keyHint } : data);
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  reply: Buffer;
}

/** As `fetch`, which knows no sockets in the file system. */
function post(
  url: string,
  options: RequestOptions,
  body: string,
  onCancellable?: (cancel: () => void) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = url.startsWith('https:') ? requestTls : requestPlain;
    const sent = request(url, options, async (response) => {
      try {
        const pieces: Buffer[] = [];
        for await (const piece of response) pieces.push(piece as Buffer);
        const { statusCode: status, headers } = response;
        resolve({ status: status!, headers, reply: Buffer.concat(pieces) });
      } catch (error) {
        reject(error);
      }
    });
    sent.on('error', reject);
    onCancellable?.(() => sent.destroy());
    sent.end(body);
  });
}
