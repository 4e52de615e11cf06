// Sends requests from one node of a cluster to another. It decides the protocol, and the proof by which a
// node identifies itself. The other end has passed the greeting before (node-agent.ts). Invariant: the secret
// of the cluster stays in this process. No request goes to an address that is not proved, and every response
// has a maximum size.
import { type Agent as PlainAgent, request as requestPlain } from 'node:http';
import { type Agent as TlsAgent, request as requestTls } from 'node:https';
import { fail } from '../../engine/internal.js';
import type { NodeProof, Peer, SignedHead } from './node-auth.js';
import { isLoopback } from '../http/address.js';
import type { Exchange } from '../http/exchange.js';
import { boundedBody, helloPath, provedAgent, UnreachedError, welcomeIn } from './node-agent.js';
import { parseRemoteError } from '../http/remote-error.js';

export interface NodeAnswer {
  status: number;
  reason: string;
  header: (name: string) => string;
  body: Buffer;
}

/** Another node, as it identified itself at the last challenge. */
interface KnownPeer {
  peer: Peer;
  /** Whether its version accepts embeddings along with a call. */
  takesEmbeddings: boolean;
  at: number;
}

/** A call on behalf of a client. */
export interface ForwardedCall {
  /** Path with the query string. */
  path: string;
  headers: Record<string, string>;
  body: Uint8Array;
  /** Embeddings of the texts of the call, made on this node. */
  embeddings?: Uint8Array | undefined;
  /** Whether the node asks for itself and proves its identity. */
  asNode?: boolean;
}

export interface NodeCallOptions {
  /** Whether nodes use TLS among themselves, as this one does for its clients. */
  secure: boolean;
  /**
   * File with the authority that signed the certificates of the other nodes, if not a public one.
   */
  ca?: string;
  proof?: NodeProof | undefined;
  /** Tenant of the calls; empty for the main database. */
  tenant?: string;
  /** Milliseconds of silence after which a waiting call checks that the node is alive. */
  pollIntervalMs?: number;
  /** Maximum bytes of a response to a client's call. */
  answerMax?: number;
  /** Whether addresses come from an unsigned log. Then only addresses of this machine are used. */
  onlyLocal?: boolean;
  /** Called with an address that proved nothing. It receives no request. */
  onUnproved?: (address: string, why: string) => void;
}

const MiB = 1024 * 1024;
/** Maximum bytes of a response between nodes, by default. */
const nodeAnswerMax = 4 * MiB;
/** Bytes allowed in addition to the response of a client's call. No error response is longer. */
const headMax = MiB;
/** Maximum number of concurrent requests to one address. */
const requestsMax = 256;

/** Errors of a connection that was never made, so that no request was sent. */
const unreached: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Returns path and query string as in the first line of the request. */
export const targetOf = ({ path, query }: Pick<Exchange, 'path' | 'query'>): string =>
  query === '' ? path : `${path}?${query}`;

/** Returns the error code of a response, or an empty text for a success. */
export function codeOf({ status, body }: NodeAnswer): string {
  if (status < 400) return '';
  try {
    return String((JSON.parse(body.toString()) as { code?: unknown }).code);
  } catch {
    return '';
  }
}

/** Returns the body of a successful response. Fails with the error in the body of another one. */
export function goodBody(isGood: boolean, body: Uint8Array): Uint8Array {
  if (isGood) return body;
  throw parseRemoteError(body);
}

const pollIntervalMs = 5_000;
/** Number of unanswered checks in a row after which the node counts as unreachable. */
const checksMax = 2;

/** Statuses of a refused proof. */
const refused: ReadonlySet<number> = new Set([401, 403]);

/** Milliseconds for which a challenge is used. It is valid for longer. */
const challengeMs = 300_000;

/** One request to a node. */
interface Sent {
  path: string;
  headers: Record<string, string>;
  body: Uint8Array;
  /** Longest silence in milliseconds; 0 for no limit. */
  ms?: number;
  signal?: AbortSignal;
  /** Maximum bytes of the response. */
  max?: number;
}

export class NodeClient {
  readonly #agent: PlainAgent | TlsAgent;
  readonly #peers = new Map<string, KnownPeer>();
  /** By address: the number of running requests, and those that wait for one of them to end. */
  readonly #lines = new Map<string, { count: number; waiting: (() => void)[] }>();

  constructor(private readonly options: NodeCallOptions) {
    const { secure, ca, proof } = options;
    this.#agent = provedAgent({
      secure,
      ...(ca !== undefined && { ca }),
      proof,
      onPeer: (address, peer, takesEmbeddings) =>
        this.#peers.set(address, { peer, takesEmbeddings, at: performance.now() }),
      onUnproved: (address, why) => options.onUnproved?.(address, why),
    });
  }

  /**
   * Sends a request as this node, with a proof if the node has one and with the headers in `more`. The
   * response has at most `max` bytes. Fails with the error of the connection.
   */
  async request(
    address: string,
    path: string,
    body: object,
    ms: number,
    { more = {}, max = nodeAnswerMax }: { more?: Record<string, string>; max?: number } = {},
  ): Promise<NodeAnswer> {
    const content = Buffer.from(JSON.stringify(body));
    const tenant = more['Trellis-Tenant'] ?? this.options.tenant ?? '';
    const request = async (): Promise<NodeAnswer> => {
      const proved = await this.#identity(address, { path, tenant }, content, ms);
      const headers = { ...more, ...proved };
      return this.#send(address, { path, headers, body: content, ms, max });
    };
    const answer = await request();
    // The other node has restarted and lost its challenges, so the request is sent again.
    return refused.has(answer.status) && this.#peers.delete(address) ? request() : answer;
  }

  async #identity(
    address: string,
    head: SignedHead,
    body: Uint8Array,
    ms: number,
  ): Promise<Record<string, string> | undefined> {
    const { proof } = this.options;
    if (proof === undefined) return undefined;
    const { peer } = await this.#peerAt(address, proof, ms);
    return { 'Trellis-Node': proof.answer(peer, head, body) };
  }

  async #peerAt(address: string, proof: NodeProof, ms: number): Promise<KnownPeer> {
    const known = this.#peers.get(address);
    if (known !== undefined && performance.now() - known.at <= challengeMs) return known;
    const greeting = proof.greet(address);
    const body = Buffer.from(JSON.stringify(greeting));
    const answer = await this.#send(address, { path: helloPath, headers: {}, body, ms });
    const welcome = welcomeIn(answer.body);
    const peer = proof.peerOf(greeting, welcome ?? { challenge: '' });
    const at = performance.now();
    const made = { peer, takesEmbeddings: welcome?.embeddings === true, at };
    this.#peers.set(address, made);
    return made;
  }

  /** Whether this node can prove that it added the embeddings to a client's call. */
  get hasProof(): boolean {
    return this.options.proof !== undefined;
  }

  /**
   * Returns the call with the embeddings appended to its body, and a proof of this node, if the other node
   * accepts them.
   */
  async #withEmbeddings(address: string, call: ForwardedCall): Promise<ForwardedCall> {
    const { proof, tenant } = this.options;
    const { path, headers, body, embeddings } = call;
    if (embeddings === undefined || proof === undefined) return call;
    const known = await this.#peerAt(address, proof, pollIntervalMs).catch(() => undefined);
    if (known?.takesEmbeddings !== true) return call;
    const payload = Buffer.concat([body, embeddings]);
    const head = { path, tenant: headers['Trellis-Tenant'] ?? tenant ?? '' };
    const signed = `${embeddings.length} ${proof.answer(known.peer, head, payload)}`;
    return { path, headers: { ...headers, 'Trellis-Embeddings': signed }, body: payload };
  }

  /**
   * Forwards a client's call. Returns undefined if the node cannot be reached and received nothing. The call
   * may take any time while the node is alive. Fails OUTCOME_UNKNOWN.
   */
  async forward(address: string, forwarded: ForwardedCall): Promise<NodeAnswer | undefined> {
    const started = performance.now();
    const { path, headers, body } = await this.#withEmbeddings(address, forwarded);
    const call = new AbortController();
    const looking = this.#watch(address, call);
    try {
      const { signal } = call;
      const max = (this.options.answerMax ?? nodeAnswerMax) + headMax;
      if (forwarded.asNode !== true)
        return await this.#send(address, { path, headers, body, signal, max });
      return await this.#sendProved(address, { path, headers, body, signal, max });
    } catch (error) {
      // The other node may have restarted, perhaps with another version.
      this.#peers.delete(address);
      const isUnreached = unreached.has((error as NodeJS.ErrnoException).code ?? '');
      if (isUnreached || error instanceof UnreachedError) return undefined;
      return fail('OUTCOME_UNKNOWN', { ms: Math.round(performance.now() - started) });
    } finally {
      clearInterval(looking);
    }
  }

  async #sendProved(address: string, sent: Sent): Promise<NodeAnswer> {
    const { path, headers, body } = sent;
    const head = { path, tenant: headers['Trellis-Tenant'] ?? this.options.tenant ?? '' };
    const proved = async (): Promise<NodeAnswer> => {
      // The client's call has not been sent while this node asks for a challenge.
      const more = await this.#identity(address, head, body, pollIntervalMs).catch(
        (error: Error) => {
          throw new UnreachedError(error.message, { cause: error });
        },
      );
      return this.#send(address, { ...sent, headers: { ...headers, ...more } });
    };
    const answer = await proved();
    // The other node has restarted and lost its challenges, so the request is sent again.
    return refused.has(answer.status) && this.#peers.delete(address) ? proved() : answer;
  }

  /** Aborts a call when its node no longer responds: it stopped, or the network is cut. */
  #watch(address: string, call: AbortController): NodeJS.Timeout {
    const { pollIntervalMs: ms = pollIntervalMs } = this.options;
    let missed = 0;
    return setInterval(() => {
      if (++missed > checksMax) return call.abort();
      const body = Buffer.from('{}');
      this.#post(address, { path: helloPath, headers: {}, body, ms, signal: call.signal }).then(
        () => {
          missed = 0;
        },
        () => undefined,
      );
    }, ms);
  }

  /** Sends one POST. Waits while too many requests to that address are running. */
  async #send(address: string, sent: Sent): Promise<NodeAnswer> {
    const host = address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
    if (this.options.onlyLocal === true && !isLoopback(host)) {
      const why = 'it is another machine, and without `cluster.secret_file` nobody proves anything';
      this.options.onUnproved?.(address, why);
      throw new UnreachedError(why);
    }
    const line = this.#lines.get(address) ?? { count: 0, waiting: [] };
    this.#lines.set(address, line);
    if (++line.count > requestsMax)
      await new Promise<void>((resolve) => line.waiting.push(resolve));
    try {
      return await this.#post(address, sent);
    } finally {
      line.waiting.shift()?.();
      if (--line.count === 0) this.#lines.delete(address);
    }
  }

  #post(address: string, sent: Sent): Promise<NodeAnswer> {
    const { secure, tenant } = this.options;
    const { path, headers, body, ms = 0, signal, max = nodeAnswerMax } = sent;
    const ofTenant: Record<string, string> = tenant ? { 'Trellis-Tenant': tenant } : {};
    const all = {
      'Content-Type': 'application/json',
      ...ofTenant,
      'Content-Length': String(body.length),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const dialled = { address, headers: ofTenant };
      const options = { method: 'POST', headers: all, agent: this.#agent, dialled };
      const request = (secure ? requestTls : requestPlain)(
        `${secure ? 'https' : 'http'}://${address}${path}`,
        { ...options, ...(signal && { signal }) },
        async (response) => {
          try {
            const answer = await boundedBody(response, max);
            const { statusCode = 0, statusMessage = '', headers: responseHeaders } = response;
            resolve({
              status: statusCode,
              reason: statusMessage,
              header: (name) => String(responseHeaders[name] ?? ''),
              body: answer,
            });
          } catch (error) {
            reject(error as Error);
          }
        },
      );
      if (ms > 0) request.setTimeout(ms, () => request.destroy());
      request.on('error', reject);
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
