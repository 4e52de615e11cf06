// Plans for the inspection requests of dashboards. They run as other reads do: on a reader thread,
// within the limits, and cancelled when the client disconnects.
import type { Expression } from './expression.js';
import type { CostClass, InspectionRequest, Plan } from './plan.js';

/** Up to this many elements, a request is as fast as an ordinary read. */
const fewElements = 100;

export function inspectionPlan(look: InspectionRequest): Plan {
  return {
    name: `look/${look.kind}`,
    parameters: [],
    slotCount: 0,
    statements: [],
    output: { kind: 'look', look },
    writes: false,
    cost: estimateCost(look),
    embeds: [],
    compat: false,
  };
}

/**
 * Returns a plan whose result is `{vector}`: the embedding of a text by the model of a vector type,
 * or of the server.
 */
export function embeddingPlan(text: string, type: string | undefined): Plan {
  const literal: Expression = { kind: 'literal', value: text };
  const asked = { text: literal, ...(type !== undefined && { type }) };
  return {
    ...inspectionPlan({ kind: 'nodes', type: '', count: 0 }),
    name: 'look/embedding',
    output: {
      kind: 'object',
      members: [{ key: 'vector', value: { kind: 'embed', ...asked } }],
    },
    embeds: [{ loops: [], ...asked }],
  };
}

function estimateCost(look: InspectionRequest): CostClass {
  if (look.kind === 'node' || look.kind === 'vector') return 'A';
  if (look.kind === 'neighbours') return 'B';
  return look.kind === 'nodes' && look.count <= fewElements ? 'B' : 'C';
}
