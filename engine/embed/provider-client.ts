// Requests the vectors of texts from providers: splits them into batches, runs several calls at a time, and
// learns what a model accepts.
import { TrellisError, fail } from '../base/errors.js';
import { readVectors } from './answer-reader.js';
import { AnswerSize } from './answer-size.js';
import { BatchLimits, splitTexts } from './batch-limits.js';
import { CallSlots } from './call-slots.js';
import type { EmbedderOptions, EmbedUse } from './embedder.js';
import type { RemoteModel } from './provider/model.js';
import { type CallForm, type Provider, findProvider, taskName } from './provider/provider.js';
import { type InTurn, request, tooLong } from './request.js';
import { type Embedding, embedEach } from './split-refused.js';

const concurrencyUsual = 16;
/** Calls of all databases of the process. */
const processSlots = /* @__PURE__ */ new CallSlots();

/** One use of a model. */
export interface PreparedUse {
  /** Equal for equal uses. */
  key: string;
  /**
   * Requests different texts, and reports the embedding of each to `onFound` as soon as it is there. Fails
   * with every error that is not about a text.
   */
  ask(
    texts: readonly string[],
    deadline: number,
    onFound: (text: string, found: Embedding) => void,
  ): Promise<void>;
}

export class ProviderClient {
  readonly #sizes = new AnswerSize();
  readonly #limits = new BatchLimits();
  /** Models that refuse to be asked for a number of dimensions. */
  readonly #fixed = new Set<string>();
  readonly #slots: CallSlots;
  readonly #concurrency: number;

  constructor(private readonly options: EmbedderOptions) {
    this.#concurrency = options.concurrency ?? concurrencyUsual;
    this.#slots = new CallSlots(this.#concurrency);
  }

  /** Fails EMBEDDING_NOT_CONFIGURED. */
  prepare(name: string, model: RemoteModel, { purpose, dimensions }: EmbedUse): PreparedUse {
    const { batchTexts, batchTokens, task = 'retrieval' } = this.options;
    const provider = findProvider(model, this.options);
    const form = { task: taskName(model, task, purpose ?? 'document'), dimensions };
    const usual = {
      texts: Math.min(provider.batch.texts, batchTexts ?? Number.POSITIVE_INFINITY),
      tokens: batchTokens ?? provider.batch.tokens,
    };
    const ofModel = `${provider.host} ${name}`;
    return {
      key: JSON.stringify([ofModel, form.task, form.dimensions]),
      ask: async (texts, deadline, onFound) => {
        const split = (some: readonly string[]) =>
          splitTexts(some, this.#limits.of(ofModel, usual));
        await inParallel(this.#concurrency, split(texts), async (batch) => {
          const embeddings = await embedEach(batch, {
            ask: (some) => this.#ask(provider, ofModel, some, form, deadline),
            isOfTexts,
            split,
            onHalved: ({ args }, half) => {
              if (isSize(args.status, String(args.detail)))
                this.#limits.learn(ofModel, half, /token/i.test(String(args.detail)));
            },
          });
          for (const [i, text] of batch.entries()) onFound(text, embeddings[i]!);
        });
      },
    };
  }

  /** Asks again without the number of dimensions where the model refuses it. */
  async #ask(
    provider: Provider,
    model: string,
    texts: readonly string[],
    form: CallForm,
    deadline: number,
  ): Promise<Float64Array[]> {
    const isFixed = this.#fixed.has(model);
    const sent = isFixed ? { ...form, dimensions: undefined } : form;
    let vectors: Float64Array[];
    try {
      vectors = await this.#call(provider, model, texts, sent, deadline);
    } catch (error) {
      const { code, args } = error as Partial<TrellisError>;
      const isRefused = code === 'EMBEDDING_REFUSED' && /dimension/i.test(String(args?.detail));
      if (!isRefused || sent.dimensions === undefined) throw error;
      this.#fixed.add(model);
      return this.#ask(provider, model, texts, form, deadline);
    }
    const { length } = vectors[0]!;
    if (form.dimensions !== undefined && length !== form.dimensions) {
      const detail = `vectors of ${length} numbers, and ${form.dimensions} are configured`;
      fail('EMBEDDING_FAILED', { provider: model, status: 200, detail });
    }
    return vectors;
  }

  async #call(
    provider: Provider,
    model: string,
    texts: readonly string[],
    form: CallForm,
    deadline: number,
  ): Promise<Float64Array[]> {
    const call = provider.call(texts, form);
    const inTurn: InTurn = (work, until) =>
      this.#slots.run(() => processSlots.run(work, until), until);
    return measured(call.provider, this.options, async () => {
      try {
        const bytesMax = this.#sizes.bound(model, texts.length);
        const body = await request(call, this.options, inTurn, deadline, bytesMax);
        const { credential } = call;
        const task = { provider: call.provider, body, texts: texts.length, credential };
        const vectors = await readVectors(task, deadline);
        this.#sizes.learn(model, vectors[0]!.length);
        return vectors;
      } catch (error) {
        const isLong = error instanceof TrellisError && error.data.args.detail === tooLong;
        if (isLong) this.#sizes.forget(model);
        throw error;
      }
    });
  }
}

/** A response with status 200 and without usable vectors may be the fault of one text. */
const isOfTexts = ({ code, args }: TrellisError): boolean =>
  code === 'EMBEDDING_REFUSED' || (code === 'EMBEDDING_FAILED' && args.status === 200);

/** Returns true if a refusal says that a list is too long. */
const isSize = (status: unknown, detail: string): boolean =>
  status === 413 || ((status === 400 || status === 422) && sizeWords.test(detail));
const sizeWords =
  /\b(batch|too (many|long|large|big)|maximum|at most|limit|exceed\w*|tokens?|size|length)\b/i;

/** Reports the duration and the result of a call to the metrics. */
async function measured<T>(
  provider: string,
  { onCall }: EmbedderOptions,
  work: () => Promise<T>,
): Promise<T> {
  const started = performance.now();
  const reportCall = (code?: string) =>
    onCall?.(provider, (performance.now() - started) / 1000, code);
  try {
    const result = await work();
    reportCall();
    return result;
  } catch (error) {
    reportCall(error instanceof TrellisError ? error.data.code : 'INTERNAL');
    throw error;
  }
}

/** Runs `work` on all parts; starts no further part after a failure. */
async function inParallel<T>(
  max: number,
  parts: readonly T[],
  work: (part: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const runner = async (): Promise<void> => {
    while (next < parts.length) {
      const part = parts[next++]!;
      try {
        await work(part);
      } catch (error) {
        next = parts.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(max, parts.length) }, runner));
}
