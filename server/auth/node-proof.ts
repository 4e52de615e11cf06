// How nodes of a cluster prove to each other that they know its secret, which itself never travels: the asked one
// gives a challenge, the asking one signs it together with everything that its request says. Invariant: a proof
// is good for one request, once, and for some minutes by the clock of whoever gave the challenge.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { fail } from '../../engine/index.js';

const goodForMs = 600_000;

/** Proofs of one challenge that may overtake each other. */
const windowMax = 8192;

const sign = (key: string | Buffer, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex');

function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const leastBytes = 16;

/** What a file holds that none but its owner can read. Fails CONFIG_INVALID. */
export function readSecret(path: string): string {
  let secret: string;
  try {
    if ((statSync(path).mode & 0o077) !== 0)
      fail('CONFIG_INVALID', { what: '`cluster.secret_file` may be read by others; make it 0600' });
    secret = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    const { message } = error as Error;
    return fail('CONFIG_INVALID', { what: `\`cluster.secret_file\` cannot be read: ${message}` });
  }
  if (Buffer.byteLength(secret) < leastBytes)
    fail('CONFIG_INVALID', { what: '`cluster.secret_file` holds less than 16 bytes' });
  return secret;
}

/** What of a request is signed, beside its body. */
export interface SignedHead {
  /** With the query string, as it is sent. */
  path: string;
  /** Whose database it is about. */
  tenant: string;
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

export class NodeProof {
  /** Of this process: what it has signed is a challenge of its own. */
  readonly #own = randomBytes(32);
  #count = 0;
  /** By challenge, oldest first; only those that somebody has proved something by. */
  readonly #windows = new Map<string, Window>();

  constructor(private readonly secret: string) {}

  challenge(now = performance.now()): string {
    const at = Math.round(now).toString(36);
    return `${at}.${sign(this.#own, at)}`;
  }

  /** What the header says of whoever asks this; never the same twice. */
  answer(challenge: string, head: SignedHead, body: Uint8Array): string {
    const said = `${challenge}.${++this.#count}.${hashOf(body)}`;
    return `${said}.${sign(this.secret, textOf(said, head))}`;
  }

  isGood(header: string, head: SignedHead, now = performance.now()): boolean {
    const [at = '', own = '', count = '', body = '', proof = ''] = header.split('.');
    if (!areEqual(own, sign(this.#own, at))) return false;
    const age = now - Number.parseInt(at, 36);
    const said = `${at}.${own}.${count}.${body}`;
    return age <= goodForMs && areEqual(proof, sign(this.secret, textOf(said, head)));
  }

  /** Whether it is good, and comes for the first time. */
  accept(header: string, head: SignedHead, now = performance.now()): boolean {
    if (!this.isGood(header, head, now)) return false;
    const [at = '', own = '', count = ''] = header.split('.');
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
    return areEqual(header.split('.')[3] ?? '', hashOf(body));
  }
}

const textOf = (said: string, { path, tenant }: SignedHead): string =>
  `${said}\n${path}\n${tenant}`;
