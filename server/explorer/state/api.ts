// Sends requests to the server. Addresses are relative to the page, so that a proxy may serve it under any
// path.
//
// Invariant: at most two reads of the graph run at a time, the limit of the server.
import { signal } from '@preact/signals';
import { parseExact } from '../model/lossless-json.js';
import { keyRequest, keyHeader } from './key.js';

export interface ErrorBody {
  error: string;
  code: string;
  path?: string;
  hint?: string;
  errors?: ErrorBody[];
}

export class ApiError extends Error {
  constructor(
    readonly body: ErrorBody,
    readonly status: number,
  ) {
    super(body.error);
  }
}

export interface Answer<T = unknown> {
  value: T;
  text: string;
  /** Milliseconds until the whole response had arrived. */
  ms: number;
  bytes: number;
}

const utf8 = new TextDecoder();

/** True if the last request did not reach the server. */
export const isOffline = signal(false);

/** Number of times that the server responded again after an outage. */
export const comebacks = signal(0);

/** Queue of graph reads, because the server runs two at a time. */
const waiting: (() => void)[] = [];
let looking = 0;

async function enter(): Promise<void> {
  if (looking < 2) looking++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
}

function leave(): void {
  const next = waiting.shift();
  if (next === undefined) looking--;
  else next();
}

interface Options {
  /** Body as JSON text. If present, the request is a POST. */
  body?: string;
  signal?: AbortSignal;
}

export async function ask<T>(path: string, options: Options = {}): Promise<Answer<T>> {
  const isGraphRead = path.startsWith('_explore/') && options.body !== undefined;
  if (isGraphRead) await enter();
  try {
    return await send<T>(path, options);
  } finally {
    if (isGraphRead) leave();
  }
}

async function send<T>(path: string, { body, signal }: Options): Promise<Answer<T>> {
  const headers: Record<string, string> = keyHeader();
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const started = performance.now();
  let response: Response;
  let data: ArrayBuffer;
  try {
    response = await fetch(path, {
      headers,
      cache: 'no-store',
      // The key must only be sent to the server of this page.
      redirect: 'manual',
      ...(body !== undefined && { method: 'POST', body }),
      ...(signal && { signal }),
    });
    data = await response.arrayBuffer();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    isOffline.value = true;
    const errorBody = { error: 'The server does not respond.', code: 'UNREACHABLE' };
    throw new ApiError(errorBody, 0);
  }
  if (response.type === 'opaqueredirect') {
    const error = 'The server redirects this request. Redirects are not followed.';
    throw new ApiError({ error, code: 'REDIRECTED' }, 0);
  }
  if (isOffline.value) comebacks.value++;
  isOffline.value = false;
  const ms = performance.now() - started;
  const text = utf8.decode(data);
  if (!response.ok) throw failureOf(text, response.status, headers);
  return { value: parseExact(text) as T, text, ms, bytes: data.byteLength };
}

/** If the page has another key by now, the refusal does not ask for one. */
function failureOf(text: string, status: number, sent: Record<string, string>): ApiError {
  let errorBody: ErrorBody;
  try {
    errorBody = JSON.parse(text) as ErrorBody;
  } catch {
    errorBody = { error: `The server responded with status ${status}.`, code: String(status) };
  }
  const isOwn = sent['x-api-key'] === keyHeader()['x-api-key'];
  if (isOwn && errorBody.code === 'API_KEY_REQUIRED') keyRequest.value = '';
  if (isOwn && errorBody.code === 'INVALID_API_KEY') {
    keyRequest.value = 'The API key is not valid.';
  }
  return new ApiError(errorBody, status);
}

/** Calls `POST _explore/<name>`. */
export const explore = async <T>(name: string, body: unknown): Promise<T> =>
  (await ask<T>(`_explore/${name}`, { body: JSON.stringify(body) })).value;

/** Returns the message to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) {
    return error.body.hint === undefined ? error.message : `${error.message} ${error.body.hint}`;
  }
  return `Something went wrong on this page: ${String(error)}`;
}
