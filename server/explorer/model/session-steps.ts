// Decides by the schema which session tools apply to the current traversal. Pure.
import type { SchemaType } from './status.js';
import type { Call, Held } from './session.js';

export interface StepChoice {
  name: string;
  call: Call;
}

/** Returns the edge steps that lead to something from the types of the traversal. */
export function stepsFrom(held: Held, schema: readonly SchemaType[]): StepChoice[] {
  const labels = new Set(held.map(({ label }) => label));
  const kindOf = (name: string | undefined) => schema.find((type) => type.name === name)?.kind;
  const edges = schema.filter(({ kind }) => kind === 'edge');
  return edges.flatMap(({ name, from, to }): StepChoice[] => {
    const toEdge = (tool: string): Call => ({ tool, data: { edge_label: name } });
    const toEnd = (tool: string, end: string | undefined): Call => ({
      tool,
      data: { edge_label: name, edge_type: kindOf(end) === 'vector' ? 'vec' : 'node' },
    });
    const choices: StepChoice[] = [];
    if (labels.has(from!)) {
      choices.push({ name: `→ ${name} → ${to}`, call: toEnd('out_step', to) });
      choices.push({ name: `→ ${name} (the edges)`, call: toEdge('out_e_step') });
    }
    if (labels.has(to!)) {
      choices.push({ name: `← ${name} ← ${from}`, call: toEnd('in_step', from) });
      choices.push({ name: `← ${name} (the edges)`, call: toEdge('in_e_step') });
    }
    if (labels.has(name)) {
      choices.push({ name: `to the ${to} of ${name}`, call: toEdge('out_e_step') });
      choices.push({ name: `to the ${from} of ${name}`, call: toEdge('in_e_step') });
    }
    return choices;
  });
}

/** Returns the properties of the types of the traversal. */
export function propertiesFrom(held: Held, schema: readonly SchemaType[]): string[] {
  const labels = new Set(held.map(({ label }) => label));
  const types = schema.filter(({ name }) => labels.has(name));
  return [...new Set(types.flatMap(({ properties }) => properties.map(({ name }) => name)))];
}
