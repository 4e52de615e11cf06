// `trellisdb/client`: calls a TrellisDB server from Node, browsers, Deno, Bun and workers, by `fetch`
// alone (client.md 5). One file that imports nothing. Invariants: an integer is never rounded
// silently; a write is sent again only when it is known not to have been done; the deadline holds
// over all tries.

/** Where an answer holds 64-bit integers and dates; the generated module says it per query. */
export type Place = 0 | 1 | 2 | 3 | 4 | readonly [Place] | { readonly [name: string]: Place };
/** What the generated module knows of a query. */
export interface Shape {
  readonly writes: boolean;
  readonly at: Place;
  /** Reads an answer's text; `bind` adds it for callers that know no places. */
  readonly decode?: (text: string) => unknown;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Milliseconds for all tries together; 0: no end. */
  timeoutMs?: number;
  retries?: number;
  /** Of a query without a shape: whether it may be sent again after its answer was lost. */
  writes?: boolean;
}

/** Whoever answers calls by name: a connection, or a database inside this process. */
export interface Caller {
  call<T = unknown>(
    name: string,
    params?: object,
    options?: CallOptions & { shape?: Shape },
  ): Promise<T>;
}

export interface ConnectOptions {
  /** May have a path and a trailing slash. */
  url: string;
  apiKey?: string;
  timeoutMs?: number;
  retries?: number;
  fetch?: typeof fetch;
  headers?: Record<string, string>;
  onRetry?: (info: { name: string; attempt: number; reason: unknown; waitMs: number }) => void;
}

interface Fault {
  error?: string;
  code?: string;
  path?: string;
  args?: Record<string, unknown>;
  hint?: string;
  errors?: unknown[];
  retryable?: boolean;
}

/** An answer of the server that is no success. */
export class TrellisError extends Error {
  override readonly name: string = 'TrellisError';
  readonly code: string;
  readonly path?: string;
  readonly args: Record<string, unknown>;
  readonly hint?: string;
  readonly errors?: unknown[];
  readonly retryable: boolean;

  constructor(
    fault: Fault,
    readonly status: number,
    readonly requestId?: string,
  ) {
    super(fault.error ?? `status ${status}`);
    this.code = fault.code ?? 'UNKNOWN';
    this.args = fault.args ?? {};
    this.retryable = fault.retryable === true;
    const { path, hint, errors } = fault;
    Object.assign(this, {
      ...(path && { path }),
      ...(hint && { hint }),
      ...(errors && { errors }),
    });
  }
}
/** The time is up; a write may have been done. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}
/** The connection broke behind a write, at every try: it may have been done or not. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}
/** An integer that a number cannot hold stands where a number was promised. */
export class UnsafeIntegerError extends RangeError {
  override readonly name = 'UnsafeIntegerError';
  constructor(
    readonly path: string,
    readonly digits: string,
  ) {
    super(`${digits} at ${path || '/'} does not fit a number: generate with --int64 bigint`);
  }
}

const mark = '\u0000n';
const longIntegers = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

/** JSON to values, exact where `place` says that an integer is wide. */
export function decode<T = unknown>(text: string, place: Place = 0): T {
  if (place === 0) return JSON.parse(text) as T;
  // Nearly always there is no long run of digits, and JSON.parse is right.
  if (!/\d{16}/.test(text)) return settle(JSON.parse(text), place, '', false) as T;
  const marked = text.replace(longIntegers, (token) =>
    token[0] === '"' ? token : `"\\u0000n${token}"`,
  );
  return settle(JSON.parse(marked), place, '', true) as T;
}

function settle(value: unknown, place: Place, path: string, marked: boolean): unknown {
  if (typeof value === 'string' && marked && value.startsWith(mark)) {
    const digits = value.slice(mark.length);
    if (place === 3) return digits;
    if (place === 2) return BigInt(digits);
    const number = Number(digits);
    if (place === 1 && !Number.isSafeInteger(number)) throw new UnsafeIntegerError(path, digits);
    return number;
  }
  if (typeof value === 'number')
    return place === 2 ? BigInt(value) : place === 3 ? String(value) : value;
  if (typeof value === 'string') return place === 4 ? new Date(value) : value;
  if (typeof value !== 'object' || value === null || (place === 0 && !marked)) return value;
  if (Array.isArray(value)) {
    const of = Array.isArray(place) ? (place[0] as Place) : 0;
    for (let i = 0; i < value.length; i++) value[i] = settle(value[i], of, `${path}/${i}`, marked);
    return value;
  }
  const members = value as Record<string, unknown>;
  const placeOf = (name: string): Place => {
    if (typeof place !== 'object') return 0;
    if (Array.isArray(place)) return place[0] as Place;
    return Object.hasOwn(place, name) ? (place as Record<string, Place>)[name]! : 0;
  };
  for (const name of Object.keys(members)) {
    members[name] = settle(members[name], placeOf(name), `${path}/${name}`, marked);
  }
  return members;
}

/** The shortest decimal that is this 32-bit float. */
function float32(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

/** Values to JSON: bigint as its digits, typed arrays as lists. */
export function encode(params: object | undefined): string {
  let exact = true;
  const text = JSON.stringify(params ?? {}, (_, value: unknown) => {
    if (typeof value === 'bigint') {
      exact = false;
      return mark + value;
    }
    if (value instanceof Float32Array) return Array.from(value, float32);
    return ArrayBuffer.isView(value) ? Array.from(value as Float64Array) : value;
  });
  return exact ? text : text.replace(/"\\u0000n(-?\d+)"/g, '$1');
}

/** Nothing was done, whatever was asked for. */
const notDone = new Set(
  'OVERLOADED NOT_READY SHUTTING_DOWN RATE_LIMITED READ_ONLY QUERY_TIMEOUT'.split(' '),
);
const refused = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ConnectionRefused/;

/** 128 bits, by what every runtime has: `randomUUID` is missing on pages without TLS. */
const freshKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(36)).join('-');

function causeOf(error: unknown): string {
  const { code, cause } = error as { code?: string; cause?: unknown };
  return code ?? (cause === undefined ? '' : causeOf(cause));
}

export interface Connection extends Caller {
  /** The answer as exact JSON bytes. */
  bytes(name: string, params?: object, options?: CallOptions): Promise<Uint8Array>;
  /** As `call`: the name that helix-ts gives it. */
  query<T = unknown>(name: string, data?: object): Promise<T>;
  /** A walk through the graph, step by step, held by the server. */
  session(): Promise<Session>;
  health(): Promise<{ ready: boolean }>;
  /** Resolves when the server answers calls; fails with TimeoutError. */
  waitUntilReady(ms: number): Promise<void>;
}

/** Tools by their names in the protocol; each answers the first item of the new traversal. */
export interface Session extends AsyncIterable<unknown>, AsyncDisposable {
  readonly id: string;
  tool<T = unknown>(name: string, data?: object): Promise<T>;
  collect<T = unknown>(range?: { start?: number; end?: number }, keep?: boolean): Promise<T[]>;
  next<T = unknown>(): Promise<T | null>;
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** A connection to the server at `url`; no request is made yet. */
export function connect(options: ConnectOptions): Connection {
  return new HttpConnection(options);
}

type Given = CallOptions & { shape?: Shape };

class HttpConnection implements Connection {
  readonly #base: string;

  constructor(private readonly options: ConnectOptions) {
    this.#base = options.url.replace(/\/+$/, '');
  }

  get #send(): typeof fetch {
    return this.options.fetch ?? globalThis.fetch;
  }

  bytes(name: string, params?: object, given?: Given): Promise<Uint8Array> {
    return this.#request(encodeURIComponent(name), params, given);
  }

  async call<T = unknown>(name: string, params?: object, given?: Given): Promise<T> {
    return decode<T>(textOf(await this.bytes(name, params, given)), given?.shape?.at);
  }

  query<T = unknown>(name: string, data?: object): Promise<T> {
    return this.call(name, data);
  }

  async session(): Promise<Session> {
    const post = async <T>(name: string, body: object): Promise<T> =>
      decode<T>(
        textOf(await this.#request(`mcp/${name}`, body, { writes: !repeatable.has(name) })),
      );
    return new Walk(await post<string>('init', {}), post);
  }

  async health(): Promise<{ ready: boolean }> {
    const response = await this.#send(`${this.#base}/readyz`);
    return { ready: response.ok };
  }

  async waitUntilReady(ms: number): Promise<void> {
    for (const end = performance.now() + ms; performance.now() < end; await pause(50)) {
      const { ready } = await this.health().catch(() => ({ ready: false }));
      if (ready) return;
    }
    throw new TimeoutError(`${this.#base} is not ready`);
  }

  async #request(path: string, params: object | undefined, given: Given = {}): Promise<Uint8Array> {
    const { timeoutMs = 30_000, retries = 3, onRetry } = { ...this.options, ...given };
    const end = timeoutMs > 0 ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY;
    const writes = given.shape?.writes ?? given.writes ?? true;
    const body = encode(params);
    // Under a key the server does a write once, however often it comes.
    const once = writes && !path.startsWith('mcp/') ? freshKey() : undefined;
    const isDelicate = writes && once === undefined;
    const late = (cause?: unknown) => new TimeoutError(`${path}: the time is up`, { cause });
    for (let tries = 0; ; tries++) {
      let reason: unknown;
      let waitMs = Math.random() * 100 * 2 ** tries;
      try {
        if (performance.now() >= end) throw late();
        const response = await this.#try(path, body, end, once, given.signal);
        const bytes = new Uint8Array(await response.arrayBuffer());
        if (response.ok) return bytes;
        const error = errorOf(response, bytes);
        if (!error.retryable || (isDelicate && !notDone.has(error.code))) throw error;
        const after = Number(response.headers.get('retry-after'));
        if (after > 0) waitMs = after * 1000;
        reason = error;
      } catch (error) {
        if (error instanceof TrellisError || given.signal?.aborted) throw error;
        if (performance.now() >= end - 5) throw late(error);
        reason = error;
        if (writes && !refused.test(causeOf(error))) {
          reason = new UnknownOutcomeError(`${path}: the connection broke`, { cause: error });
          if (isDelicate) throw reason;
        }
      }
      if (tries >= retries) throw reason;
      if (performance.now() + waitMs >= end) throw late(reason);
      onRetry?.({ name: path, attempt: tries + 1, reason, waitMs });
      await pause(waitMs, given.signal);
    }
  }

  #try(
    path: string,
    body: string,
    end: number,
    once?: string,
    signal?: AbortSignal,
  ): Promise<Response> {
    const { apiKey, headers: more } = this.options;
    const headers: Record<string, string> = { 'Content-Type': 'application/json', ...more };
    if (apiKey) headers['x-api-key'] = apiKey;
    if (once) headers['Idempotency-Key'] = once;
    const signals = signal ? [signal] : [];
    if (Number.isFinite(end)) {
      const left = end - performance.now();
      headers['X-Request-Timeout-Ms'] = String(Math.max(1, Math.floor(left - 50)));
      signals.push(AbortSignal.timeout(Math.max(0, Math.ceil(left))));
    }
    const init: RequestInit = { method: 'POST', headers, body };
    if (signals.length > 0)
      init.signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0]!;
    return this.#send(`${this.#base}/${path}`, init);
  }
}

function errorOf({ status, headers }: Response, bytes: Uint8Array): TrellisError {
  let fault: Fault = {};
  try {
    fault = JSON.parse(textOf(bytes)) as Fault;
  } catch {
    // A proxy's page: the status has to do.
  }
  return new TrellisError(fault, status, headers.get('x-request-id') ?? undefined);
}

/** Steps of a walk that may be made twice. */
const repeatable = new Set(['init', 'collect', 'reset']);

/** Items that one step of an iteration asks for. */
const pageItems = 100;

class Walk implements Session {
  constructor(
    readonly id: string,
    private readonly post: <T>(name: string, body: object) => Promise<T>,
  ) {}

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

/** The functions of a generated module over a caller. */
export function bind<C>(caller: Caller, shapes: Readonly<Record<string, Shape>>): C {
  const entries = Object.entries(shapes).map(([name, given]) => {
    const shape = { ...given, decode: (text: string) => decode(text, given.at) };
    const run = (params?: object, options?: CallOptions) =>
      caller.call(name, params, { ...options, shape });
    return [name, run] as const;
  });
  return Object.fromEntries(entries) as C;
}
