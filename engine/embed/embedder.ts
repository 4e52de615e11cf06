// Converts texts to vectors before a transaction opens. Providers differ only in request and response format.

export interface EmbedderOptions {
  /**
   * Credentials and base URLs of providers by variable name (OPENAI_API_KEY, ...). The server reads them from
   * its environment.
   */
  environment: Readonly<Record<string, string | undefined>>;
  /** Reasons, by variable, why an existing credential is not available. */
  withheld?: Readonly<Record<string, string>>;
  timeoutMs: number;
  retries: number;
  cacheEntries: number;
  allowPrivate: boolean;
  /** Called after every provider call, with the error code if it failed. */
  onCall?: (provider: string, seconds: number, code?: string) => void;
  /** Called with the number of texts that were cached. */
  onCached?: (texts: number) => void;
}

/**
 * An embedding model of your own, for the option `embedder` of `open`.
 *
 * @example
 * const embedder: Embedder = {
 *   embed: async (model, texts) => texts.map((text) => Float64Array.of(text.length, 1)),
 * };
 */
export interface Embedder {
  /**
   * Returns the vectors of `texts` in order, by the model `provider:name[:task]`. Undefined as model fails
   * EMBEDDING_NOT_CONFIGURED. Equal texts are embedded once. Fails with the EMBEDDING_* errors. `deadline` is
   * in milliseconds of performance.now().
   */
  embed(
    model: string | undefined,
    texts: readonly string[],
    deadline: number,
  ): Promise<Float64Array[]>;
}
