// Embeddings of a plan's texts as the executor finds them: one vector of a text, for every type and purpose.
import { embeddingKey } from '../../engine/exec/runtime/execute.js';
import type { Plan } from '../../engine/plan/plan.js';

export function keyedEmbeddings(
  { embeds }: Plan,
  texts: readonly string[],
  vectors: readonly Float64Array[],
): Map<string, Float64Array> {
  return new Map(
    texts.flatMap((text, i) =>
      embeds.map(({ type, isQuery }) => [embeddingKey(type, text, isQuery), vectors[i]!]),
    ),
  );
}
