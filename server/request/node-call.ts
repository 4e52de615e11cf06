// Calls from one node of a cluster to another. Owns the connections, how both are told to speak, and by what a
// node proves that it is one. Invariant: the secret of the cluster stays in this process.
import { readFileSync } from 'node:fs';
import { Agent as PlainAgent, request as requestPlain } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import { fail } from '../../engine/index.js';
import type { NodeProof, SignedHead } from '../auth/node-proof.js';
import type { Exchange } from '../http/exchange.js';
import { toldError, toldValue } from './told-error.js';

export interface NodeAnswer {
  status: number;
  reason: string;
  header: (name: string) => string;
  body: Buffer;
}

/** What a node says to whoever is about to prove something to it. */
interface Challenge {
  text: string;
  /** It is of a version that takes embeddings beside a call. */
  takesEmbeddings: boolean;
  at: number;
}

/** The same in the answer to a hello. */
interface Told {
  challenge: string;
  embeddings: boolean;
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
  lookMs?: number;
}

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
  throw toldError(body);
}

const lookMs = 5_000;
/** So many looks in a row that nobody answers: a node, or the way to it, is gone. */
const looksMax = 2;

/** Where a node gives challenges. */
const helloPath = '/_admin/cluster-hello';

/** Statuses of a proof that is not good. */
const refused: ReadonlySet<number> = new Set([401, 403]);

/** A challenge is used for so long: less than it is good for. */
const challengeMs = 300_000;

export class NodeCalls {
  readonly #agent: PlainAgent | TlsAgent;
  readonly #challenges = new Map<string, Challenge>();

  constructor(private readonly options: NodeCallOptions) {
    const { secure, ca } = options;
    // As Node's own; a server tells how long it keeps a connection.
    const shared = { keepAlive: true, timeout: 5000, maxSockets: 256 };
    this.#agent = secure
      ? new TlsAgent({ ...shared, ...(ca && { ca: readFileSync(ca) }) })
      : new PlainAgent(shared);
  }

  /** As this node where it can prove to be one, and with `more` headers. Fails as connections do. */
  async ask(
    address: string,
    path: string,
    body: object,
    ms: number,
    more: Record<string, string> = {},
  ): Promise<NodeAnswer> {
    const content = Buffer.from(JSON.stringify(body));
    const tenant = more['Trellis-Tenant'] ?? this.options.tenant ?? '';
    const proved = async (): Promise<Record<string, string>> => {
      return { ...more, ...(await this.#identity(address, { path, tenant }, content, ms)) };
    };
    const answer = await this.send(address, path, await proved(), content, ms);
    // It has begun anew meanwhile, and knows no challenge of before.
    if (!refused.has(answer.status) || !this.#challenges.delete(address)) return answer;
    return this.send(address, path, await proved(), content, ms);
  }

  async #identity(
    address: string,
    head: SignedHead,
    body: Uint8Array,
    ms: number,
  ): Promise<Record<string, string> | undefined> {
    const { proof } = this.options;
    if (proof === undefined) return undefined;
    const { text } = await this.#challengeOf(address, ms);
    return { 'Trellis-Node': proof.answer(text, head, body) };
  }

  async #challengeOf(address: string, ms: number): Promise<Challenge> {
    const known = this.#challenges.get(address);
    if (known !== undefined && performance.now() - known.at <= challengeMs) return known;
    const answer = await this.send(address, helloPath, {}, Buffer.from('{}'), ms);
    const told = toldValue(true, answer.body) as Partial<Told> | null;
    const at = performance.now();
    const made = { text: told?.challenge ?? '', takesEmbeddings: told?.embeddings === true, at };
    this.#challenges.set(address, made);
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
    const known = await this.#challengeOf(address, lookMs).catch(() => undefined);
    if (known?.takesEmbeddings !== true) return call;
    const whole = Buffer.concat([body, embeddings]);
    const head = { path, tenant: headers['Trellis-Tenant'] ?? tenant ?? '' };
    const vouched = `${embeddings.length} ${proof.answer(known.text, head, whole)}`;
    return { path, headers: { ...headers, 'Trellis-Embeddings': vouched }, body: whole };
  }

  /**
   * What a client has asked. Undefined: the node cannot be reached, and has heard of nothing. It may take as long
   * as it needs, while it is there. Fails OUTCOME_UNKNOWN.
   */
  async passOn(address: string, asked: PassedCall): Promise<NodeAnswer | undefined> {
    const started = performance.now();
    const { path, headers, body } = await this.#withEmbeddings(address, asked);
    const call = new AbortController();
    const looking = this.#look(address, call);
    try {
      if (asked.asNode !== true)
        return await this.send(address, path, headers, body, 0, call.signal);
      return await this.#sendProved(address, { path, headers, body }, call.signal);
    } catch (error) {
      // It may have begun anew, as another version even.
      this.#challenges.delete(address);
      if (unreached.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      return fail('OUTCOME_UNKNOWN', { ms: Math.round(performance.now() - started) });
    } finally {
      clearInterval(looking);
    }
  }

  async #sendProved(
    address: string,
    { path, headers, body }: PassedCall,
    signal: AbortSignal,
  ): Promise<NodeAnswer> {
    const head = { path, tenant: headers['Trellis-Tenant'] ?? this.options.tenant ?? '' };
    const proved = async (): Promise<NodeAnswer> => {
      const more = await this.#identity(address, head, body, lookMs);
      return this.send(address, path, { ...headers, ...more }, body, 0, signal);
    };
    const answer = await proved();
    // It has begun anew meanwhile, and knows no challenge of before.
    return refused.has(answer.status) && this.#challenges.delete(address) ? proved() : answer;
  }

  /** Gives up a call when its node is not there any more: stopped, or cut off without a word. */
  #look(address: string, call: AbortController): NodeJS.Timeout {
    const { lookMs: ms = lookMs } = this.options;
    let missed = 0;
    return setInterval(() => {
      if (++missed > looksMax) return call.abort();
      this.send(address, helloPath, {}, Buffer.from('{}'), ms, call.signal).then(
        () => {
          missed = 0;
        },
        () => undefined,
      );
    }, ms);
  }

  /** One POST; `ms`: the longest silence, 0 for none. */
  send(
    address: string,
    path: string,
    headers: Record<string, string>,
    body: Uint8Array,
    ms = 0,
    signal?: AbortSignal,
  ): Promise<NodeAnswer> {
    const { secure, tenant } = this.options;
    const all = {
      'Content-Type': 'application/json',
      ...(tenant && { 'Trellis-Tenant': tenant }),
      'Content-Length': String(body.length),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const request = (secure ? requestTls : requestPlain)(
        `${secure ? 'https' : 'http'}://${address}${path}`,
        { method: 'POST', headers: all, agent: this.#agent, ...(signal && { signal }) },
        async (response) => {
          try {
            const pieces: Buffer[] = [];
            for await (const piece of response) pieces.push(piece as Buffer);
            const { statusCode = 0, statusMessage = '', headers: given } = response;
            resolve({
              status: statusCode,
              reason: statusMessage,
              header: (name) => String(given[name] ?? ''),
              body: Buffer.concat(pieces),
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
