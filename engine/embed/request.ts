// Calls a provider, with timeout and retries. Does not follow redirects, limits the size of responses, and
// puts no credential into messages.
import { setTimeout as sleep } from 'node:timers/promises';
import { fail, TrellisError } from '../base/errors.js';
import { extractMessage } from './provider-response.js';
import { CallSlots } from './call-slots.js';
import { notConfigured } from './model.js';
import { leadsInside } from './private-address.js';
import type { ProviderCall } from './provider.js';

/** Maximum bytes of an error message that are read. */
const errorBytesMax = 64 * 1024;
export const tooLong = 'the answer is too long';
const slots = /* @__PURE__ */ new CallSlots();
const retryAfterMaxMs = 10_000;
const firstWaitMs = 250;
/** Random fraction of a retry delay, so that clients do not return at the same time. */
const jitter = 0.2;

export interface RequestOptions {
  timeoutMs: number;
  retries: number;
  allowPrivate: boolean;
}

/**
 * Returns the body of the response, of at most `bytesMax` bytes. Retries after network errors, 408, 429 and
 * 5xx while `deadline` (performance.now()) allows. Fails EMBEDDING_FAILED, EMBEDDING_UNAVAILABLE or
 * EMBEDDING_TIMEOUT.
 */
export async function request(
  call: ProviderCall,
  options: RequestOptions,
  deadline: number,
  bytesMax: number,
): Promise<Uint8Array> {
  for (let attempt = 0; ; attempt++) {
    const run = () => tryOnce(call, options, deadline, bytesMax);
    const outcome = await slots.run(run, deadline);
    if (outcome.kind === 'answer') return outcome.body;
    const waitMs =
      outcome.waitMs ?? firstWaitMs * 2 ** attempt * (1 + jitter * (2 * Math.random() - 1));
    if (attempt >= options.retries || performance.now() + waitMs >= deadline)
      fail('EMBEDDING_UNAVAILABLE', { provider: call.provider, detail: outcome.detail });
    await sleep(waitMs);
  }
}

type Outcome =
  | { kind: 'answer'; body: Uint8Array }
  /** `waitMs` is the delay that the provider requested. */
  | { kind: 'again'; detail: string; waitMs?: number };

async function tryOnce(
  call: ProviderCall,
  options: RequestOptions,
  deadline: number,
  bytesMax: number,
): Promise<Outcome> {
  const ms = Math.max(1, Math.ceil(Math.min(options.timeoutMs, deadline - performance.now())));
  const signal = AbortSignal.timeout(ms);
  try {
    if (!call.trusted && !options.allowPrivate && (await leadsInside(call.url)))
      refusePrivate(call.url);
    const response = await fetch(call.url, {
      method: 'POST',
      headers: { ...call.headers, 'content-type': 'application/json' },
      body: JSON.stringify(call.body),
      redirect: 'manual',
      signal,
    });
    if (response.status === 200) {
      const body = await readBody(response, bytesMax);
      if (body.length <= bytesMax) return { kind: 'answer', body };
      fail('EMBEDDING_FAILED', { provider: call.provider, status: 200, detail: tooLong });
    }
    const errorBody = (await readBody(response, errorBytesMax)).subarray(0, errorBytesMax);
    return toOutcome(call, response, errorBody.toString('utf8'));
  } catch (error) {
    if (error instanceof TrellisError) throw error;
    if (signal.aborted) fail('EMBEDDING_TIMEOUT', { provider: call.provider, ms });
    return { kind: 'again', detail: findReason(error) };
  }
}

/** Interprets every response that is not a success. */
function toOutcome(call: ProviderCall, response: Response, body: string): Outcome {
  const { provider } = call;
  const { status } = response;
  const detail = extractMessage(body, call.credential);
  if (status === 408 || status === 429 || status >= 500) {
    const seconds = /^\d+$/.exec(response.headers.get('retry-after') ?? '')?.[0];
    const waitMs =
      seconds === undefined ? undefined : Math.min(Number(seconds) * 1000, retryAfterMaxMs);
    return { kind: 'again', detail: `${status} ${detail}`, waitMs };
  }
  const redirected = status >= 300 && status < 400;
  const reason = redirected ? 'redirects are not followed' : detail;
  fail('EMBEDDING_FAILED', { provider, status, detail: reason });
}

/** Returns the body, or slightly more than `maxBytes` bytes of a longer one. */
async function readBody(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
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
