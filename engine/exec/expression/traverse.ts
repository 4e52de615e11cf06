// Visits the elements that a chain of graph steps reaches from one element, without rows and batches.
// Conditions use it: they run it for every item and usually stop early.
//
// Invariant: it visits what the steps yield as a flow, in the same order.
import type { Expression } from '../../plan/expression.js';
import { type Builder, edgeLabels } from '../runtime/build-context.js';
import { edgeEnd } from '../runtime/element.js';
import type { Frame } from '../runtime/frame.js';
import { adjacent } from '../runtime/edge-list.js';

/** Returns true as soon as `visit` returns true for an element. It then visits no more. */
export type Traverse = (frame: Frame, id: number, visit: (id: number) => boolean) => boolean;

type TraverseStep = (frame: Frame, id: number, next: (id: number) => boolean) => boolean;

/**
 * Returns the steps from the item in `slot`, if the expression consists of such steps only. Otherwise
 * undefined.
 */
export function traversalFrom(
  builder: Builder,
  expression: Expression,
): { slot: number; traverse: Traverse } | undefined {
  if (expression.kind !== 'pipeline') return undefined;
  const { source, steps } = expression;
  if (source.kind !== 'value' || source.of.kind !== 'slot' || steps.length === 0) return undefined;
  const found: TraverseStep[] = [];
  for (const step of steps) {
    if (step.kind === 'neighbours' && step.farKind === undefined) {
      const labels = edgeLabels(builder, step.edges).map(({ id }) => id);
      const { direction } = step;
      found.push((frame, id, next) => {
        const lists = labels.length === 1 ? frame.edges()?.of(labels[0]!, direction) : undefined;
        const word = lists?.find(id) ?? 0;
        const words = word === 0 ? adjacent(frame, id, labels, direction) : lists!.words;
        const last = word === 0 ? words.length : word + words[word]!;
        frame.tick(1 + ((last - word) >> 1));
        for (let at = word === 0 ? 1 : word + 2; at <= last; at += 2) {
          if (next(words[at]!)) return true;
        }
        return false;
      });
    } else if (step.kind === 'end' && step.end !== 'other' && step.edge === undefined) {
      const { end } = step;
      found.push((frame, id, next) => {
        frame.tick(1);
        const far = edgeEnd(frame, id, end);
        return far !== 0 && next(far);
      });
    } else return undefined;
  }
  return { slot: source.of.slot, traverse: joined(found) };
}

function joined([first, ...rest]: readonly TraverseStep[]): Traverse {
  if (rest.length === 0) return first!;
  const further = joined(rest);
  return (frame, id, visit) => first!(frame, id, (far) => further(frame, far, visit));
}
