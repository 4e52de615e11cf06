// What differs between providers, as data: addresses, credentials, batch sizes, tasks, and the form of
// requests and responses. Each row follows the API reference of its provider.
// Invariant: nothing in a row depends on a text or on a call.

/** Whether texts are searched for, or found. Many models embed the two differently. */
export type Purpose = 'query' | 'document';

/** What the vectors are for: `embedding.task`. */
export type Task = 'retrieval' | 'similarity' | 'classification' | 'clustering' | 'none';

/** What one request asks for. */
interface Ask {
  model: string;
  texts: readonly string[];
  /** The provider's own name of the task, if it has one. */
  task?: string | undefined;
  /** Number of dimensions to ask for; undefined: those of the model. */
  dimensions?: number | undefined;
}

/** The provider's own names of a task, for queries and for documents. One name stands for both. */
type TaskNames = Partial<Record<Task, string | readonly [query: string, document: string]>>;

export interface ProviderRow {
  /** Environment variable of the base URL, and the provider's own base URL. */
  address: { variable: string; usual?: string };
  /** Environment variable of the credential, and its header. */
  credential?: { variable: string; header: 'bearer' | 'api-key' | 'x-goog-api-key' };
  /** The operator runs the server, which need not want a credential. */
  isOwn?: true;
  /** Path under the base URL, with its query. */
  path: (model: string) => string;
  /** Usual maximum of texts and of estimated tokens in one request. */
  batch: { texts: number; tokens: number };
  tasks?: TaskNames;
  body: (ask: Ask) => unknown;
  /** Returns the unchecked vectors of a response. */
  vectors: (answer: unknown) => unknown[];
}

const oneOrAll = (texts: readonly string[]): string | readonly string[] =>
  texts.length === 1 ? texts[0]! : texts;

export function readMember(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Reads `data[i].embedding`, in the order of `index` if the indexes are a permutation. */
function openaiVectors(answer: unknown): unknown[] {
  const items = listOf(readMember(answer, 'data'));
  const indexes = items.map((item) => readMember(item, 'index'));
  const isPermutation =
    new Set(indexes).size === items.length &&
    indexes.every((index) => Number.isInteger(index) && (index as number) in items);
  const vectors: unknown[] = [];
  for (const [i, item] of items.entries())
    vectors[isPermutation ? (indexes[i] as number) : i] = readMember(item, 'embedding');
  return vectors;
}

const openaiBatch = { texts: 256, tokens: 250_000 };

/** The form that OpenAI has introduced, with the provider's own name of each optional member. */
const openaiForm = (names: { task?: string; dimensions: string }) => ({
  body: ({ model, texts, task, dimensions }: Ask) => ({
    input: oneOrAll(texts),
    model,
    ...(names.task !== undefined && task !== undefined && { [names.task]: task }),
    ...(dimensions !== undefined && { [names.dimensions]: dimensions }),
  }),
  vectors: openaiVectors,
});

const bearer = (variable: string) => ({ variable, header: 'bearer' }) as const;

const rows = {
  openai: {
    address: { variable: 'OPENAI_BASE_URL', usual: 'https://api.openai.com/v1' },
    credential: bearer('OPENAI_API_KEY'),
    path: () => 'embeddings',
    batch: openaiBatch,
    ...openaiForm({ dimensions: 'dimensions' }),
  },
  azure_openai: {
    address: { variable: 'AZURE_OPENAI_ENDPOINT' },
    credential: { variable: 'AZURE_OPENAI_API_KEY', header: 'api-key' },
    path: (deployment) =>
      `openai/deployments/${encodeURIComponent(deployment)}/embeddings?api-version=2024-10-21`,
    batch: openaiBatch,
    body: ({ texts, dimensions }) => ({
      input: oneOrAll(texts),
      ...(dimensions !== undefined && { dimensions }),
    }),
    vectors: openaiVectors,
  },
  gemini: {
    address: {
      variable: 'GEMINI_BASE_URL',
      usual: 'https://generativelanguage.googleapis.com',
    },
    credential: { variable: 'GEMINI_API_KEY', header: 'x-goog-api-key' },
    path: (model) => `v1beta/models/${encodeURIComponent(model)}:batchEmbedContents`,
    batch: { texts: 100, tokens: 100_000 },
    tasks: {
      retrieval: ['RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT'],
      similarity: 'SEMANTIC_SIMILARITY',
      classification: 'CLASSIFICATION',
      clustering: 'CLUSTERING',
    },
    body: ({ model, texts, task, dimensions }) => ({
      requests: texts.map((text) => ({
        model: `models/${model}`,
        content: { parts: [{ text }] },
        ...(task !== undefined && { taskType: task }),
        ...(dimensions !== undefined && { outputDimensionality: dimensions }),
      })),
    }),
    vectors: (answer) =>
      listOf(readMember(answer, 'embeddings')).map((one) => readMember(one, 'values')),
  },
  voyage: {
    address: { variable: 'VOYAGE_BASE_URL', usual: 'https://api.voyageai.com/v1' },
    credential: bearer('VOYAGE_API_KEY'),
    path: () => 'embeddings',
    batch: { texts: 128, tokens: 100_000 },
    tasks: { retrieval: ['query', 'document'] },
    ...openaiForm({ task: 'input_type', dimensions: 'output_dimension' }),
  },
  cohere: {
    address: { variable: 'COHERE_BASE_URL', usual: 'https://api.cohere.com' },
    credential: bearer('COHERE_API_KEY'),
    path: () => 'v2/embed',
    batch: { texts: 96, tokens: 100_000 },
    // Cohere wants a type with every request.
    tasks: {
      retrieval: ['search_query', 'search_document'],
      similarity: 'search_document',
      classification: 'classification',
      clustering: 'clustering',
      none: 'search_document',
    },
    body: ({ model, texts, task, dimensions }) => ({
      model,
      texts,
      input_type: task,
      embedding_types: ['float'],
      ...(dimensions !== undefined && { output_dimension: dimensions }),
    }),
    vectors: (answer) => listOf(readMember(readMember(answer, 'embeddings'), 'float')),
  },
  mistral: {
    address: { variable: 'MISTRAL_BASE_URL', usual: 'https://api.mistral.ai/v1' },
    credential: bearer('MISTRAL_API_KEY'),
    path: () => 'embeddings',
    batch: { texts: 128, tokens: 15_000 },
    ...openaiForm({ dimensions: 'output_dimension' }),
  },
  jina: {
    address: { variable: 'JINA_BASE_URL', usual: 'https://api.jina.ai/v1' },
    credential: bearer('JINA_API_KEY'),
    path: () => 'embeddings',
    batch: { texts: 128, tokens: 100_000 },
    tasks: {
      retrieval: ['retrieval.query', 'retrieval.passage'],
      similarity: 'text-matching',
      classification: 'classification',
      clustering: 'separation',
    },
    ...openaiForm({ task: 'task', dimensions: 'dimensions' }),
  },
  ollama: {
    address: { variable: 'OLLAMA_BASE_URL', usual: 'http://localhost:11434' },
    credential: bearer('OLLAMA_API_KEY'),
    isOwn: true,
    path: () => 'api/embed',
    batch: { texts: 64, tokens: 100_000 },
    body: ({ model, texts, dimensions }) => ({
      model,
      input: texts,
      ...(dimensions !== undefined && { dimensions }),
    }),
    vectors: (answer) => listOf(readMember(answer, 'embeddings')),
  },
  tei: {
    address: { variable: 'TEI_BASE_URL', usual: 'http://localhost:8080' },
    credential: bearer('TEI_API_KEY'),
    isOwn: true,
    path: () => 'embed',
    batch: { texts: 32, tokens: 16_000 },
    body: ({ texts, dimensions }) => ({
      inputs: texts,
      ...(dimensions !== undefined && { dimensions }),
    }),
    vectors: listOf,
  },
  local: {
    address: { variable: 'EMBEDDING_URL', usual: 'http://localhost:8699/embed' },
    isOwn: true,
    path: () => '',
    batch: { texts: 1, tokens: Number.POSITIVE_INFINITY },
    body: ({ texts: [text] }) => ({ text, chunk_style: 'recursive', chunk_size: 100 }),
    vectors: (answer) => [readMember(answer, 'embedding')],
  },
} as const satisfies Record<string, ProviderRow>;

export type ProviderName = keyof typeof rows;

export const providerTable: Readonly<Record<ProviderName, ProviderRow>> = rows;

export const isProviderName = (name: string): name is ProviderName => Object.hasOwn(rows, name);

/** The environment variables of each provider: its address, and its credential. */
export const providerVariables: readonly { address: readonly string[]; credential?: string }[] =
  Object.entries(providerTable).map(([name, { address, credential }]) => ({
    address: [address.variable, ...(name === 'azure_openai' ? ['AZURE_OPENAI_RESOURCE_NAME'] : [])],
    ...(credential && { credential: credential.variable }),
  }));
