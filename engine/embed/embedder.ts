// Turns texts into vectors before a transaction opens. Providers differ only in request and answer
// shape.

export interface EmbedderOptions {
  /**
   * Providers' credentials and base URLs by variable name (OPENAI_API_KEY, ...); read by the
   * server, not here.
   */
  environment: Readonly<Record<string, string | undefined>>;
  /** By variable: why a credential that is somewhere is not there. */
  withheld?: Readonly<Record<string, string>>;
  timeoutMs: number;
  retries: number;
  cacheEntries: number;
  allowPrivate: boolean;
  /** Hears of every call of a provider, and the code of its failure. */
  onCall?: (provider: string, seconds: number, code?: string) => void;
  /** Hears how many texts were known already. */
  onCached?: (texts: number) => void;
}

export interface Embedder {
  /**
   * Vectors of `texts` in order, by the model `provider:name[:task]` (undefined:
   * EMBEDDING_NOT_CONFIGURED). Equal texts are embedded once. Fails with the EMBEDDING_* errors.
   * `deadline` is in milliseconds of performance.now().
   */
  embed(
    model: string | undefined,
    texts: readonly string[],
    deadline: number,
  ): Promise<Float64Array[]>;
}
