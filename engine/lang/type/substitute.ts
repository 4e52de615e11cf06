// Copies plan expressions and replaces slots. Slots that are bound inside the copy are renamed, so that an
// expression and its copy may be nested.
import type { Expression } from '../../plan/expression.js';

export interface SlotSupply {
  /** Returns an unused slot. */
  fresh(): number;
  /** Called for every copied node; throws when a query grows beyond the limit. */
  spend(): void;
}

/** Returns a copy in which the slots that are keys of `values` are replaced. */
export function substitute(
  expression: Expression,
  values: ReadonlyMap<number, Expression>,
  supply: SlotSupply,
): Expression {
  const renamed = new Map<number, number>();
  collectBinders(expression, renamed, supply);
  return copy(expression, values, renamed, supply) as Expression;
}

type PlanNode = Record<string, unknown>;

/** Every node that has a slot and is not a reference binds the slot. Literals contain no slots. */
function collectBinders(value: unknown, renamed: Map<number, number>, supply: SlotSupply): void {
  if (typeof value !== 'object' || value === null) return;
  supply.spend();
  if (Array.isArray(value)) {
    for (const item of value) collectBinders(item, renamed, supply);
    return;
  }
  const node = value as PlanNode;
  if (node.kind === 'literal' || node.kind === 'slot') return;
  if (typeof node.slot === 'number') renamed.set(node.slot, supply.fresh());
  for (const member of Object.values(node)) collectBinders(member, renamed, supply);
}

function copy(
  value: unknown,
  values: ReadonlyMap<number, Expression>,
  renamed: ReadonlyMap<number, number>,
  supply: SlotSupply,
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => copy(item, values, renamed, supply));
  const node = value as PlanNode;
  if (node.kind === 'literal') return node;
  const slot = node.slot as number | undefined;
  const newSlot = slot === undefined ? undefined : (renamed.get(slot) ?? slot);
  if (node.kind === 'slot') {
    return values.get(slot!) ?? (newSlot === slot ? node : { kind: 'slot', slot: newSlot });
  }
  const result: PlanNode = {};
  for (const [key, member] of Object.entries(node)) {
    result[key] = key === 'slot' ? newSlot : copy(member, values, renamed, supply);
  }
  return result;
}
