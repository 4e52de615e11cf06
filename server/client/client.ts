// `trellisdb/client` calls a TrellisDB server from Node, browsers, Deno, Bun and workers. It needs only
// `fetch`.
//
// Invariants: a write is sent again only under its idempotency key, or if it is known not to have been done.
// The deadline covers all tries.
/// <reference lib="esnext.disposable" preserve="true" />
import { type ErrorBody, TrellisError } from './error.js';
import { type DecodePath, UnsafeIntegerError, decode, encode } from './lossless-json.js';
import { Nodes } from './nodes.js';

export { type DecodePath as Place, TrellisError, UnsafeIntegerError, decode, encode };

/** Facts about a query in a generated module. */
export interface Shape {
  readonly writes: boolean;
  readonly at: DecodePath;
  /** Parses the text of a reply. `bind` adds it for callers that have no paths. */
  readonly decode?: (text: string) => unknown;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Milliseconds for all tries together, 0 for no limit (default: 30,000). */
  timeoutMs?: number;
  retries?: number;
  /** For a query without a shape: whether it writes (default: true). A lost read is sent again. */
  writes?: boolean;
}

/** Hashes of four characters, by query and type, that a generated module relies on. */
export type Contract = Readonly<Record<string, string>>;

/** Runs queries by name: a connection, or a database in this process. */
export interface Caller {
  /** Registers a function that returns which queries and types have changed for a generated module. */
  relies?(changes: (inForce: Contract) => string[]): void;
  call<T = unknown>(
    name: string,
    params?: object,
    options?: CallOptions & { shape?: Shape },
  ): Promise<T>;
}

export interface ConnectOptions {
  /** Address of the server, with or without a path; or the addresses of the nodes of one cluster. */
  url: string | readonly string[];
  apiKey?: string;
  timeoutMs?: number;
  retries?: number;
  fetch?: typeof fetch;
  headers?: Record<string, string>;
  onRetry?: (info: { name: string; attempt: number; reason: unknown; waitMs: number }) => void;
}

/** The deadline has passed. A write may have been done. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}
/** The connection broke after a write was sent, at every try. The write may have been done. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}
/** Codes of errors after which nothing was done. */
const notDone = new Set(
  'OVERLOADED NOT_READY SHUTTING_DOWN RATE_LIMITED READ_ONLY QUERY_TIMEOUT NOT_LEADER NO_LEADER PROGRAM_CHANGED SESSION_ELSEWHERE'.split(
    ' ',
  ),
);
const refused = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ConnectionRefused/;

/** Returns a key of 128 random bits. `randomUUID` is missing on pages without TLS. */
const freshKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join('-');

function causeOf(error: unknown): string {
  const { code, cause } = error as { code?: string; cause?: unknown };
  return code ?? (cause === undefined ? '' : causeOf(cause));
}

export interface Connection extends Caller {
  /** Returns the reply as JSON bytes. */
  bytes(name: string, params?: object, options?: CallOptions): Promise<Uint8Array>;
  /** Same as `call`, under the name of helix-ts. */
  query<T = unknown>(name: string, data?: object): Promise<T>;
  /** Opens a session: a traversal of several steps that the server keeps. */
  session<N = string, E = string, V = string>(): Promise<Session<N, E, V>>;
  /** Returns the queries and types that have changed since the modules of this connection were generated. */
  check(): Promise<string[]>;
  health(): Promise<{ ready: boolean }>;
  /** Resolves when the server answers calls; fails with TimeoutError. */
  waitUntilReady(ms: number): Promise<void>;
}

type Step<Data> = <T = unknown>(data: Data) => Promise<T>;
type Along<E> = { edge_label: E; edge_type?: 'node' | 'vec' };
type Grouping = { properties: string[] };

/**
 * The tools of a session. Each description says what the `data` of the tool takes, with the names of a
 * schema. Each tool returns the first item of the new traversal; a search or a grouping returns all
 * items.
 */
export interface Session<N = string, E = string, V = string>
  extends AsyncIterable<unknown>,
    AsyncDisposable {
  readonly id: string;
  nFromType: Step<{ node_type: N }>;
  eFromType: Step<{ edge_type: E }>;
  outStep: Step<Along<E>>;
  inStep: Step<Along<E>>;
  outEStep: Step<{ edge_label: E }>;
  inEStep: Step<{ edge_label: E }>;
  filterItems: Step<{ filter: object }>;
  orderBy: Step<{ properties: string[]; order: 'asc' | 'desc' }>;
  groupBy: Step<Grouping>;
  aggregateBy: Step<Grouping>;
  searchVector: Step<{ vector: ArrayLike<number>; k: number; min_score?: number }>;
  searchVectorText: Step<{ query: string; label: V; k?: number }>;
  searchKeyword: Step<{
    query: string;
    label: N | V;
    limit: number;
    mode?: 'any' | 'all' | 'phrase' | 'query';
    prefix?: boolean;
  }>;
  /** Any tool by its name in the protocol. */
  tool<T = unknown>(name: string, data?: object): Promise<T>;
  collect<T = unknown>(range?: { start?: number; end?: number }, keep?: boolean): Promise<T[]>;
  next<T = unknown>(): Promise<T | null>;
}

const textOf = (answer: Response): Promise<string> => answer.text();

/**
 * Node frees a connection one turn of the event loop after the end of a reply. Without this pause, an
 * immediate next call would open another connection.
 */
const { setImmediate: soon } = globalThis as { setImmediate?: (run: () => void) => unknown };
const nextTick = (): Promise<void> | undefined => soon && new Promise((resolve) => soon(resolve));

/** Longest delay of a timer, 24.8 days. */
const timerMax = 2 ** 31 - 1;

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
}

/** Returns a connection to the server at `url`. Sends no request yet. */
export function connect(options: ConnectOptions): Connection {
  return new HttpConnection(options);
}

/** Address of the node that has a session, set by its first reply. */
interface Home {
  base?: string;
}

type CallInput = CallOptions & { shape?: Shape };

/** Codes of errors after which another node may succeed. */
const otherNodeErrors = new Set(
  'NOT_LEADER NO_LEADER REPLICA_BEHIND LOG_UNAVAILABLE NOT_READY SHUTTING_DOWN LOG_LOST LOG_UNTRUSTED LOG_TRUNCATED SCHEMA_AHEAD FORMAT_TOO_NEW DIVERGED NODE_LEFT STORAGE_LOST VECTORS_SKIPPED'.split(
    ' ',
  ),
);

class HttpConnection implements Connection {
  readonly #nodes: Nodes;

  constructor(private readonly options: ConnectOptions) {
    this.#nodes = new Nodes(options.url);
  }

  /**
   * Calls `fetch` as a plain function, because browsers and workers refuse it with another `this`.
   * Redirects are not followed, because the key belongs to this address. Fails with a TrellisError of the
   * code REDIRECTED.
   */
  async #send(url: string, init?: RequestInit): Promise<Response> {
    const { fetch = globalThis.fetch } = this.options;
    const response = await fetch(url, { ...init, redirect: 'manual' });
    const { status, type, redirected, headers } = response;
    // A browser does not disclose the target of a redirect.
    const leadsOn = type === 'opaqueredirect' || (status >= 300 && status < 400);
    if (!leadsOn && !redirected) return response;
    const location = headers.get('location') ?? (redirected ? response.url : null);
    const error = `${url} redirects to ${location ?? 'elsewhere'}, which is not followed`;
    const hint = 'Use that address.';
    throw new TrellisError({ error, code: 'REDIRECTED', args: { location }, hint }, status);
  }

  bytes(name: string, params?: object, input?: CallInput): Promise<Uint8Array> {
    const read = async (answer: Response) => new Uint8Array(await answer.arrayBuffer());
    return this.#request(encodeURIComponent(name), params, read, input);
  }

  async call<T = unknown>(name: string, params?: object, input?: CallInput): Promise<T> {
    const text = await this.#request(encodeURIComponent(name), params, textOf, input);
    return decode<T>(text, input?.shape?.at);
  }

  query<T = unknown>(name: string, data?: object): Promise<T> {
    return this.call(name, data);
  }

  readonly #relied: ((inForce: Contract) => string[])[] = [];

  relies(changes: (inForce: Contract) => string[]): void {
    this.#relied.push(changes);
  }

  async check(): Promise<string[]> {
    const { apiKey, headers } = this.options;
    const sent = { ...headers, ...(apiKey && { 'x-api-key': apiKey }) };
    const response = await this.#send(`${this.#nodes.base}/openapi.json`, { headers: sent });
    const text = await response.text();
    if (!response.ok) throw errorOf(response, text);
    const { contract } = JSON.parse(text).info['x-trellis'] as { contract: Contract };
    return [...new Set(this.#relied.flatMap((changes) => changes(contract)))];
  }

  async session<N, E, V>(): Promise<Session<N, E, V>> {
    // A session lives on the node that opened it.
    const home: Home = {};
    const post = async <T>(name: string, body: object): Promise<T> => {
      const input = { writes: !repeatable.has(name) };
      return decode<T>(await this.#request(`mcp/${name}`, body, textOf, input, home));
    };
    return new SessionWalk(await post<string>('init', {}), post) as SessionWalk & Session<N, E, V>;
  }

  async health(): Promise<{ ready: boolean }> {
    const { base } = this.#nodes;
    try {
      const response = await this.#send(`${base}/readyz`);
      if (!response.ok) this.#nodes.leave(base);
      return { ready: response.ok };
    } catch (error) {
      this.#nodes.leave(base);
      throw error;
    }
  }

  async waitUntilReady(ms: number): Promise<void> {
    for (const end = performance.now() + ms; performance.now() < end; await pause(50)) {
      const { ready } = await this.health().catch((error) => {
        if (error instanceof TrellisError) throw error;
        return { ready: false };
      });
      if (ready) return;
    }
    throw new TimeoutError(`${this.#nodes.base} is not ready`);
  }

  async #request<T>(
    path: string,
    params: object | undefined,
    read: (answer: Response) => Promise<T>,
    input: CallInput = {},
    home?: Home,
  ): Promise<T> {
    const { options } = this;
    const timeoutMs = input.timeoutMs ?? options.timeoutMs ?? 30_000;
    const end = timeoutMs > 0 ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY;
    const writes = input.shape?.writes ?? input.writes ?? true;
    const body = encode(params);
    // With a key, the server runs a write at most one time. Only stored queries support keys.
    const idempotencyKey = writes && !/^(mcp\/|_)/.test(path) ? freshKey() : undefined;
    const isDelicate = writes && idempotencyKey === undefined;
    const late = (cause?: unknown) => new TimeoutError(`${path}: the time is up`, { cause });
    for (let tries = 0; ; tries++) {
      let reason: unknown;
      let waitMs = Math.random() * 100 * 2 ** tries;
      const base = home?.base ?? this.#nodes.base;
      /** Another node was not asked yet, so do not wait. */
      const isOneOfMany = home?.base === undefined && tries + 1 < this.#nodes.count;
      const leave = (address?: unknown): void => {
        this.#nodes.leave(base, address);
        if (isOneOfMany) waitMs = 0;
      };
      let ended: (() => void) | undefined;
      try {
        const left = end - performance.now();
        if (left <= 0) throw late();
        const init = this.#init(body, left, idempotencyKey);
        ended = giveUpAfter(left, input.signal, init);
        const response = await this.#send(`${base}/${path}`, init);
        const { headers } = response;
        this.#nodes.notePosition(headers.get('trellis-position'));
        if (response.ok) {
          const result = await read(response);
          await nextTick();
          if (home) home.base = base;
          return result;
        }
        const after = Number(headers.get('retry-after'));
        const error = errorOf(response, await response.text());
        await nextTick();
        const isOnOtherNode = otherNodeErrors.has(error.code);
        const mayHelp = error.retryable || (isOnOtherNode && isOneOfMany);
        if (after > 0) waitMs = after * 1000;
        if (isOnOtherNode) leave(error.args.address);
        if (!mayHelp || (isDelicate && !notDone.has(error.code))) throw error;
        reason = error;
      } catch (error) {
        if (error instanceof TrellisError || input.signal?.aborted) throw error;
        if (performance.now() >= end - 5) throw late(error);
        reason = error;
        leave();
        if (writes && !refused.test(causeOf(error))) {
          reason = new UnknownOutcomeError(`${path}: the connection broke`, { cause: error });
          if (isDelicate) throw reason;
        }
      } finally {
        ended?.();
      }
      if (tries >= (input.retries ?? options.retries ?? 3)) throw reason;
      // The server's own timeout error names what took so long.
      if (performance.now() + waitMs >= end)
        throw (reason as Partial<TrellisError> | null)?.status === 504 ? reason : late(reason);
      options.onRetry?.({ name: path, attempt: tries + 1, reason, waitMs });
      await pause(waitMs, input.signal);
    }
  }

  #init(body: string, left: number, idempotencyKey?: string): RequestInit {
    const { apiKey, headers: more } = this.options;
    const headers: Record<string, string> = { 'Content-Type': 'application/json', ...more };
    if (apiKey) headers['x-api-key'] = apiKey;
    if (idempotencyKey) headers['Idempotency-Key'] = idempotencyKey;
    if (this.#nodes.position) headers['Trellis-After'] = this.#nodes.position;
    // The server stops earlier, so that its own timeout error arrives in time.
    if (left < Number.POSITIVE_INFINITY)
      headers['X-Request-Timeout-Ms'] =
        `${~~Math.max(1, left - Math.max(50, Math.min(1_000, left / 20)))}`;
    return { method: 'POST', headers, body };
  }
}

/**
 * Ends a request after `left` ms or with `signal`. Call the returned function when the reply has arrived.
 */
function giveUpAfter(
  left: number,
  signal: AbortSignal | undefined,
  init: RequestInit,
): (() => void) | undefined {
  if (left === Number.POSITIVE_INFINITY) {
    if (signal) init.signal = signal;
    return undefined;
  }
  const stop = new AbortController();
  init.signal = stop.signal;
  const timer = setTimeout(() => stop.abort(), Math.min(Math.ceil(left), timerMax));
  if (signal === undefined) return () => clearTimeout(timer);
  const giveUp = (): void => stop.abort(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp);
  return () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  };
}

function errorOf({ status, headers }: Response, text: string): TrellisError {
  let body: ErrorBody = {};
  try {
    body = JSON.parse(text) as ErrorBody;
  } catch {
    // The page of a proxy: use its status.
  }
  return new TrellisError(body, status, headers.get('x-request-id') ?? undefined);
}

/** Session steps that can be repeated. */
const repeatable = new Set(['init', 'collect', 'reset']);

/** Number of items that one step of an iteration requests. */
const pageItems = 100;

const steps =
  'n_from_type e_from_type out_step in_step out_e_step in_e_step filter_items order_by group_by ' +
  'aggregate_by search_vector search_vector_text search_keyword';

class SessionWalk {
  constructor(
    readonly id: string,
    private readonly post: <T>(name: string, body: object) => Promise<T>,
  ) {
    for (const name of steps.split(' ')) {
      const method = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      Object.assign(this, { [method]: (data?: object) => this.tool(name, data) });
    }
  }

  tool<T = unknown>(name: string, data: object = {}): Promise<T> {
    return this.post(name, { connection_id: this.id, data });
  }

  collect<T = unknown>(range?: { start?: number; end?: number }, keep = true): Promise<T[]> {
    return this.post('collect', { connection_id: this.id, ...(range && { range }), drop: !keep });
  }

  next<T = unknown>(): Promise<T | null> {
    return this.post('next', { connection_id: this.id });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown> {
    for (let start = 0; ; start += pageItems) {
      const items = await this.collect({ start, end: start + pageItems });
      yield* items;
      if (items.length < pageItems) return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.post('reset', { connection_id: this.id });
  }
}

/** Returns the functions of a generated module for a caller. */
export function bind<C>(
  caller: Caller,
  shapes: Readonly<Record<string, Shape>>,
  contract: Contract = {},
): C {
  caller.relies?.((inForce) => changed(contract, inForce));
  const entries = Object.entries(shapes).map(([name, path]) => {
    const shape = { ...path, decode: (text: string) => decode(text, path.at) };
    const run = (params?: object, options?: CallOptions) =>
      caller.call(name, params, { ...options, shape });
    return [name, run] as const;
  });
  return Object.fromEntries(entries) as C;
}

/** Returns the names of changed or missing facts. New facts are no change. */
function changed(contract: Contract, inForce: Contract): string[] {
  const factsOf = (hashes = ''): string[] => hashes.match(/..../g) ?? [];
  return Object.keys(contract).filter((name) => {
    const now = new Set(Object.hasOwn(inForce, name) ? factsOf(inForce[name]) : []);
    return factsOf(contract[name]).some((fact) => !now.has(fact));
  });
}
