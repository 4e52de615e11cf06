// Follows the groups of a step: finds the slots that they are stored in on their way to a
// projection, and whether they are used in any other way.
import type { Pipeline, Step } from '../expression.js';
import type { Plan } from '../plan.js';

type Node = Readonly<Record<string, unknown>>;

/** Maps each object of a plan to the objects that contain it, as a member or in a list. */
export type Uses = ReadonlyMap<object, readonly Node[]>;

export function findUses({ statements, output }: Plan): Uses {
  const uses = new Map<object, Node[]>();
  const visit = (part: unknown, holder: Node | undefined): void => {
    if (typeof part !== 'object' || part === null) return;
    if (Array.isArray(part)) {
      for (const each of part) visit(each, holder);
      return;
    }
    const known = uses.get(part);
    if (known !== undefined) {
      if (holder !== undefined) known.push(holder);
      return;
    }
    uses.set(part, holder === undefined ? [] : [holder]);
    if ((part as Node).kind === 'literal') return;
    for (const each of Object.values(part)) visit(each, part as Node);
  };
  visit([statements, output], undefined);
  return uses;
}

/**
 * Returns the slots that groups of the step are stored in, or undefined if a use reads whole
 * groups.
 */
export function slotsOfGroups(uses: Uses, group: number): Set<number> | undefined {
  const held = new Set<number>();
  const isGroup = (step: Step): boolean => step.kind === 'group' && step.slot === group;
  for (const part of uses.keys()) {
    const { kind, steps } = part as Partial<Pipeline>;
    const at = kind === 'pipeline' ? steps!.findIndex(isGroup) : -1;
    if (at >= 0 && !follow(uses, part as Pipeline, at + 1, held)) return undefined;
  }
  return held;
}

/**
 * Returns true if the groups that a pipeline has from a step on are used only in the allowed ways.
 */
function follow(uses: Uses, pipeline: Pipeline, from: number, held: Set<number>): boolean {
  for (const step of pipeline.steps.slice(from)) {
    if (step.kind === 'count') return true;
    if (step.kind === 'where') held.add(step.condition.slot);
    else if (step.kind === 'order') held.add(step.slot);
    else if (step.kind !== 'range' && step.kind !== 'first') return false;
  }
  return followValue(uses, pipeline, held);
}

function followValue(uses: Uses, value: object, held: Set<number>): boolean {
  return uses.get(value)!.every((holder) => {
    const { kind, slot } = holder;
    if (kind === 'project' && holder.of === value) {
      held.add(slot as number);
      return true;
    }
    if (kind === 'value' && holder.of === value) {
      const readers = uses.get(holder)! as readonly unknown[] as Pipeline[];
      return readers.every((each) => each.kind === 'pipeline' && follow(uses, each, 0, held));
    }
    if (kind !== 'bind' || holder.keep !== undefined) return false;
    return [...uses.keys()].every((part) => {
      const reads = (part as Node).kind === 'slot' && (part as Node).slot === slot;
      return !reads || followValue(uses, part, held);
    });
  });
}

/** Names of the items of a group: shaped, and unshaped. */
export const isItems = (name: unknown): boolean => name === 'data' || name === '#rows';

/** Returns true if the items are still needed: a slot is read for more than other members of its group. */
export function itemsLeft(uses: Uses, held: ReadonlySet<number>): boolean {
  for (const [part, holders] of uses) {
    const { kind, slot } = part as Node;
    if ((kind !== 'slot' && kind !== 'test') || !held.has(slot as number)) continue;
    const isFine = holders.every(({ kind: of, name, value }) =>
      of === 'with' ? value !== part : of === 'property' && !isItems(name),
    );
    if (kind === 'test' || !isFine) return true;
  }
  return false;
}
