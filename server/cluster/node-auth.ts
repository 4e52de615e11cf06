// How nodes of a cluster prove to each other that they know its secret, which itself never travels. The asking node
// greets with a nonce, its name and the address that it has dialled; the asked one answers with a challenge of its own,
// and signs both, both names and that address: it signs for no address but its own, so that nobody passes a greeting on
// and shows the answer as theirs. The asking one then signs each request with all of that, and with everything that the
// request says. Invariant: a proof is good for one request, once, and for some minutes by the clock of whoever gave the
// challenge; a node is proved for one greeting alone.
import { createHash, createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { keyFor, keyIdOf, printKey } from '../../engine/internal.js';

const goodForMs = 600_000;

/** Proofs of one challenge that may overtake each other. */
const windowMax = 8192;

const sign = (key: string | Buffer | KeyObject, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex');

function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** What of a request is signed, beside its body. */
export interface SignedHead {
  /** With the query string, as it is sent. */
  path: string;
  /** Whose database it is about. */
  tenant: string;
}

/** A node, to others. */
export interface NodeSelf {
  node: string;
  /** Where others reach it, as all of them write it. */
  addresses: readonly string[];
}

/** What a node says first to the one that it is about to ask. */
export interface Greeting {
  nonce: string;
  node: string;
  /** Which it has dialled. */
  address: string;
  /** Of the secrets that it knows, the newest last. */
  keys: readonly string[];
}

/** What the asked one says to that. Of versions before: the challenge alone. */
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
  /** It knows the secret, and is reached at the address that was dialled. */
  isProved: boolean;
}

const hashOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');

/** Which proofs of one challenge were used. */
class Window {
  #least = 0;
  #used = new Set<number>();

  constructor(readonly endsAt: number) {}

  /** False: it was used, or may have been. */
  use(count: number): boolean {
    if (count <= this.#least || this.#used.has(count)) return false;
    this.#used.add(count);
    if (this.#used.size > windowMax) {
      const ordered = [...this.#used].sort((a, b) => a - b);
      this.#least = ordered[windowMax >> 1]!;
      this.#used = new Set(ordered.slice((windowMax >> 1) + 1));
    }
    return true;
  }
}

const version = 'v2';

/** The header of a request: what of it is signed stands there, in this order. */
interface Said {
  key: string;
  at: string;
  own: string;
  count: string;
  body: string;
  nonce: string;
  asker: string;
  address: string;
  mac: string;
}

const packed = (text: string): string => Buffer.from(text).toString('base64url');
const unpacked = (text: string): string => Buffer.from(text, 'base64url').toString();

function saidIn(header: string): Said | undefined {
  const [first, key, at, own, count, body, nonce, asker, address, mac, more] = header.split('.');
  if (first !== version || mac === undefined || more !== undefined) return undefined;
  return {
    key: key!,
    at: at!,
    own: own!,
    count: count!,
    body: body!,
    nonce: nonce!,
    asker: unpacked(asker!),
    address: unpacked(address!),
    mac,
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length < 512;

/** Undefined: it is of a version before. */
function greetingIn(body: Uint8Array): Greeting | undefined {
  let given: Partial<Greeting> | null = null;
  try {
    given = JSON.parse(Buffer.from(body).toString());
  } catch {}
  const { nonce, node, address, keys } = given ?? {};
  if (!isText(nonce) || !/^[0-9a-f]{32}$/.test(nonce) || !isText(node) || !isText(address))
    return undefined;
  return Array.isArray(keys) && keys.every(isText) ? { nonce, node, address, keys } : undefined;
}

const isSameAddress = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase();

export class NodeProof {
  /** Of this process: what it has signed is a challenge of its own. */
  readonly #own = randomBytes(32);
  #count = 0;
  /** By challenge, oldest first; only those that somebody has proved something by. */
  readonly #windows = new Map<string, Window>();
  /** By their numbers, oldest first. */
  readonly #keys: ReadonlyMap<string, KeyObject>;

  /**
   * `secrets`: oldest first. `isStrict`: whether versions before, which prove less, may not be nodes of this cluster any
   * more.
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

  /** What is said to a node that dials `address`. */
  greet(address: string): Greeting {
    const nonce = randomBytes(16).toString('hex');
    return { nonce, node: this.self.node, address, keys: [...this.#keys.keys()] };
  }

  /** What a greeting is answered. */
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

  #proofOf({ nonce, node, address }: Greeting, { challenge, node: asked, key }: Welcome): string {
    return sign(
      this.#keys.get(key!)!,
      JSON.stringify(['is asked', nonce, node, address, challenge, asked]),
    );
  }

  /** Who has answered a greeting. */
  peerOf(greeting: Greeting, welcome: Welcome): Peer {
    const { key = '', proof = '', node } = welcome;
    const knows = this.#keys.has(key) && node !== undefined;
    const isProved = knows && areEqual(proof, this.#proofOf(greeting, welcome));
    return { greeting, welcome, isProved };
  }

  /** What the header says of whoever asks this; never the same twice. */
  answer(peer: Peer, head: SignedHead, body: Uint8Array): string {
    const { greeting, welcome } = peer;
    const { challenge, key } = welcome;
    const count = String(++this.#count);
    if (!peer.isProved) {
      const said = `${challenge}.${count}.${hashOf(body)}`;
      return `${said}.${sign(this.secrets[0]!, oldText(said, head))}`;
    }
    const [at = '', own = ''] = challenge.split('.');
    const { nonce, node: asker, address } = greeting;
    const said = { key: key!, at, own, count, body: hashOf(body), nonce, asker, address };
    const mac = sign(this.#keys.get(key!)!, textOf(said, welcome.node!, head));
    const fields = [key, at, own, count, said.body, nonce, packed(asker), packed(address), mac];
    return [version, ...fields].join('.');
  }

  isGood(header: string, head: SignedHead, now = performance.now()): boolean {
    const said = saidIn(header);
    if (said === undefined) return !this.isStrict() && this.#isGoodAsBefore(header, head, now);
    const key = this.#keys.get(said.key);
    if (key === undefined || !this.#isOwn(said.address)) return false;
    if (!areEqual(said.own, sign(this.#own, said.at + said.nonce))) return false;
    const isYoung = now - Number.parseInt(said.at, 36) <= goodForMs;
    return isYoung && areEqual(said.mac, sign(key, textOf(said, this.self.node, head)));
  }

  /** As versions before do it: of nodes that follow this one, until all are of this version. */
  #isGoodAsBefore(header: string, head: SignedHead, now: number): boolean {
    const [at = '', own = '', count = '', body = '', proof = ''] = header.split('.');
    if (!areEqual(own, sign(this.#own, at))) return false;
    const text = oldText(`${at}.${own}.${count}.${body}`, head);
    const isYoung = now - Number.parseInt(at, 36) <= goodForMs;
    return isYoung && this.secrets.some((secret) => areEqual(proof, sign(secret, text)));
  }

  /** Whether it is good, and comes for the first time. */
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

  /** Whether it is about this body. */
  static isOf(header: string, body: Uint8Array): boolean {
    const said = saidIn(header)?.body ?? header.split('.')[3] ?? '';
    return areEqual(said, hashOf(body));
  }
}

const oldText = (said: string, { path, tenant }: SignedHead): string =>
  `${said}\n${path}\n${tenant}`;

/** `asked`: the node that is asked. */
const textOf = (said: Omit<Said, 'mac'>, asked: string, { path, tenant }: SignedHead): string => {
  const { at, own, nonce, asker, address, count, body } = said;
  return JSON.stringify(['asks', at, own, nonce, asker, asked, address, count, body, path, tenant]);
};
