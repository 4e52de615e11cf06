// Embeds the texts of a plan before its transaction opens, one batch per model.
import type { ErrorData } from '../base/errors.js';
import type { CarriedEmbeddings, Embedded } from '../embed/embedding-transfer.js';
import type { BatchEmbedder, EmbedUse, Purpose } from '../embed/embedder.js';
import type { ModelIdentity } from '../embed/model-identity.js';
import { type Argument, embeddingKey } from '../exec/runtime/execute.js';
import { collectTexts } from '../exec/run.js';
import type { EmbedSite, Plan } from '../plan/plan.js';
import type { TypeModels } from './reembed/type-models.js';
import type { DatabaseOptions } from './call/options.js';

export interface ModelChoice {
  embedder: BatchEmbedder;
  /** Model when neither the query nor the vector type names one. */
  defaultModel: string | undefined;
  /** Returns the model and the dimensions of a vector type, if it has its own. */
  ofType: (type: string) => { model?: string | undefined; dimensions?: number | undefined };
  /** The models of stored vectors. Absent where nothing is stored. */
  typeModels?: TypeModels;
}

/** Builds the choice from the options of a database. */
export function modelChoiceOf(
  options: Pick<DatabaseOptions, 'embedder' | 'embeddingModel' | 'vectors'>,
): ModelChoice {
  return {
    embedder: options.embedder,
    defaultModel: options.embeddingModel,
    ofType: (type) => {
      const { embeddingModel: model, dimensions } = options.vectors.types[type] ?? {};
      return { model, dimensions };
    },
  };
}

/** A model, and what its vectors are for. */
interface ModelUse extends EmbedUse {
  model: string | undefined;
}

/** Chooses the query's own model, otherwise that of the vector type, otherwise the default. */
export function modelUse(
  { defaultModel, ofType }: ModelChoice,
  own: string | undefined,
  type: string | undefined,
  purpose: Purpose,
): ModelUse {
  const { model, dimensions } = type === undefined ? {} : ofType(type);
  return { model: own ?? model ?? defaultModel, purpose, dimensions };
}

/** Returns what the stored vectors of a type depend on, or undefined without a valid model. */
export const identityOf = (choice: ModelChoice, type: string): ModelIdentity | undefined => {
  const use = modelUse(choice, undefined, type, 'document');
  return choice.embedder.identify(use.model, use);
};

/** Fails EMBEDDING_MODEL_CHANGED if the vectors of a type are of another model. */
export async function checkTypeModel(
  { embedder, typeModels }: ModelChoice,
  use: ModelUse,
  type: string | undefined,
  isOwn: boolean,
): Promise<void> {
  const model = embedder.identify(use.model, use);
  if (type === undefined || model === undefined) return;
  await typeModels?.check({ type, model, isOwn, isStored: use.purpose !== 'query' });
}

/** Returns the embeddings in the form that the executor expects. */
export const embeddingsOf = (made: readonly MadeEmbedding[]): [string, Float64Array][] =>
  made.flatMap(({ text, vector, sites }) =>
    sites.map(({ type, isQuery }): [string, Float64Array] => [
      embeddingKey(type, text, isQuery),
      vector,
    ]),
  );

/** An embedding, with the places of the plan that use it. */
interface MadeEmbedding extends Embedded {
  sites: readonly EmbedSite[];
}

const purposeOf = ({ isQuery }: EmbedSite): Purpose => (isQuery ? 'query' : 'document');

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
  const byUse = new Map<string, { use: ModelUse; embeds: EmbedSite[] }>();
  for (const site of plan.embeds) {
    const use = modelUse(choice, plan.model, site.type, purposeOf(site));
    const key = JSON.stringify(use);
    const entry = byUse.get(key);
    if (entry) entry.embeds.push(site);
    else byUse.set(key, { use, embeds: [site] });
  }
  const result: MadeEmbedding[] = [];
  for (const { use, embeds } of byUse.values()) {
    const sites = distinctSites(embeds);
    for (const type of new Set(embeds.map((site) => site.type)))
      await checkTypeModel(choice, use, type, plan.model !== undefined);
    const missing: string[] = [];
    for (const text of new Set(collectTexts({ ...plan, embeds }, args))) {
      const vector = carried?.find(use, text);
      if (vector === undefined) missing.push(text);
      else result.push({ use, text, vector, sites });
    }
    // A provider without missing texts need not be configured.
    if (missing.length === 0) continue;
    const vectors = await choice.embedder.embed(use.model, missing, deadline, use);
    for (const [i, text] of missing.entries()) {
      result.push({ use, text, vector: vectors[i]!, sites });
    }
  }
  return result;
}

/** Returns one site of each type and purpose. */
const distinctSites = (sites: readonly EmbedSite[]): EmbedSite[] => [
  ...new Map(sites.map((site) => [embeddingKey(site.type, '', site.isQuery), site])).values(),
];

/** Texts per request to the embedder, so that the vectors of a few calls are in memory. */
const rowsPerRequest = 1_024;

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
  const rowsByType = new Map<string, number[]>();
  rows.forEach(({ type }, index) => {
    const list = rowsByType.get(type);
    if (list) list.push(index);
    else rowsByType.set(type, [index]);
  });
  for (const [type, list] of rowsByType) {
    const use = modelUse(choice, undefined, type, 'document');
    await checkTypeModel(choice, use, type, false);
    for (let at = 0; at < list.length; at += rowsPerRequest) {
      const part = list.slice(at, at + rowsPerRequest);
      const texts = part.map((index) => rows[index]!.text);
      const deadline = performance.now() + budgetMs;
      const found = await choice.embedder.embedEach(use.model, texts, deadline, use);
      for (const [i, index] of part.entries()) vectors[index] = found[i]!;
    }
  }
  return vectors;
}
