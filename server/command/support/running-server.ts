// Finds the server that has a data directory open, and sends it requests for other commands. The port is in the LOCK
// file of the directory; the path of a Unix socket is in the configuration.
import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, request as requestPlain } from 'node:http';
import { type RequestOptions, request as requestTls } from 'node:https';
import { type ErrorData, TrellisError, fail, holderOf } from '../../../engine/internal.js';
import { shownKey } from '../../auth/environment-key.js';
import type { Config } from '../../config/config.js';
import { socketPathOf } from '../../http/listen-socket.js';
import { parseRemoteError } from '../../http/remote-error.js';
import { shownPath } from '../../terminal/format.js';
import { trustOwnCertificate } from './own-certificate.js';

/** Returns true for the error of a data directory that another process has open. */
export function isLocked(error: unknown): error is TrellisError {
  return error instanceof TrellisError && error.code === 'DATA_LOCKED';
}

/** Address of the server that has the data directory open. */
export interface ServerAddress {
  origin: string;
  socketPath?: string;
}

/** Fails SERVER_UNREACHABLE if no process has the directory open, or if that process does not listen. */
function addressOf(config: Config): ServerAddress {
  const address = findServer(config);
  if (typeof address === 'object') return address;
  const folder = shownPath(config.dataDir);
  if (address === undefined) return fail('SERVER_UNREACHABLE', { what: `none has ${folder} open` });
  const what = `the process that has ${folder} open does not listen on a port yet`;
  const hint = 'Try again shortly, or stop that process.';
  return fail('SERVER_UNREACHABLE', { what }, { hint });
}

/** Another program may have taken the port since the server wrote it into the LOCK file. */
function notTrellis({ origin, socketPath }: ServerAddress): ErrorData {
  const what = `what answers at ${socketPath ?? origin} is no server of this version`;
  return { code: 'DATA_LOCKED', args: { what } };
}

/** Replaces the hint of errors about keys: at a command line, a key is passed with --key. */
const keyHint = 'Give the key of an administrator with --key.';
const keyCodes: ReadonlySet<string> = new Set(['API_KEY_REQUIRED', 'INVALID_API_KEY', 'FORBIDDEN']);

/** Whether a server has the data directory open and listens. */
export const isServed = (config: Config): boolean => typeof findServer(config) === 'object';

/** Returns the address of the running server, `starting` if it does not listen yet, or undefined if there is none. */
export function findServer(config: Config): ServerAddress | 'starting' | undefined {
  const holder = holderOf(config.dataDir);
  if (holder === undefined) return undefined;
  const scheme = config.tls.cert === '' ? 'http' : 'https';
  const socketPath = socketPathOf(config.server.host);
  if (socketPath !== undefined) return { origin: `${scheme}://localhost`, socketPath };
  return typeof holder.port === 'number'
    ? { origin: `${scheme}://127.0.0.1:${holder.port}` }
    : 'starting';
}

/**
 * Calls an administrative action of the running server and returns its reply. Fails with the error of the server, or
 * with SERVER_UNREACHABLE.
 */
export async function callServer(config: Config, action: string, body: object): Promise<unknown> {
  const reply = await requestBytes(config, `_admin/${action}`, JSON.stringify(body));
  return JSON.parse(reply.toString());
}

/**
 * Posts a JSON body and returns the bytes of the reply. `onCancellable` receives a function that ends the request
 * before its reply.
 */
export async function requestBytes(
  config: Config,
  path: string,
  body: string,
  onCancellable?: (cancel: () => void) => void,
): Promise<Buffer> {
  // Servers of this project return the id of a request; other programs do not.
  const requestId = randomUUID();
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'X-Request-Id': requestId,
  };
  const key = shownKey(config.auth.api_key);
  if (key !== '') headers['x-api-key'] = key;
  if (config.tenant !== '') headers['trellis-tenant'] = config.tenant;
  const address = addressOf(config);
  const url = `${address.origin}/${path}`;
  let answer: Answer;
  try {
    const { socketPath } = address;
    const options = { method: 'POST', headers, ...(socketPath && { socketPath }) };
    answer = await post(url, { ...options, ...trustOwnCertificate(config) }, body, onCancellable);
  } catch (error) {
    return failUnreachable(address, error as NodeJS.ErrnoException);
  }
  const { status, reply } = answer;
  const named = answer.headers['x-request-id'];
  // A server answers `none` if it refused the request before it read the header.
  const isTrellis = named === requestId || named === 'none';
  if (status === 200 && isTrellis) return reply;
  const { data } = parseRemoteError(isTrellis ? reply : Buffer.alloc(0), notTrellis(address));
  throw new TrellisError(keyCodes.has(data.code) ? { ...data, hint: keyHint } : data);
}

/** Node's codes for certificates that it does not accept. */
const certificateError = /CERT|SELF_SIGNED|ISSUER|ALTNAME/;

function failUnreachable(
  { origin, socketPath }: ServerAddress,
  error: NodeJS.ErrnoException,
): never {
  const { code = String(error) } = error;
  const where = socketPath ?? origin;
  if (!certificateError.test(code))
    return fail('SERVER_UNREACHABLE', { what: `${where} does not answer (${code})` });
  const what = `the certificate of ${where} is not the one in \`tls.cert\` (${code})`;
  const hint = 'Restart or reload the server after a change of its certificate.';
  return fail('SERVER_UNREACHABLE', { what }, { hint });
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  reply: Buffer;
}

/** Sends one request. `fetch` cannot connect to Unix sockets. */
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
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        const { statusCode: status, headers } = response;
        resolve({ status: status!, headers, reply: Buffer.concat(chunks) });
      } catch (error) {
        reject(error);
      }
    });
    sent.on('error', reject);
    onCancellable?.(() => sent.destroy());
    sent.end(body);
  });
}
