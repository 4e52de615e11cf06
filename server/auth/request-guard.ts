// Decides which requests the server accepts: checks Host, Origin, protected mode, API keys and rates. Each
// check throws its error. request-pipeline.ts calls the checks in their order.
import { isIP } from 'node:net';
import { excerpt, fail } from '../../engine/internal.js';
import { isLoopback, sourceOf } from '../http/address.js';
import type { Exchange } from '../http/exchange.js';
import type { HeaderList } from '../http/header-list.js';
import type { Accepted } from './accepted-credentials.js';
import { Guesses } from './guess-limiter.js';
import { type AuthenticationResult, KeyAuthenticator, type Refusal } from './authenticator.js';
import { shownBy } from './credential.js';
import { type Role, idIn } from './key-record.js';
import { type Caller, type Keys, scopeNames } from './keys.js';
import { NodeProof } from '../cluster/node-auth.js';
import { OwnRate, type Rate, noRate } from './rate-limiter.js';

/** Security settings of the configuration. */
export interface SecurityRules {
  /** The configured host, as in `server.host`. */
  host: string;
  allowedHosts: readonly string[];
  corsOrigins: readonly string[];
  /** Whether pages from this machine may call, on any port. */
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
  /** Recently accepted credentials, shared by all threads. */
  accepted: Accepted;
  /** Another thread checks unknown keys. This thread refuses them as wrong ones. */
  leavesGuesses?: boolean;
  /** Creates the counter of a configured limit. Absent: the counter of this thread alone. */
  rateFor?: (bound: 'rate_per_key' | 'rate_per_address', limit: number) => Rate;
  /** Whether the proof of a node matches the head of this request and was not used before. */
  isNode?: ((exchange: Exchange) => boolean) | undefined;
  /** Called with the reason when a key is refused. */
  onAuthFailure: (reason: Refusal, exchange: Exchange) => void;
}

/**
 * Access that a route requires. `open` needs no key. `node` is for other nodes of the cluster; without
 * configured keys, it is for this machine.
 */
export type Access = 'open' | 'any' | 'read' | 'write' | 'admin' | 'metrics' | 'node';

const grants: Record<Role, readonly Access[]> = {
  read: ['any', 'read'],
  write: ['any', 'read', 'write'],
  admin: ['any', 'read', 'write', 'admin', 'metrics'],
  metrics: ['metrics'],
};

const hostsMax = 256;
const credentialHeaders = [
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
  ['Access-Control-Allow-Headers', credentialHeaders.join(', ')],
  ['Access-Control-Max-Age', '600'],
];

export class RequestGuard {
  /** Results for Host values; bounded, because clients choose the values. */
  readonly #hosts = new Map<string, boolean>();
  readonly #authenticator: KeyAuthenticator;
  readonly #keyRate: Rate;
  readonly #addressRate: Rate;
  readonly #sourceOf = (exchange: Exchange): string => this.source(exchange);
  readonly #anyHost: boolean;
  readonly #remoteBind: boolean;

  constructor(private readonly options: SecurityOptions) {
    const { limits, rateFor = (_, limit) => new OwnRate(limit) } = options;
    const rateOf = (bound: 'rate_per_key' | 'rate_per_address'): Rate =>
      limits[bound] === 0 ? noRate : rateFor(bound, limits[bound]);
    this.#authenticator = new KeyAuthenticator({
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

  /**
   * Fails HOST_NOT_ALLOWED for a Host that is neither an address, local nor configured. This prevents DNS
   * rebinding. With keys in force and no configured list, every Host passes.
   */
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

  /**
   * Fails ORIGIN_NOT_ALLOWED for a foreign web page. Adds the CORS headers for a listed origin, also to an
   * error.
   */
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

  /** Whether this is a preflight of an allowed origin. Its answer has no body. */
  isPreflight(exchange: Exchange): boolean {
    if (exchange.method !== 'OPTIONS' || exchange.preflightMethod === '') return false;
    if (exchange.origin === '' || !this.#isListedOrigin(exchange.origin)) return false;
    exchange.addHeaders(corsHeaders);
    return true;
  }

  /** Fails PROTECTED_MODE for other machines if no keys are configured. Health routes skip this check. */
  checkProtectedMode(exchange: Exchange): void {
    const { keys, insecureNoAuth } = this.options;
    if (!this.#remoteBind || keys.active || insecureNoAuth) return;
    if (!isLocal(exchange)) fail('PROTECTED_MODE');
  }

  /**
   * Checks which host, page and machine a request addresses and comes from. `isPublic`: the route answers
   * every machine.
   */
  checkSender(exchange: Exchange, isPublic = false): void {
    this.checkHost(exchange);
    this.checkOrigin(exchange);
    if (!isPublic) this.checkProtectedMode(exchange);
  }

  /** The caller of a request, before its rights are checked; undefined if it has no valid key. */
  know(exchange: Exchange): Caller | undefined {
    const result = this.#authenticator.authenticate(exchange);
    return 'caller' in result ? result.caller : undefined;
  }

  /**
   * Returns the caller, or undefined if no keys are configured. Fails for a missing, wrong or expired key,
   * for a key of another database, and above a rate limit.
   */
  authenticate(exchange: Exchange, tenant = ''): Caller | undefined {
    const { keys, limits } = this.options;
    const now = performance.now();
    // The thread that received the request may have counted it already.
    if (exchange.rated < 1 && limits.rate_per_address > 0) {
      if (!this.#addressRate.pass(this.source(exchange), now)) failRate('requests');
      exchange.rated = 1;
    }
    exchange.sourceOf = this.#sourceOf;
    if (exchange.nodeProof !== '') return this.#authenticateNode(exchange);
    if (!keys.active) return undefined;
    const caller = this.#callerOf(exchange, this.#authenticator.authenticate(exchange));
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
    const caller = this.#callerOf(exchange, this.#authenticator.authenticateNode(exchange, isGood));
    // The share counts to the key that the node forwards, because the node has authenticated that key.
    exchange.keyId = idIn(shownBy(exchange)) ?? caller.keyId;
    return caller;
  }

  #callerOf(exchange: Exchange, result: AuthenticationResult): Caller {
    if ('caller' in result) return result.caller;
    const { refusal } = result;
    this.options.onAuthFailure(refusal, exchange);
    if (refusal === 'throttled') failRate('wrong keys');
    return fail(refusal === 'missing' ? 'API_KEY_REQUIRED' : 'INVALID_API_KEY');
  }

  /**
   * A node signs the body of its request. The signature is checked here, because the body arrives after the
   * head.
   */
  checkBody(exchange: Exchange, body: Uint8Array): void {
    const { nodeProof } = exchange;
    if (nodeProof === '' || NodeProof.isOf(nodeProof, body)) return;
    this.#callerOf(exchange, { refusal: 'wrong' });
  }

  /** The client's address. With `trustProxy`, the address that the nearest proxy saw. */
  peer(exchange: Exchange): string {
    if (!this.options.trustProxy || exchange.forwardedFor === '') return exchange.peer();
    const seen = exchange.forwardedFor.split(',').at(-1)!.trim();
    // Any other text is not an address. It identifies no client and must not reach the log.
    return isIP(seen) === 0 ? exchange.peer() : seen;
  }

  /** Source under which the client is counted. */
  source(exchange: Exchange): string {
    return sourceOf(this.peer(exchange));
  }

  /** Checks role and scope. A key that is limited to queries cannot use endpoints that run no query. */
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
 * Whether a request comes from this machine itself. A request through a local proxy does so only if all
 * addresses in X-Forwarded-For are of this machine, whether the proxy is trusted or not.
 */
function isLocal(exchange: Exchange): boolean {
  if (!isLoopback(exchange.peer()) || exchange.isProxied) return false;
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
 * The name in a Host value in lower case, without port and brackets. Returns undefined if it is not a host.
 */
function hostName(value: string): string | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]\s/@]+))(?::\d{0,5})?$/.exec(value);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

function isAddress(name: string): boolean {
  return name.includes(':') || /^\d{1,3}(\.\d{1,3}){3}$/.test(name);
}

/** Whether an origin is of this machine, for example `http://localhost:5173`. */
const isLoopbackOrigin = (origin: string): boolean =>
  /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/.test(origin);
