// Embeddings of a plan's texts as the executor finds them: one vector of a text, whatever type it is asked of.
import { embeddingKey } from '../../engine/exec/runtime/execute.js';
import type { Plan } from '../../engine/plan/plan.js';

export function keyedEmbeddings(
  { embeds }: Plan,
  texts: readonly string[],
  vectors: readonly Float64Array[],
): Map<string, Float64Array> {
  const types = [...new Set(embeds.map(({ type }) => type))];
  return new Map(
    texts.flatMap((text, i) => types.map((type) => [embeddingKey(type, text), vectors[i]!])),
  );
}
