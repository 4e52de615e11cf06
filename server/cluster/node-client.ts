// Calls from one node of a cluster to another. Owns how both are told to speak, and by what a node proves that it is
// one; who is at the other end has proved it before (node-agent.ts). Invariant: the secret of the cluster stays in
// this process, and nothing is told to an address whose owner nobody vouches for; an answer has a bound.
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

/** Another node, as it has answered last. */
interface KnownPeer {
  peer: Peer;
  /** It is of a version that takes embeddings beside a call. */
  takesEmbeddings: boolean;
  at: number;
}

/** What is asked for a client. */
export interface PassedCall {
  /** With the query string. */
  path: string;
  headers: Record<string, string>;
  body: Uint8Array;
  /** Of the texts of the call, made here. */
  embeddings?: Uint8Array | undefined;
  /** The node asks for itself: it proves that it is one. */
  asNode?: boolean;
}

export interface NodeCallOptions {
  /** Whether nodes speak TLS to each other, as this one does to its clients. */
  secure: boolean;
  /** Who vouches for the certificates of the other nodes, if not the usual ones. */
  ca?: string;
  proof?: NodeProof | undefined;
  /** Whose database the calls are about; empty for the main one. */
  tenant?: string;
  /** After so long a silence of a node that was asked it is looked whether it is there. */
  pollIntervalMs?: number;
  /** Most bytes that a client's call is answered. */
  answerMax?: number;
  /** The addresses come from a log that proves nothing: none but those of this machine are asked. */
  onlyLocal?: boolean;
  /** Hears of an address whose owner proves nothing, and is told nothing. */
  onUnproved?: (address: string, why: string) => void;
}

const MiB = 1024 * 1024;
/** Most bytes of what a node answers to a node, unless another bound is asked for. */
const nodeAnswerMax = 4 * MiB;
/** Beside the answer itself: nothing that is said of a refusal is longer. */
const headMost = MiB;
/** Requests to one address at a time. */
const atOnce = 256;

/** Errors of a connection that was never made: nothing has been asked. */
const unreached: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Path and query of a request, as its first line has them. */
export const targetOf = ({ path, query }: Pick<Exchange, 'path' | 'query'>): string =>
  query === '' ? path : `${path}?${query}`;

/** Of an answer that refuses; empty for others. */
export function codeOf({ status, body }: NodeAnswer): string {
  if (status < 400) return '';
  try {
    return String((JSON.parse(body.toString()) as { code?: unknown }).code);
  } catch {
    return '';
  }
}

/** Of an answer that is good. Fails with the error that another one tells. */
export function goodBody(isGood: boolean, body: Uint8Array): Uint8Array {
  if (isGood) return body;
  throw parseRemoteError(body);
}

const pollIntervalMs = 5_000;
/** So many looks in a row that nobody answers: a node, or the way to it, is gone. */
const looksMax = 2;

/** Statuses of a proof that is not good. */
const refused: ReadonlySet<number> = new Set([401, 403]);

/** A challenge is used for so long: less than it is good for. */
const challengeMs = 300_000;

/** One request to a node. */
interface Sent {
  path: string;
  headers: Record<string, string>;
  body: Uint8Array;
  /** The longest silence; 0 for none. */
  ms?: number;
  signal?: AbortSignal;
  /** Bytes of the answer. */
  most?: number;
}

export class NodeClient {
  readonly #agent: PlainAgent | TlsAgent;
  readonly #peers = new Map<string, KnownPeer>();
  /** By address: requests under way, and those that wait for one of them to end. */
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
   * As this node where it can prove to be one, and with `more` headers; the answer has at most `most` bytes. Fails as
   * connections do.
   */
  async ask(
    address: string,
    path: string,
    body: object,
    ms: number,
    { more = {}, most = nodeAnswerMax }: { more?: Record<string, string>; most?: number } = {},
  ): Promise<NodeAnswer> {
    const content = Buffer.from(JSON.stringify(body));
    const tenant = more['Trellis-Tenant'] ?? this.options.tenant ?? '';
    const ask = async (): Promise<NodeAnswer> => {
      const proved = await this.#identity(address, { path, tenant }, content, ms);
      const headers = { ...more, ...proved };
      return this.#send(address, { path, headers, body: content, ms, most });
    };
    const answer = await ask();
    // It has begun anew meanwhile, and knows no challenge of before.
    return refused.has(answer.status) && this.#peers.delete(address) ? ask() : answer;
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

  /** Whether this node can vouch for what it says beside a client's call. */
  get vouches(): boolean {
    return this.options.proof !== undefined;
  }

  /** With what was embedded behind its body, and this node's word for it, where the asked one takes that. */
  async #withEmbeddings(address: string, call: PassedCall): Promise<PassedCall> {
    const { proof, tenant } = this.options;
    const { path, headers, body, embeddings } = call;
    if (embeddings === undefined || proof === undefined) return call;
    const known = await this.#peerAt(address, proof, pollIntervalMs).catch(() => undefined);
    if (known?.takesEmbeddings !== true) return call;
    const whole = Buffer.concat([body, embeddings]);
    const head = { path, tenant: headers['Trellis-Tenant'] ?? tenant ?? '' };
    const vouched = `${embeddings.length} ${proof.answer(known.peer, head, whole)}`;
    return { path, headers: { ...headers, 'Trellis-Embeddings': vouched }, body: whole };
  }

  /**
   * What a client has asked. Undefined: the node cannot be reached, and has heard of nothing. It may take as long
   * as it needs, while it is there. Fails OUTCOME_UNKNOWN.
   */
  async forward(address: string, asked: PassedCall): Promise<NodeAnswer | undefined> {
    const started = performance.now();
    const { path, headers, body } = await this.#withEmbeddings(address, asked);
    const call = new AbortController();
    const looking = this.#look(address, call);
    try {
      const { signal } = call;
      const most = (this.options.answerMax ?? nodeAnswerMax) + headMost;
      if (asked.asNode !== true)
        return await this.#send(address, { path, headers, body, signal, most });
      return await this.#sendProved(address, { path, headers, body, signal, most });
    } catch (error) {
      // It may have begun anew, as another version even.
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
      const more = await this.#identity(address, head, body, pollIntervalMs);
      return this.#send(address, { ...sent, headers: { ...headers, ...more } });
    };
    const answer = await proved();
    // It has begun anew meanwhile, and knows no challenge of before.
    return refused.has(answer.status) && this.#peers.delete(address) ? proved() : answer;
  }

  /** Gives up a call when its node is not there any more: stopped, or cut off without a word. */
  #look(address: string, call: AbortController): NodeJS.Timeout {
    const { pollIntervalMs: ms = pollIntervalMs } = this.options;
    let missed = 0;
    return setInterval(() => {
      if (++missed > looksMax) return call.abort();
      const body = Buffer.from('{}');
      this.#post(address, { path: helloPath, headers: {}, body, ms, signal: call.signal }).then(
        () => {
          missed = 0;
        },
        () => undefined,
      );
    }, ms);
  }

  /** One POST, once there are not too many to that address. */
  async #send(address: string, sent: Sent): Promise<NodeAnswer> {
    const host = address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
    if (this.options.onlyLocal === true && !isLoopback(host)) {
      const why = 'it is another machine, and without `cluster.secret_file` nobody proves anything';
      this.options.onUnproved?.(address, why);
      throw new UnreachedError(why);
    }
    const line = this.#lines.get(address) ?? { count: 0, waiting: [] };
    this.#lines.set(address, line);
    if (++line.count > atOnce) await new Promise<void>((resolve) => line.waiting.push(resolve));
    try {
      return await this.#post(address, sent);
    } finally {
      line.waiting.shift()?.();
      if (--line.count === 0) this.#lines.delete(address);
    }
  }

  #post(address: string, sent: Sent): Promise<NodeAnswer> {
    const { secure, tenant } = this.options;
    const { path, headers, body, ms = 0, signal, most = nodeAnswerMax } = sent;
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
            const answer = await boundedBody(response, most);
            const { statusCode = 0, statusMessage = '', headers: given } = response;
            resolve({
              status: statusCode,
              reason: statusMessage,
              header: (name) => String(given[name] ?? ''),
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
