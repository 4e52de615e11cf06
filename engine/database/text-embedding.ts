// Embeds the texts of a plan before its transaction opens: one batch per model.
import { type ErrorData, TrellisError } from '../base/errors.js';
import type { CarriedEmbeddings, Embedded } from '../embed/embedding-transfer.js';
import type { Embedder } from '../embed/embedder.js';
import { type Argument, embeddingKey } from '../exec/runtime/execute.js';
import { collectTexts } from '../exec/run.js';
import type { EmbedSite, Plan } from '../plan/plan.js';
import type { DatabaseOptions } from './call/options.js';

export interface ModelChoice {
  embedder: Embedder;
  /** Used where neither query nor vector type names a model. */
  standard: string | undefined;
  /** Model of a vector type, if it has its own. */
  ofType: (type: string) => string | undefined;
}

/** As the options of a database say it. */
export function modelChoiceOf(
  options: Pick<DatabaseOptions, 'embedder' | 'embeddingModel' | 'vectors'>,
): ModelChoice {
  return {
    embedder: options.embedder,
    standard: options.embeddingModel,
    ofType: (type) => options.vectors.types[type]?.embeddingModel,
  };
}

/** The query's own model, else the vector type's, else the server's. */
export function modelOf(
  { standard, ofType }: ModelChoice,
  own: string | undefined,
  type: string | undefined,
): string | undefined {
  return own ?? (type === undefined ? undefined : ofType(type)) ?? standard;
}

/** As the executor finds them. */
export const embeddingsOf = (made: readonly MadeEmbedding[]): [string, Float64Array][] =>
  made.flatMap(({ text, vector, types }) =>
    types.map((type): [string, Float64Array] => [embeddingKey(type, text), vector]),
  );

/** With the vector types, of those that have this model, that are asked with texts. */
interface MadeEmbedding extends Embedded {
  types: readonly (string | undefined)[];
}

/**
 * The embedding of every text a plan will ask for. `deadline` in milliseconds of performance.now(); `carried`: made
 * by another node.
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
    // Whom nothing is asked of need not be there.
    if (missing.length === 0) continue;
    const vectors = await choice.embedder.embed(model, missing, deadline);
    for (const [i, text] of missing.entries()) {
      result.push({ model, text, vector: vectors[i]!, types });
    }
  }
  return result;
}

/** Texts embedded at a time: providers take so many in one call. */
const rowsPerCall = 256;

/** What a provider says of the caller or the model, whatever the texts are. */
const notOfTexts: ReadonlySet<unknown> = new Set([401, 403, 404, 429]);

/**
 * The embeddings of the texts of a bulk load, each by the model of its vector type; an error stands for a
 * text that the provider refuses. Fails when it refuses many and takes none.
 */
export async function embedRows(
  choice: ModelChoice,
  rows: readonly { type: string; text: string }[],
  budgetMs: number,
): Promise<(Float64Array | ErrorData)[]> {
  const vectors: (Float64Array | ErrorData)[] = [];
  const places = new Map<string | undefined, number[]>();
  rows.forEach(({ type }, place) => {
    const model = modelOf(choice, undefined, type);
    const list = places.get(model);
    if (list) list.push(place);
    else places.set(model, [place]);
  });
  for (const [model, list] of places) {
    for (let at = 0; at < list.length; at += rowsPerCall) {
      const part = list.slice(at, at + rowsPerCall);
      const texts = part.map((place) => rows[place]!.text);
      const embed = (some: readonly string[]): Promise<Float64Array[]> =>
        choice.embedder.embed(model, some, performance.now() + budgetMs);
      const found = await embedEach(embed, texts);
      for (let i = 0; i < part.length; i++) vectors[part[i]!] = found[i]!;
    }
  }
  return vectors;
}

/** Where so many texts are refused and none is taken, it is not for the texts. */
const refusedMax = 8;

type Embed = (texts: readonly string[]) => Promise<Float64Array[]>;

/** A refused list is halved until the texts are found that are refused alone. */
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
