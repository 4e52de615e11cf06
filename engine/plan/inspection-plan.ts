// What a dashboard asks to see of the graph (http.md 9), as plans: they run where other reads run, in
// a lane, within the limits, and end when nobody waits any more.
import type { Expression } from './expression.js';
import type { CostClass, InspectionRequest, Plan } from './plan.js';

/** So many elements are as quick as an ordinary read. */
const fewElements = 100;

export function inspectionPlan(look: InspectionRequest): Plan {
  return {
    name: `look/${look.kind}`,
    parameters: [],
    slotCount: 0,
    statements: [],
    output: { kind: 'look', look },
    writes: false,
    cost: costOf(look),
    embeds: [],
    compat: false,
  };
}

/** Answers `{vector}`, the embedding of a text by the model of a vector type, or of the server. */
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

function costOf(look: InspectionRequest): CostClass {
  if (look.kind === 'node' || look.kind === 'vector') return 'A';
  if (look.kind === 'neighbours') return 'B';
  return look.kind === 'nodes' && look.count <= fewElements ? 'B' : 'C';
}
