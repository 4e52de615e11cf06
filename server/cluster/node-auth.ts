// Proves between the nodes of a cluster that they have its secret, without sending it. The client
// node greets with a nonce, its name and the dialled address. The server node answers with a challenge, and
// signs both names, the nonce, the challenge and the address. It signs only its own address, so that no third
// party can forward a greeting and present the answer as its own. The client node then signs each request
// with all of these values and with the whole request.
// Invariant: a proof is valid for one request, one time, for 10 minutes by the clock of the node that issued
// the challenge. A node is proved for one greeting only.
import { createHash, createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { keyFor, keyIdOf, printKey } from '../../engine/internal.js';

const goodForMs = 600_000;

/** Number of proofs of one challenge that may arrive out of order. */
const windowMax = 8192;

const sign = (key: string | Buffer | KeyObject, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex');

function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The parts of a request that are signed in addition to its body. */
export interface SignedHead {
  /** Path with the query string, as sent. */
  path: string;
  /** Tenant of the request. */
  tenant: string;
}

/** Identity of a node. */
export interface NodeSelf {
  node: string;
  /** Addresses at which other nodes reach it, in the form that all of them use. */
  addresses: readonly string[];
}

/** First message of a node to the node that it is about to ask. */
export interface Greeting {
  nonce: string;
  node: string;
  /** The dialled address. */
  address: string;
  /** Ids of the secrets that the node has, the newest last. */
  keys: readonly string[];
}

/** Answer to a greeting. Older versions send only the challenge. */
export interface Welcome {
  challenge: string;
  node?: string;
  key?: string;
  proof?: string;
}

/** The other node, after a greeting. */
export interface Peer {
  greeting: Greeting;
  welcome: Welcome;
  /** Whether it has the secret, and is reached at the dialled address. */
  isProved: boolean;
}

const hashOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');

/** Tracks which proofs of one challenge were used. */
class Window {
  #lowest = 0;
  #used = new Set<number>();

  constructor(readonly endsAt: number) {}

  /** Marks a proof as used. Returns false if it was used, or may have been. */
  use(count: number): boolean {
    if (count <= this.#lowest || this.#used.has(count)) return false;
    this.#used.add(count);
    if (this.#used.size > windowMax) {
      const ordered = [...this.#used].sort((a, b) => a - b);
      this.#lowest = ordered[windowMax >> 1]!;
      this.#used = new Set(ordered.slice((windowMax >> 1) + 1));
    }
    return true;
  }
}

const version = 'v2';

/** Fields of the request header, in this order. They cover all that is signed. */
interface ProofFields {
  key: string;
  at: string;
  own: string;
  count: string;
  body: string;
  nonce: string;
  sender: string;
  address: string;
  mac: string;
}

const packed = (text: string): string => Buffer.from(text).toString('base64url');
const unpacked = (text: string): string => Buffer.from(text, 'base64url').toString();

function parseProof(header: string): ProofFields | undefined {
  const [first, key, at, own, count, body, nonce, sender, address, mac, more] = header.split('.');
  if (first !== version || mac === undefined || more !== undefined) return undefined;
  return {
    key: key!,
    at: at!,
    own: own!,
    count: count!,
    body: body!,
    nonce: nonce!,
    sender: unpacked(sender!),
    address: unpacked(address!),
    mac,
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length < 512;

/** Returns undefined for a greeting of an older version. */
function greetingIn(body: Uint8Array): Greeting | undefined {
  let input: Partial<Greeting> | null = null;
  try {
    input = JSON.parse(Buffer.from(body).toString());
  } catch {}
  const { nonce, node, address, keys } = input ?? {};
  if (!isText(nonce) || !/^[0-9a-f]{32}$/.test(nonce) || !isText(node) || !isText(address))
    return undefined;
  return Array.isArray(keys) && keys.every(isText) ? { nonce, node, address, keys } : undefined;
}

const isSameAddress = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase();

export class NodeProof {
  /** Random key of this process. It identifies the challenges that this process issued. */
  readonly #own = randomBytes(32);
  #count = 0;
  /** Used proofs by challenge, oldest first. Only challenges with a proof are kept. */
  readonly #windows = new Map<string, Window>();
  /** Keys by secret id, oldest first. */
  readonly #keys: ReadonlyMap<string, KeyObject>;

  /**
   * `secrets` are ordered oldest first. `isStrict` returns true if older versions, which prove less, may no
   * longer be nodes of this cluster.
   */
  constructor(
    private readonly secrets: readonly string[],
    private readonly self: NodeSelf,
    readonly isStrict: () => boolean,
  ) {
    this.#keys = new Map(
      secrets.map((secret) => [printKey(keyIdOf(secret)), keyFor(secret, 'node proof 1')]),
    );
  }

  #challenge(nonce: string, now: number): string {
    const at = Math.round(now).toString(36);
    return `${at}.${sign(this.#own, at + nonce)}`;
  }

  /** Returns the greeting for a node at `address`. */
  greet(address: string): Greeting {
    const nonce = randomBytes(16).toString('hex');
    return { nonce, node: this.self.node, address, keys: [...this.#keys.keys()] };
  }

  /** Returns the answer to a greeting. */
  welcome(body: Uint8Array, now = performance.now()): Welcome {
    const greeting = greetingIn(body);
    if (greeting === undefined) return { challenge: this.#challenge('', now) };
    const welcome = { challenge: this.#challenge(greeting.nonce, now), node: this.self.node };
    const key = [...this.#keys.keys()].findLast((id) => greeting.keys.includes(id));
    if (key === undefined || !this.#isOwn(greeting.address)) return welcome;
    return { ...welcome, key, proof: this.#proofOf(greeting, { ...welcome, key }) };
  }

  #isOwn(address: string): boolean {
    return this.self.addresses.some((own) => isSameAddress(own, address));
  }

  #proofOf(
    { nonce, node, address }: Greeting,
    { challenge, node: receiver, key }: Welcome,
  ): string {
    return sign(
      this.#keys.get(key!)!,
      JSON.stringify(['is asked', nonce, node, address, challenge, receiver]),
    );
  }

  /** Returns the node that answered a greeting. */
  peerOf(greeting: Greeting, welcome: Welcome): Peer {
    const { key = '', proof = '', node } = welcome;
    const knows = this.#keys.has(key) && node !== undefined;
    const isProved = knows && areEqual(proof, this.#proofOf(greeting, welcome));
    return { greeting, welcome, isProved };
  }

  /** Returns the proof header of a request by this node. No two are equal. */
  answer(peer: Peer, head: SignedHead, body: Uint8Array): string {
    const { greeting, welcome } = peer;
    const { challenge, key } = welcome;
    const count = String(++this.#count);
    if (!peer.isProved) {
      const prefix = `${challenge}.${count}.${hashOf(body)}`;
      return `${prefix}.${sign(this.secrets[0]!, oldText(prefix, head))}`;
    }
    const [at = '', own = ''] = challenge.split('.');
    const { nonce, node: sender, address } = greeting;
    const signed = { key: key!, at, own, count, body: hashOf(body), nonce, sender, address };
    const mac = sign(this.#keys.get(key!)!, textOf(signed, welcome.node!, head));
    const values = [key, at, own, count, signed.body, nonce, packed(sender), packed(address), mac];
    return [version, ...values].join('.');
  }

  isGood(header: string, head: SignedHead, now = performance.now()): boolean {
    const fields = parseProof(header);
    if (fields === undefined) return !this.isStrict() && this.#isGoodAsBefore(header, head, now);
    const key = this.#keys.get(fields.key);
    if (key === undefined || !this.#isOwn(fields.address)) return false;
    if (!areEqual(fields.own, sign(this.#own, fields.at + fields.nonce))) return false;
    const isYoung = now - Number.parseInt(fields.at, 36) <= goodForMs;
    return isYoung && areEqual(fields.mac, sign(key, textOf(fields, this.self.node, head)));
  }

  /** Checks a proof of an older version, from nodes that do not have this version yet. */
  #isGoodAsBefore(header: string, head: SignedHead, now: number): boolean {
    const [at = '', own = '', count = '', body = '', proof = ''] = header.split('.');
    if (!areEqual(own, sign(this.#own, at))) return false;
    const text = oldText(`${at}.${own}.${count}.${body}`, head);
    const isYoung = now - Number.parseInt(at, 36) <= goodForMs;
    return isYoung && this.secrets.some((secret) => areEqual(proof, sign(secret, text)));
  }

  /** Returns true if the proof is valid and was not used before. Marks it as used. */
  accept(header: string, head: SignedHead, now = performance.now()): boolean {
    if (!this.isGood(header, head, now)) return false;
    const [at = '', own = '', count = ''] = header.replace(/^v2\.[^.]*\./, '').split('.');
    for (const [challenge, { endsAt }] of this.#windows) {
      if (endsAt > now) break;
      this.#windows.delete(challenge);
    }
    const challenge = `${at}.${own}`;
    let window = this.#windows.get(challenge);
    if (window === undefined) {
      window = new Window(now + goodForMs);
      this.#windows.set(challenge, window);
    }
    return window.use(Number(count));
  }

  /** Returns true if the proof is about this body. */
  static isOf(header: string, body: Uint8Array): boolean {
    const digest = parseProof(header)?.body ?? header.split('.')[3] ?? '';
    return areEqual(digest, hashOf(body));
  }
}

const oldText = (prefix: string, { path, tenant }: SignedHead): string =>
  `${prefix}\n${path}\n${tenant}`;

/** Returns the text to sign. `receiver` is the node that receives the request. */
const textOf = (
  fields: Omit<ProofFields, 'mac'>,
  receiver: string,
  { path, tenant }: SignedHead,
): string => {
  const { at, own, nonce, sender, address, count, body } = fields;
  return JSON.stringify([
    'asks',
    at,
    own,
    nonce,
    sender,
    receiver,
    address,
    count,
    body,
    path,
    tenant,
  ]);
};
