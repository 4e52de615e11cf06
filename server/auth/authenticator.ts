// Judges what requests show to say who they are, at the price of one look-up at most (access.md 3.1). A credential
// that was accepted lately is looked up at once. Any other is counted first, by its source and over all: beyond the
// bound nobody looks at it, so that a flood of guesses finds nothing, and right ones pass amid it.
import { wallMs } from '../../engine/internal.js';
import type { Exchange } from '../http/exchange.js';
import type { Accepted } from './accepted-credentials.js';
import { digestOf, shownBy } from './credential.js';
import type { Guesses } from './guess-limiter.js';
import type { Caller, Keys } from './keys.js';

/** Why there is no caller: nothing was shown, it is nobody's, or it was not looked at. */
export type Refusal = 'missing' | 'wrong' | 'throttled';

export type Judged = { caller: Caller } | { refusal: Refusal };

export interface KeyJudgeParts {
  keys: Keys;
  accepted: Accepted;
  /** Undefined: only what was accepted before is judged here, all else is left to another thread. */
  guesses: Guesses | undefined;
  /** Where a request comes from, as it is counted. */
  sourceOf: (exchange: Exchange) => string;
}

export class KeyJudge {
  constructor(private readonly parts: KeyJudgeParts) {}

  /** Whose credential a request shows. Judged once, whoever asks first. */
  judge(exchange: Exchange): Judged {
    const judged = (exchange.judged as Judged | undefined) ?? this.#judge(exchange);
    exchange.judged = judged;
    return judged;
  }

  #judge(exchange: Exchange): Judged {
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
      // It was revoked: from now on it is as good as a guess.
      accepted.forget(digest);
    }
    return this.#once(exchange, digest, now, () => keys.find({ text, digest }, wallMs()));
  }

  /** Whether another node of the cluster has made this request; `isGood` looks at its proof. */
  judgeNode(exchange: Exchange, isGood: () => boolean): Judged {
    const { accepted } = this.parts;
    const now = performance.now();
    // No two proofs are the same: what was accepted before is the place of a node.
    const digest = digestOf(`node at ${this.parts.sourceOf(exchange)}`);
    const known = accepted.find(digest, now);
    if (known >= 0 && isGood()) {
      accepted.renew(known, now);
      return { caller: node };
    }
    return this.#once(exchange, digest, now, () => (isGood() ? node : undefined));
  }

  /** A look that counts as a guess unless it finds somebody. */
  #once(exchange: Exchange, digest: Buffer, now: number, find: () => Caller | undefined): Judged {
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

/** A node of the same cluster may what an administrator may. */
const node: Caller = { keyId: 'node', role: 'admin', isNode: true };
