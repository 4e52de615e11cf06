// A prompt: a text with placeholders that the user fills in before a model reads it. Also defines the
// built-in prompts.
import type { Program } from '../../../engine/internal.js';

export interface PromptArgument {
  name: string;
  description?: string;
  required: boolean;
}

export interface Prompt {
  name: string;
  title?: string;
  description?: string;
  arguments: readonly PromptArgument[];
  /**
   * Text with `{{argument}}` for the value of an argument, and `{{schema}}` for the schema page.
   */
  text: string;
}

const question: PromptArgument = {
  name: 'question',
  description: 'What is to be found out.',
  required: true,
};

const walking = `Walk the graph with the tools: begin with a search or {{tool}}n_from_type, go on
with {{tool}}out_step and {{tool}}in_step, narrow with {{tool}}filter_items, and read with
{{tool}}collect, a page at a time. Each answer says the connection_id that the next call gives.
Where a stored query does the same, call it: it is quicker.`;

const explore: Prompt = {
  name: 'explore',
  title: 'Explore the graph',
  description: 'Answers a question by walking the graph.',
  arguments: [question],
  text: `This is the schema of a graph and vector database.

{{schema}}

${walking}

{{question}}`,
};

const answerWithSources: Prompt = {
  name: 'answer_with_sources',
  title: 'Answer with sources',
  description: 'Answers a question from what is stored, and names what it rests on.',
  arguments: [
    question,
    { name: 'type', description: 'The type of element to search among.', required: true },
  ],
  text: `This is the schema of a graph and vector database.

{{schema}}

Search among the elements of the type {{type}}, by words with {{tool}}search_keyword and by meaning
with {{tool}}search_vector_text where the type has vectors, and take what both find before what one
finds. Answer only from what you found, and write the id of the element behind each statement in
brackets. Say so when nothing that is stored answers the question.

{{question}}`,
};

/** `prefix`: beginning of the names of all tools. */
export const builtInPrompts = (prefix: string): readonly Prompt[] =>
  [explore, answerWithSources].map((prompt) => ({
    ...prompt,
    text: prompt.text.replaceAll('{{tool}}', prefix),
  }));

/** Returns the text with its placeholders filled in. Placeholders inside values stay unchanged. */
export function filled({ text }: Prompt, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\{\{\s*([\w-]+)\s*\}\}/g, (gap, name: string) => values.get(name) ?? gap);
}

/** Possible values of an argument, by its name. */
export function wordsFor(
  argument: string,
  { schema, queries }: Pick<Program, 'schema' | 'queries'>,
) {
  const typesOf = (types: readonly { name: string }[]): string[] => types.map(({ name }) => name);
  const { nodes, edges, vectors } = schema;
  if (/query|queries/i.test(argument)) return typesOf(queries);
  if (/edge/i.test(argument)) return typesOf(edges);
  if (/property|field|key/i.test(argument)) {
    const all = [...nodes, ...edges, ...vectors].flatMap(({ properties }) => typesOf(properties));
    return [...new Set(all)];
  }
  if (/type|label/i.test(argument)) return [...new Set(typesOf([...nodes, ...vectors]))];
  return [];
}
