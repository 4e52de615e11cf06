// Decides which tools can work with a schema and a configuration. A host does not list a tool whose every
// call would be refused: without vectors, without texts, or without an embedding model.
import type { Query, Schema } from '../../../engine/internal.js';

export interface ToolNeeds {
  schema: Schema;
  /** Whether keyword search is enabled. */
  hasKeywordSearch: boolean;
  /** Model of the texts of a vector type, or the default model without a type; empty for none. */
  modelOf: (vectorType?: string) => string;
}

type ElementType = Schema['nodes'][number] | Schema['vectors'][number];

const hasText = ({ properties }: ElementType): boolean =>
  properties.some(({ type }) => {
    const item = type.kind === 'list' ? type.of : type;
    return item.kind === 'scalar' && item.name === 'String';
  });

const hasEdges = ({ schema }: ToolNeeds): boolean => schema.edges.length > 0;

/** Tools that need more than a traversal. */
const conditions: Readonly<Record<string, (needs: ToolNeeds) => boolean>> = {
  n_from_type: ({ schema }) => schema.nodes.length > 0,
  e_from_type: hasEdges,
  out_step: hasEdges,
  in_step: hasEdges,
  out_e_step: hasEdges,
  in_e_step: hasEdges,
  search_vector: ({ schema }) => schema.vectors.length > 0,
  search_vector_text: ({ schema, modelOf }) =>
    schema.vectors.some(({ name }) => modelOf(name) !== ''),
  search_keyword: ({ schema, hasKeywordSearch }) =>
    hasKeywordSearch && [...schema.nodes, ...schema.vectors].some(hasText),
};

/** Returns whether calls of a session tool can succeed. */
export const canRunSessionTool = (name: string, needs: ToolNeeds): boolean =>
  conditions[name]?.(needs) ?? true;

/** Returns whether there is a model for every text that the query embeds. */
export const canRunQuery = ({ plan }: Query, { modelOf }: ToolNeeds): boolean =>
  plan.embeds.every(({ type }) => (plan.model ?? modelOf(type)) !== '');
