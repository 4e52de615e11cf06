// Captures the values of items when a binding, a loop or a group reads them, so that later writes and later
// values of outer slots do not show through.
import type { Keep } from '../../plan/plan.js';
import { kindOf } from '../../storage/record/record.js';
import { eachElement } from '../change/update-steps.js';
import { type Builder, containsObject } from '../runtime/build-context.js';
import { recordOf } from '../runtime/element.js';
import { rowsOf } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import type { Element, Value } from '../runtime/value.js';

const writeKinds = new Set<unknown>([
  'drop',
  'addNode',
  'addVector',
  'addVectors',
  'addEdge',
  'upsertEdge',
  'update',
  'upsertNode',
  'upsertVector',
]);

export const writes = (data: unknown): boolean =>
  containsObject(data, (part) => writeKinds.has(part.kind));

/** What a binding captures of its elements. */
export type Capture = 'nothing' | 'records' | 'recordsAndVectors';

/** Reads the records (and vectors) of all elements in a value, so that the value stays as it is now. */
export function captured(frame: Frame, value: Value, capture: Capture): Value {
  if (capture === 'nothing') return value;
  eachElement(frame, value, (element) => {
    if (element.record === undefined) {
      element.isRetained = true;
      recordOf(frame, element);
      frame.tick(1);
    }
    if (capture === 'recordsAndVectors' && element.vector === undefined)
      captureVector(frame, element);
  });
  return value;
}

type CaptureItems = (frame: Frame, value: Value) => void;

/**
 * Returns a function that computes what a shape needs of every bound item. Returns undefined when computing
 * it later gives the same values.
 */
export function buildCapture(
  builder: Builder,
  keep: Keep | undefined,
  after: Capture,
): CaptureItems | undefined {
  if (keep === undefined || (after === 'nothing' && !writes(keep))) return undefined;
  const { slot } = keep;
  const members = keep.members.map(({ key, value, inner }) => ({
    key,
    value: builder.value(value),
    inner: buildCapture(builder, inner, after),
  }));
  return (frame, value) => {
    for (const item of rowsOf(value)) {
      if (typeof item !== 'object' || item === null) continue;
      for (const member of members) {
        frame.slots[slot] = item;
        const found = captured(frame, member.value(frame), after);
        frame.retain(item, member.key, found);
        member.inner?.(frame, found);
      }
    }
  };
}

function captureVector(frame: Frame, element: Element): void {
  const { record } = element;
  if (record === undefined || kindOf(record) !== 'vector') return;
  element.vector = frame.view.vector(element.id);
  frame.reserveMemory(8 * (element.vector?.length ?? 0));
  frame.tick(1);
}
