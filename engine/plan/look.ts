// What a dashboard asks to see of the graph (http.md 9), as plans: they run where other reads run, in
// a lane, within the limits, and end when nobody waits any more.
import type { CostClass, Plan } from './plan.js';

/** `id`: the 16 bytes of one. `count`: elements of a kind, at most. */
export type Look =
  | { kind: 'node'; id: Uint8Array }
  | { kind: 'nodes'; type: string; count: number }
  | { kind: 'connections'; id: Uint8Array }
  /** Nodes with the edges among them; `title`: the property that names a node. */
  | { kind: 'graph'; count: number; title: string | null };

/** So many elements are as quick as an ordinary read. */
const fewElements = 100;

export function lookPlan(look: Look): Plan {
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

function costOf(look: Look): CostClass {
  if (look.kind === 'node') return 'A';
  return look.kind === 'nodes' && look.count <= fewElements ? 'B' : 'C';
}
