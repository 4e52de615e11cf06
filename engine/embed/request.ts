// One call to a provider, with its timeout and retries. Redirects are not followed, answers are
// bounded, and no message carries the credential.
import { setTimeout as sleep } from 'node:timers/promises';
import { fail, TrellisError } from '../base/errors.js';
import { messageOf } from './answer.js';
import { notConfigured } from './model.js';
import { leadsInside } from './private-address.js';
import type { ProviderCall } from './provider.js';

const answerBytesMax = 64 * 1024 * 1024;
const retryAfterMaxMs = 10_000;
const firstWaitMs = 250;
/** Share of a wait that is up to chance, so that clients do not come back all at once. */
const jitter = 0.2;

export interface RequestOptions {
  timeoutMs: number;
  retries: number;
  allowPrivate: boolean;
}

/**
 * The parsed JSON answer. Tries again after network errors, 408, 429 and 5xx while `deadline`
 * (performance.now()) allows. Fails with EMBEDDING_FAILED, EMBEDDING_UNAVAILABLE or
 * EMBEDDING_TIMEOUT.
 */
export async function request(
  call: ProviderCall,
  options: RequestOptions,
  deadline: number,
): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    const outcome = await tryOnce(call, options, deadline);
    if (outcome.kind === 'answer') return outcome.value;
    const waitMs =
      outcome.waitMs ?? firstWaitMs * 2 ** attempt * (1 + jitter * (2 * Math.random() - 1));
    if (attempt >= options.retries || performance.now() + waitMs >= deadline)
      fail('EMBEDDING_UNAVAILABLE', { provider: call.provider, detail: outcome.detail });
    await sleep(waitMs);
  }
}

type Outcome =
  | { kind: 'answer'; value: unknown }
  /** `waitMs` as the provider asked for. */
  | { kind: 'again'; detail: string; waitMs?: number };

async function tryOnce(
  call: ProviderCall,
  options: RequestOptions,
  deadline: number,
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
    return judge(call, response, await readBody(response));
  } catch (error) {
    if (error instanceof TrellisError) throw error;
    if (signal.aborted) fail('EMBEDDING_TIMEOUT', { provider: call.provider, ms });
    return { kind: 'again', detail: reasonOf(error) };
  }
}

function judge(call: ProviderCall, response: Response, body: string | undefined): Outcome {
  const { provider } = call;
  const { status } = response;
  if (status === 200) {
    const value = body === undefined ? undefined : parse(body);
    if (value !== undefined) return { kind: 'answer', value };
    const detail = body === undefined ? 'the answer is too long' : 'the answer is not JSON';
    fail('EMBEDDING_FAILED', { provider, status, detail });
  }
  const detail = messageOf(body ?? '', call.credential);
  if (status === 408 || status === 429 || status >= 500) {
    const seconds = /^\d+$/.exec(response.headers.get('retry-after') ?? '')?.[0];
    const waitMs =
      seconds === undefined ? undefined : Math.min(Number(seconds) * 1000, retryAfterMaxMs);
    return { kind: 'again', detail: `${status} ${detail}`, waitMs };
  }
  const redirected = status >= 300 && status < 400;
  const said = redirected ? 'redirects are not followed' : detail;
  fail('EMBEDDING_FAILED', { provider, status, detail: said });
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The body as text, or undefined when it is longer than any answer may be. */
async function readBody(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > answerBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function refusePrivate(url: URL): never {
  notConfigured(
    `${url.hostname} leads to a private address`,
    'Set the base URL of the provider, or `embedding.allow_private`.',
  );
}

/** The system's name of a network error: messages may hold addresses and more. */
function reasonOf(error: unknown): string {
  const { cause, code } = error as { cause?: { code?: unknown }; code?: unknown };
  const name = cause?.code ?? code;
  return typeof name === 'string' ? name : 'network error';
}
