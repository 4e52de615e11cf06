// Who may speak to the server at all (http.md 8): Host, Origin, protected mode, API keys, rates.
// Each check throws the error it stands for; the order in which they run is that of request-pipeline.ts.
import { isIP } from 'node:net';
import { excerpt, fail } from '../../engine/internal.js';
import { isLoopback, sourceOf } from '../http/address.js';
import type { Exchange } from '../http/exchange.js';
import type { HeaderList } from '../http/header-list.js';
import type { Accepted } from './accepted-credentials.js';
import { Guesses } from './guess-limiter.js';
import { type Judged, KeyJudge, type Refusal } from './authenticator.js';
import { shownBy } from './credential.js';
import { type Role, idIn } from './key-record.js';
import { type Caller, type Keys, scopeNames } from './keys.js';
import { NodeProof } from '../cluster/node-auth.js';
import { OwnRate, type Rate, noRate } from './rate-limiter.js';

/** What the configuration says. */
export interface SecurityRules {
  /** The configured host, as in `server.host`. */
  host: string;
  allowedHosts: readonly string[];
  corsOrigins: readonly string[];
  /** Whether pages of this machine may call, whatever port they are served from. */
  loopbackOrigins?: boolean;
  insecureNoAuth: boolean;
  trustProxy: boolean;
  secure: boolean;
  limits: {
    auth_failures: number;
    rate_per_key: number;
    rate_per_address: number;
  };
}

export interface SecurityOptions extends SecurityRules {
  keys: Keys;
  /** Of all threads. */
  accepted: Accepted;
  /** Keys that nobody knows yet are judged by another thread: here they fail as wrong ones do. */
  leavesGuesses?: boolean;
  /** Counts for a bound that is set; of this thread alone if absent. */
  rateFor?: (bound: 'rate_per_key' | 'rate_per_address', limit: number) => Rate;
  /** Whether the header of a node's proof is good for the head of this request, and was not used before. */
  isNode?: ((exchange: Exchange) => boolean) | undefined;
  /** Hears why a key was refused. */
  onAuthFailure: (reason: Refusal, exchange: Exchange) => void;
}

/**
 * What a route asks of a key. `open` needs none; `node` is for other nodes of the cluster, and where there are
 * no keys for this machine.
 */
export type Access = 'open' | 'any' | 'read' | 'write' | 'admin' | 'metrics' | 'node';

const grants: Record<Role, readonly Access[]> = {
  read: ['any', 'read'],
  write: ['any', 'read', 'write'],
  admin: ['any', 'read', 'write', 'admin', 'metrics'],
  metrics: ['metrics'],
};

const hostsMax = 256;
const heardHeaders = [
  'content-type',
  'x-api-key',
  'authorization',
  'x-request-id',
  'x-request-timeout-ms',
  'idempotency-key',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'trellis-tenant',
];
const corsHeaders: HeaderList = [
  ['Access-Control-Allow-Methods', 'GET, POST'],
  ['Access-Control-Allow-Headers', heardHeaders.join(', ')],
  ['Access-Control-Max-Age', '600'],
];

export class RequestGuard {
  /** Host values already judged; bounded, because clients choose them. */
  readonly #hosts = new Map<string, boolean>();
  readonly #judge: KeyJudge;
  readonly #keyRate: Rate;
  readonly #addressRate: Rate;
  readonly #sourceOf = (exchange: Exchange): string => this.source(exchange);
  readonly #anyHost: boolean;
  readonly #remoteBind: boolean;

  constructor(private readonly options: SecurityOptions) {
    const { limits, rateFor = (_, limit) => new OwnRate(limit) } = options;
    const rateOf = (bound: 'rate_per_key' | 'rate_per_address'): Rate =>
      limits[bound] === 0 ? noRate : rateFor(bound, limits[bound]);
    this.#judge = new KeyJudge({
      keys: options.keys,
      accepted: options.accepted,
      guesses: options.leavesGuesses ? undefined : new Guesses(limits.auth_failures),
      sourceOf: this.#sourceOf,
    });
    this.#keyRate = rateOf('rate_per_key');
    this.#addressRate = rateOf('rate_per_address');
    this.#anyHost = options.allowedHosts.includes('*');
    this.#remoteBind = !isLoopback(options.host);
  }

  get keysActive(): boolean {
    return this.options.keys.active;
  }

  /** http.md 8.3. */
  checkHost(exchange: Exchange): void {
    const { host } = exchange;
    const { keys, allowedHosts } = this.options;
    if (this.#anyHost || (keys.active && allowedHosts.length === 0)) return;
    let allowed = this.#hosts.get(host);
    if (allowed === undefined) {
      allowed = this.#isAllowedHost(host);
      if (this.#hosts.size >= hostsMax) this.#hosts.clear();
      this.#hosts.set(host, allowed);
    }
    if (!allowed) fail('HOST_NOT_ALLOWED', { host: excerpt(host) });
  }

  #isAllowedHost(value: string): boolean {
    const name = hostName(value);
    if (name === undefined) return false;
    if (isAddress(name) || name === 'localhost' || name.endsWith('.localhost')) return true;
    if (name === 'host.docker.internal') return true;
    const listed = [this.options.host, ...this.options.allowedHosts];
    return listed.some((entry) => entry.toLowerCase() === name);
  }

  /** http.md 8.4. A listed origin gets its header on the answer, whatever that is. */
  checkOrigin(exchange: Exchange): void {
    const { origin, fetchSite } = exchange;
    if (origin === '') {
      if (fetchSite === 'cross-site') fail('ORIGIN_NOT_ALLOWED', { origin: 'another site' });
      return;
    }
    if (this.#isListedOrigin(origin)) {
      exchange.addHeaders([
        ['Access-Control-Allow-Origin', origin],
        ['Vary', 'Origin'],
      ]);
      return;
    }
    const own = `${this.options.secure ? 'https' : 'http'}://${exchange.host}`;
    if (origin !== own) fail('ORIGIN_NOT_ALLOWED', { origin: excerpt(origin) });
  }

  #isListedOrigin(origin: string): boolean {
    const { corsOrigins, keys, loopbackOrigins } = this.options;
    if (origin === 'null') return false;
    if (loopbackOrigins && isLoopbackOrigin(origin)) return true;
    return corsOrigins.includes(origin) || (corsOrigins.includes('*') && keys.active);
  }

  /** Whether this is a preflight of an allowed origin; its answer has no body. */
  isPreflight(exchange: Exchange): boolean {
    if (exchange.method !== 'OPTIONS' || exchange.preflightMethod === '') return false;
    if (exchange.origin === '' || !this.#isListedOrigin(exchange.origin)) return false;
    exchange.addHeaders(corsHeaders);
    return true;
  }

  /** http.md 8.2. Health routes are not asked. */
  checkProtectedMode(exchange: Exchange): void {
    const { keys, insecureNoAuth } = this.options;
    if (!this.#remoteBind || keys.active || insecureNoAuth) return;
    if (!isLocal(exchange)) fail('PROTECTED_MODE');
  }

  /** Whose key a request shows, before its rights are judged. */
  know(exchange: Exchange): Caller | undefined {
    const judged = this.#judge.judge(exchange);
    return 'caller' in judged ? judged.caller : undefined;
  }

  /**
   * The caller, or undefined when no keys are configured; fails for a missing, wrong or expired
   * key, and for one of another tenant than the request is about.
   */
  authenticate(exchange: Exchange, tenant = ''): Caller | undefined {
    const { keys, limits } = this.options;
    const now = performance.now();
    // The thread that a request came to may have counted it already.
    if (exchange.rated < 1 && limits.rate_per_address > 0) {
      if (!this.#addressRate.pass(this.source(exchange), now)) failRate('requests');
      exchange.rated = 1;
    }
    exchange.sourceOf = this.#sourceOf;
    if (exchange.nodeProof !== '') return this.#authenticateNode(exchange);
    if (!keys.active) return undefined;
    const caller = this.#callerOf(exchange, this.#judge.judge(exchange));
    if (exchange.rated < 2) {
      if (!this.#keyRate.pass(caller.keyId, now)) failRate('requests');
      exchange.rated = 2;
    }
    exchange.keyId = caller.keyId;
    if (caller.tenant !== undefined && caller.tenant !== tenant) {
      fail('FORBIDDEN', { action: 'reach this database' });
    }
    return caller;
  }

  #authenticateNode(exchange: Exchange): Caller {
    const isGood = (): boolean => this.options.isNode?.(exchange) === true;
    const caller = this.#callerOf(exchange, this.#judge.judgeNode(exchange, isGood));
    // Whose share it is: the node has judged the key that it passes on.
    exchange.keyId = idIn(shownBy(exchange)) ?? caller.keyId;
    return caller;
  }

  #callerOf(exchange: Exchange, judged: Judged): Caller {
    if ('caller' in judged) return judged.caller;
    const { refusal } = judged;
    this.options.onAuthFailure(refusal, exchange);
    if (refusal === 'throttled') failRate('wrong keys');
    return fail(refusal === 'missing' ? 'API_KEY_REQUIRED' : 'INVALID_API_KEY');
  }

  /** What a node asks is what it has signed: its body is known only now. */
  checkBody(exchange: Exchange, body: Uint8Array): void {
    const { nodeProof } = exchange;
    if (nodeProof === '' || NodeProof.isOf(nodeProof, body)) return;
    this.#callerOf(exchange, { refusal: 'wrong' });
  }

  /** The client's address; behind a trusted proxy the one that proxy saw. */
  peer(exchange: Exchange): string {
    if (!this.options.trustProxy || exchange.forwardedFor === '') return exchange.peer();
    const seen = exchange.forwardedFor.split(',').at(-1)!.trim();
    // Anything else is no address: it names nobody, and is not repeated in the log.
    return isIP(seen) === 0 ? exchange.peer() : seen;
  }

  /** Whom that address stands for where callers are counted. */
  source(exchange: Exchange): string {
    return sourceOf(this.peer(exchange));
  }

  /** Role and scope. An endpoint without a query is closed to keys that are limited to some. */
  checkAccess(
    exchange: Exchange,
    caller: Caller | undefined,
    { access, query }: { access: Access; query?: string },
  ): void {
    if (access === 'open') return;
    if (access === 'admin') exchange.asksAdmin = true;
    if (caller === undefined) {
      if ((access === 'admin' || access === 'node') && !isLocal(exchange)) {
        fail('FORBIDDEN', { action: 'administer from another machine' });
      }
      return;
    }
    if (access === 'node') {
      if (caller.isNode !== true) fail('FORBIDDEN', { action: 'speak as a node of the cluster' });
      return;
    }
    if (!grants[caller.role].includes(access)) {
      const action = access === 'any' || access === 'metrics' ? 'see this' : actions[access];
      fail('FORBIDDEN', { action }, { hint: `The role \`${neededRole[access]}\` is needed.` });
    }
    if (caller.queries === undefined || access === 'any') return;
    if (query === undefined) fail('FORBIDDEN', { action: 'go beyond its queries' });
    else if (!scopeNames(caller.queries, query)) fail('FORBIDDEN', { action: `call ${query}` });
  }
}

/**
 * Whether a request comes from this machine itself. What a proxy on this machine passes on does
 * not, whether the proxy is trusted or not: every address it names must be of this machine too.
 */
function isLocal(exchange: Exchange): boolean {
  if (!isLoopback(exchange.peer()) || exchange.forwarded) return false;
  const { forwardedFor } = exchange;
  return forwardedFor === '' || forwardedFor.split(',').every((one) => isLoopback(one.trim()));
}

function failRate(what: string): never {
  return fail('RATE_LIMITED', { what, seconds: 1 });
}

const actions = { read: 'read', write: 'write', admin: 'administer' } as const;
const neededRole = {
  any: 'read',
  read: 'read',
  write: 'write',
  admin: 'admin',
  metrics: 'metrics',
} as const;

/**
 * The name of a Host value in lower case, without port and brackets; undefined when it is no host
 * at all.
 */
function hostName(value: string): string | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]\s/@]+))(?::\d{0,5})?$/.exec(value);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

function isAddress(name: string): boolean {
  return name.includes(':') || /^\d{1,3}(\.\d{1,3}){3}$/.test(name);
}

/** `http://localhost:5173` and the like. */
const isLoopbackOrigin = (origin: string): boolean =>
  /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/.test(origin);
