// Calls a provider, with timeouts and retries. Does not follow redirects, limits the size of responses, and
// puts no credential into messages.
import { setTimeout as sleep } from 'node:timers/promises';
import { fail, TrellisError } from '../base/errors.js';
import { post, type PostResponse, proxyFor } from './post.js';
import { notConfigured } from './provider/model.js';
import { leadsInside } from './provider/private-address.js';
import { extractMessage } from './provider/provider-response.js';
import type { ProviderCall } from './provider/provider.js';
import { retryAfterMs } from './retry-after.js';

/** Maximum bytes of an error message that are read. */
const errorBytesMax = 64 * 1024;
export const tooLong = 'the answer is too long';
const firstWaitMs = 250;
/** Random fraction of a retry delay, so that clients do not return at the same time. */
const jitter = 0.2;
/** The share of the time that a try may take while further tries are left. */
const tryShare = 0.5;

export interface RequestOptions {
  timeoutMs: number;
  retries: number;
  allowPrivate: boolean;
  /** Has HTTPS_PROXY, HTTP_PROXY and NO_PROXY, if they are set. */
  environment: Readonly<Record<string, string | undefined>>;
}

/** Runs one try when it is its turn. */
export type InTurn = <T>(work: () => Promise<T>, deadline: number) => Promise<T>;

/**
 * Returns the body of the response, of at most `bytesMax` bytes. Tries again after network errors, timeouts,
 * 408, 429 and 5xx while `deadline` (performance.now()) allows. Fails EMBEDDING_REFUSED,
 * EMBEDDING_NOT_CONFIGURED, EMBEDDING_FAILED, EMBEDDING_UNAVAILABLE or EMBEDDING_TIMEOUT.
 */
export async function request(
  call: ProviderCall,
  options: RequestOptions,
  inTurn: InTurn,
  deadline: number,
  bytesMax: number,
): Promise<Uint8Array> {
  for (let attempt = 0; ; attempt++) {
    const isLast = attempt >= options.retries;
    const run = () => tryOnce(call, options, deadline, bytesMax, isLast);
    const outcome = await inTurn(run, deadline);
    if (outcome.kind === 'answer') return outcome.body;
    const usualMs = firstWaitMs * 2 ** attempt * (1 + jitter * (2 * Math.random() - 1));
    const waitMs = outcome.waitMs ?? usualMs;
    if (isLast || performance.now() + waitMs >= deadline) failAfter(call, outcome);
    await sleep(waitMs);
  }
}

type Outcome = { kind: 'answer'; body: Uint8Array } | Again;

interface Again {
  kind: 'again';
  detail: string;
  /** The delay that the provider requested. */
  waitMs?: number | undefined;
  /** The try took longer than these milliseconds. */
  timeoutMs?: number;
}

/** The caller may come back when the provider has said so. */
function failAfter({ provider }: ProviderCall, { detail, waitMs, timeoutMs }: Again): never {
  if (timeoutMs !== undefined) fail('EMBEDDING_TIMEOUT', { provider, ms: timeoutMs });
  const seconds = waitMs && { seconds: Math.max(1, Math.ceil(waitMs / 1000)) };
  fail('EMBEDDING_UNAVAILABLE', { provider, detail, ...seconds });
}

async function tryOnce(
  call: ProviderCall,
  options: RequestOptions,
  deadline: number,
  bytesMax: number,
  isLast: boolean,
): Promise<Outcome> {
  const leftMs = deadline - performance.now();
  const share = isLast ? 1 : tryShare;
  const ms = Math.max(1, Math.ceil(Math.min(options.timeoutMs, leftMs * share)));
  const signal = AbortSignal.timeout(ms);
  try {
    const response = await send(call, options, signal);
    if (response.status === 200) {
      const body = await readBody(response, bytesMax);
      if (body.length <= bytesMax) return { kind: 'answer', body };
      fail('EMBEDDING_FAILED', { provider: call.provider, status: 200, detail: tooLong });
    }
    const errorBody = (await readBody(response, errorBytesMax)).subarray(0, errorBytesMax);
    return toOutcome(call, response, errorBody.toString('utf8'));
  } catch (error) {
    if (error instanceof TrellisError) throw error;
    if (signal.aborted) return { kind: 'again', detail: 'no answer', timeoutMs: ms };
    return { kind: 'again', detail: findReason(error) };
  }
}

async function send(
  call: ProviderCall,
  { allowPrivate, environment }: RequestOptions,
  signal: AbortSignal,
): Promise<PostResponse> {
  const { url } = call;
  const proxy = proxyFor(url, environment);
  // The proxy resolves the name, and decides where it may lead.
  if (!call.trusted && !allowPrivate && proxy === undefined && (await leadsInside(url)))
    refusePrivate(url);
  const headers = { ...call.headers, 'content-type': 'application/json' };
  return post({ url, headers, body: JSON.stringify(call.body), signal, proxy });
}

/** Statuses with which a provider refuses what it was sent. */
const ofContent: ReadonlySet<number> = new Set([400, 413, 422]);
/** Messages with status 400 that are about the credential or the model. Gemini sends the first. */
const ofCredential = /\bapi[ _-]?key\b|\bunauthori[sz]ed\b|\bcredentials?\b/i;
const ofModel =
  /\bmodel\b.*\bnot (exist|found|available)\b|\b(invalid|unknown|unsupported) model\b/i;

/** Interprets every response that is not a success. */
function toOutcome(call: ProviderCall, { status, header }: PostResponse, body: string): Outcome {
  const { provider } = call;
  const detail = extractMessage(body, call.credential);
  if (status === 408 || status === 429 || status >= 500)
    return { kind: 'again', detail: `${status} ${detail}`, waitMs: retryAfterMs(header) };
  const isOfCaller =
    status === 401 || status === 403 || (status === 400 && ofCredential.test(detail));
  if (isOfCaller) {
    const hint =
      call.credential === undefined
        ? 'No credential was sent: set the variable of the provider.'
        : 'Check the credential of the provider, and what it allows.';
    notConfigured(`${provider} answered ${status}: ${detail}`, hint);
  }
  if (ofContent.has(status) && !ofModel.test(detail))
    fail('EMBEDDING_REFUSED', { which: 'the texts', provider, status, detail });
  const redirected = status >= 300 && status < 400;
  const reason = redirected ? 'redirects are not followed' : detail;
  fail('EMBEDDING_FAILED', { provider, status, detail: reason });
}

/** Returns the body, or slightly more than `maxBytes` bytes of a longer one. */
async function readBody({ body }: PostResponse, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    chunks.push(chunk);
    if (length > maxBytes) break;
  }
  return Buffer.concat(chunks);
}

function refusePrivate(url: URL): never {
  notConfigured(
    `${url.hostname} leads to a private address`,
    'Set the base URL of the provider, or `embedding.allow_private`.',
  );
}

/** Returns the system's name of a network error: its message may contain addresses. */
function findReason(error: unknown): string {
  const { cause, code } = error as { cause?: { code?: unknown }; code?: unknown };
  const name = cause?.code ?? code;
  return typeof name === 'string' ? name : 'network error';
}
