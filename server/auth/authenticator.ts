// Authenticates requests with at most one look-up each. A recently accepted credential is looked up without a
// limit. Any other credential first counts as a guess, by its source and in total. Above the limit it is not
// looked up, so a flood of guesses finds nothing while valid keys keep working.
import { wallMs } from '../../engine/internal.js';
import type { Exchange } from '../http/exchange.js';
import type { Accepted } from './accepted-credentials.js';
import { digestOf, shownBy } from './credential.js';
import type { Guesses } from './guess-limiter.js';
import type { Caller, Keys } from './keys.js';

/** Why a request has no caller: it has no credential, an unknown one, or one above the limit of guesses. */
export type Refusal = 'missing' | 'wrong' | 'throttled';

export type AuthenticationResult = { caller: Caller } | { refusal: Refusal };

export interface KeyAuthenticatorParts {
  keys: Keys;
  accepted: Accepted;
  /**
   * Undefined: this thread checks only recently accepted credentials and leaves all others to another thread.
   */
  guesses: Guesses | undefined;
  /** Returns the source under which a request is counted. */
  sourceOf: (exchange: Exchange) => string;
}

export class KeyAuthenticator {
  constructor(private readonly parts: KeyAuthenticatorParts) {}

  /**
   * Returns the caller of a request. The result is kept in the exchange, so that a request is checked once.
   */
  authenticate(exchange: Exchange): AuthenticationResult {
    const result =
      (exchange.authentication as AuthenticationResult | undefined) ?? this.#authenticate(exchange);
    exchange.authentication = result;
    return result;
  }

  #authenticate(exchange: Exchange): AuthenticationResult {
    const text = shownBy(exchange);
    if (text === '') return { refusal: 'missing' };
    const { keys, accepted } = this.parts;
    const digest = digestOf(text);
    const now = performance.now();
    const known = accepted.find(digest, now);
    if (known >= 0) {
      const caller = keys.find({ text, digest }, wallMs());
      if (caller !== undefined) {
        accepted.renew(known, now);
        return { caller };
      }
      // The key was revoked: from now on its text counts as a guess.
      accepted.remove(digest);
    }
    return this.#countedLookUp(exchange, digest, now, () => keys.find({ text, digest }, wallMs()));
  }

  /** Checks whether another node of the cluster sent this request. `isGood` verifies its proof. */
  authenticateNode(exchange: Exchange, isGood: () => boolean): AuthenticationResult {
    const { accepted } = this.parts;
    const now = performance.now();
    // No two proofs are equal, so the table remembers the address of the node.
    const digest = digestOf(`node at ${this.parts.sourceOf(exchange)}`);
    const known = accepted.find(digest, now);
    if (known >= 0 && isGood()) {
      accepted.renew(known, now);
      return { caller: node };
    }
    return this.#countedLookUp(exchange, digest, now, () => (isGood() ? node : undefined));
  }

  /** Counts the look-up as a guess, and takes the count back if it finds a caller. */
  #countedLookUp(
    exchange: Exchange,
    digest: Buffer,
    now: number,
    find: () => Caller | undefined,
  ): AuthenticationResult {
    const { accepted, guesses, sourceOf } = this.parts;
    const source = sourceOf(exchange);
    if (!guesses?.begin(source, now)) return { refusal: 'throttled' };
    const caller = find();
    if (caller === undefined) return { refusal: 'wrong' };
    guesses.takeBack(source);
    accepted.note(digest, now);
    return { caller };
  }
}

/** A node of the same cluster has the rights of an administrator. */
const node: Caller = { keyId: 'node', role: 'admin', isNode: true };
