// How many texts and tokens one call to a provider may have: as configured, as usual for the provider, or as
// learned from a refusal. Tokens are estimated: a third of the bytes, which is above what English needs.

export interface BatchLimit {
  texts: number;
  tokens: number;
}

const bytesPerToken = 3;

const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / bytesPerToken);

export class BatchLimits {
  readonly #learned = new Map<string, BatchLimit>();

  /** Returns the limit of a model on a host. */
  of(key: string, usual: BatchLimit): BatchLimit {
    const learned = this.#learned.get(key);
    if (learned === undefined) return usual;
    return {
      texts: Math.min(usual.texts, learned.texts),
      tokens: Math.min(usual.tokens, learned.tokens),
    };
  }

  /** Learns from a list that was accepted, half of one that was refused: by its tokens, or by its length. */
  learn(key: string, half: readonly string[], isAboutTokens: boolean): void {
    const former = this.#learned.get(key) ?? {
      texts: Number.POSITIVE_INFINITY,
      tokens: Number.POSITIVE_INFINITY,
    };
    const tokens = half.reduce((sum, text) => sum + estimateTokens(text), 0);
    const next = isAboutTokens
      ? { ...former, tokens: Math.min(former.tokens, tokens) }
      : { ...former, texts: Math.min(former.texts, half.length) };
    this.#learned.set(key, next);
  }
}

/** Splits texts in order. A text above the limit of tokens is alone. */
export function splitTexts(texts: readonly string[], limit: BatchLimit): string[][] {
  const parts: string[][] = [];
  let tokens = 0;
  for (const text of texts) {
    const more = estimateTokens(text);
    const part = parts.at(-1);
    if (part === undefined || part.length >= limit.texts || tokens + more > limit.tokens) {
      parts.push([text]);
      tokens = more;
    } else {
      part.push(text);
      tokens += more;
    }
  }
  return parts;
}
