// Converts texts to vectors before a transaction opens. Providers differ only in the rows of their table.
import type { ErrorData } from '../base/errors.js';
import type { ModelIdentity } from './model-identity.js';
import type { Purpose, Task } from './provider/provider-table.js';

export type { Purpose };

export interface EmbedderOptions {
  /**
   * Credentials and base URLs of providers by variable name (OPENAI_API_KEY, ...), and HTTPS_PROXY,
   * HTTP_PROXY and NO_PROXY. The server reads them from its environment.
   */
  environment: Readonly<Record<string, string | undefined>>;
  /** Reasons, by variable, why an existing credential is not available. */
  withheld?: Readonly<Record<string, string>>;
  timeoutMs: number;
  retries: number;
  cacheEntries: number;
  allowPrivate: boolean;
  /** Maximum of texts in one call; undefined: what is usual for the provider. */
  batchTexts?: number | undefined;
  /** Maximum of estimated tokens in one call; undefined: what is usual for the provider. */
  batchTokens?: number | undefined;
  /** Dimensions to ask for where the call does not say; undefined: those of the model. */
  dimensions?: number | undefined;
  task?: Task;
  /** Put before each text. */
  prefixes?: Partial<Record<Purpose, string>>;
  /** Maximum of calls at a time, 1 to 64. */
  concurrency?: number;
  /** Called after every provider call, with the error code if it failed. */
  onCall?: (provider: string, seconds: number, code?: string) => void;
  /** Called with the number of texts that were cached. */
  onCached?: (texts: number) => void;
}

/** What the vectors are for. */
export interface EmbedUse {
  /** Whether the texts are searched for, or found. Undefined means `document`. */
  purpose?: Purpose | undefined;
  /** Dimensions to ask for. Undefined: those that are configured, otherwise those of the model. */
  dimensions?: number | undefined;
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
   * in milliseconds of performance.now(). `use` says what the vectors are for.
   */
  embed(
    model: string | undefined,
    texts: readonly string[],
    deadline: number,
    use?: EmbedUse,
  ): Promise<Float64Array[]>;
}

/** An embedder that also says which texts are refused, and which model it uses. */
export interface BatchEmbedder extends Embedder {
  /** Returns what the vectors of documents depend on, or undefined without a valid model. */
  identify(model: string | undefined, use?: EmbedUse): ModelIdentity | undefined;
  /**
   * Returns the vector of each text, or the error with which the text is refused. Fails with every error that
   * is not about a text.
   */
  embedEach(
    model: string | undefined,
    texts: readonly string[],
    deadline: number,
    use?: EmbedUse,
  ): Promise<(Float64Array | ErrorData)[]>;
}
