// Plans for the inspection requests of dashboards. They run as other reads do: on a reader thread,
// within the limits, and cancelled when the client disconnects.
import type { Expression } from './expression.js';
import type { CostClass, InspectionRequest, Plan } from './plan.js';

/** Up to this many elements, a request is as fast as an ordinary read. */
const fewElements = 100;

export function inspectionPlan(request: InspectionRequest): Plan {
  return {
    name: `look/${request.kind}`,
    parameters: [],
    slotCount: 0,
    statements: [],
    output: { kind: 'inspection', request },
    writes: false,
    cost: estimateCost(request),
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
  const site = { text: literal, isQuery: true as const, ...(type !== undefined && { type }) };
  return {
    ...inspectionPlan({ kind: 'nodes', type: '', count: 0 }),
    name: 'look/embedding',
    output: {
      kind: 'object',
      members: [{ key: 'vector', value: { kind: 'embed', ...site } }],
    },
    embeds: [{ loops: [], ...site }],
  };
}

function estimateCost(request: InspectionRequest): CostClass {
  if (request.kind === 'node' || request.kind === 'vector') return 'A';
  if (request.kind === 'neighbours') return 'B';
  return request.kind === 'nodes' && request.count <= fewElements ? 'B' : 'C';
}
