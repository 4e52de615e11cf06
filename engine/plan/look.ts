// What a dashboard asks to see of the graph (http.md 9), as plans: they run where other reads run, in
// a lane, within the limits, and end when nobody waits any more.
import type { CostClass, Look, Plan } from './plan.js';

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
  if (look.kind === 'neighbours') return 'B';
  return look.kind === 'nodes' && look.count <= fewElements ? 'B' : 'C';
}
