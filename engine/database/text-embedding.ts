// Embeds the texts of a plan before its transaction opens, one batch per model.
import { type ErrorData, TrellisError } from '../base/errors.js';
import type { CarriedEmbeddings, Embedded } from '../embed/embedding-transfer.js';
import type { Embedder } from '../embed/embedder.js';
import { type Argument, embeddingKey } from '../exec/runtime/execute.js';
import { collectTexts } from '../exec/run.js';
import type { EmbedSite, Plan } from '../plan/plan.js';
import type { DatabaseOptions } from './call/options.js';

export interface ModelChoice {
  embedder: Embedder;
  /** Model when neither the query nor the vector type names one. */
  defaultModel: string | undefined;
  /** Returns the model of a vector type, if it has its own. */
  ofType: (type: string) => string | undefined;
}

/** Builds the choice from the options of a database. */
export function modelChoiceOf(
  options: Pick<DatabaseOptions, 'embedder' | 'embeddingModel' | 'vectors'>,
): ModelChoice {
  return {
    embedder: options.embedder,
    defaultModel: options.embeddingModel,
    ofType: (type) => options.vectors.types[type]?.embeddingModel,
  };
}

/** Returns the query's own model, otherwise that of the vector type, otherwise the default. */
export function modelOf(
  { defaultModel, ofType }: ModelChoice,
  own: string | undefined,
  type: string | undefined,
): string | undefined {
  return own ?? (type === undefined ? undefined : ofType(type)) ?? defaultModel;
}

/** Returns the embeddings in the form that the executor expects. */
export const embeddingsOf = (made: readonly MadeEmbedding[]): [string, Float64Array][] =>
  made.flatMap(({ text, vector, types }) =>
    types.map((type): [string, Float64Array] => [embeddingKey(type, text), vector]),
  );

/** An embedding with the vector types that use its model and are searched with texts. */
interface MadeEmbedding extends Embedded {
  types: readonly (string | undefined)[];
}

/**
 * Returns the embedding of every text that a plan needs. `deadline` is on the clock of performance.now().
 * `carried` are embeddings from another node.
 */
export async function embedTexts(
  choice: ModelChoice,
  plan: Plan,
  args: readonly Argument[],
  deadline: number,
  carried?: CarriedEmbeddings,
): Promise<MadeEmbedding[]> {
  const byModel = new Map<string | undefined, EmbedSite[]>();
  for (const site of plan.embeds) {
    const model = modelOf(choice, plan.model, site.type);
    byModel.set(model, [...(byModel.get(model) ?? []), site]);
  }
  const result: MadeEmbedding[] = [];
  for (const [model, embeds] of byModel) {
    const types = [...new Set(embeds.map(({ type }) => type))];
    const missing: string[] = [];
    for (const text of new Set(collectTexts({ ...plan, embeds }, args))) {
      const vector = carried?.find(model, text);
      if (vector === undefined) missing.push(text);
      else result.push({ model, text, vector, types });
    }
    // A provider without missing texts need not be configured.
    if (missing.length === 0) continue;
    const vectors = await choice.embedder.embed(model, missing, deadline);
    for (const [i, text] of missing.entries()) {
      result.push({ model, text, vector: vectors[i]!, types });
    }
  }
  return result;
}

/** Texts per call to a provider. */
const rowsPerCall = 256;

/** HTTP statuses of a provider that concern the caller or the model, not the texts. */
const notOfTexts: ReadonlySet<unknown> = new Set([401, 403, 404, 429]);

/**
 * Returns the embeddings of the texts of a bulk load, each with the model of its vector type. An error
 * replaces the vector of a text that the provider refuses. Fails when the provider refuses many texts and
 * accepts none.
 */
export async function embedRows(
  choice: ModelChoice,
  rows: readonly { type: string; text: string }[],
  budgetMs: number,
): Promise<(Float64Array | ErrorData)[]> {
  const vectors: (Float64Array | ErrorData)[] = [];
  const rowsByModel = new Map<string | undefined, number[]>();
  rows.forEach(({ type }, index) => {
    const model = modelOf(choice, undefined, type);
    const list = rowsByModel.get(model);
    if (list) list.push(index);
    else rowsByModel.set(model, [index]);
  });
  for (const [model, list] of rowsByModel) {
    for (let at = 0; at < list.length; at += rowsPerCall) {
      const part = list.slice(at, at + rowsPerCall);
      const texts = part.map((index) => rows[index]!.text);
      const embed = (some: readonly string[]): Promise<Float64Array[]> =>
        choice.embedder.embed(model, some, performance.now() + budgetMs);
      const found = await embedEach(embed, texts);
      for (let i = 0; i < part.length; i++) vectors[part[i]!] = found[i]!;
    }
  }
  return vectors;
}

/** If the model refused this many texts and accepted none, the cause is not the texts. */
const refusedMax = 8;

type Embed = (texts: readonly string[]) => Promise<Float64Array[]>;

/** Splits a refused list in halves until the refused texts are isolated. */
async function embedEach(
  embed: Embed,
  texts: readonly string[],
): Promise<(Float64Array | ErrorData)[]> {
  const found = await halves(embed, texts);
  const isNone = found.every((one) => !(one instanceof Float64Array));
  if (isNone && new Set(texts).size > refusedMax) throw new TrellisError(found[0] as ErrorData);
  return found;
}

async function halves(
  embed: Embed,
  texts: readonly string[],
): Promise<(Float64Array | ErrorData)[]> {
  try {
    return await embed(texts);
  } catch (error) {
    const isOfText = error instanceof TrellisError && error.code === 'EMBEDDING_FAILED';
    if (!isOfText || notOfTexts.has(error.data.args?.status)) throw error;
    if (texts.length === 1) return [error.data];
    const half = texts.length >> 1;
    const former = await halves(embed, texts.slice(0, half));
    return [...former, ...(await halves(embed, texts.slice(half)))];
  }
}
