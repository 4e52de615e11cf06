// Compiles GROUP_BY and AGGREGATE_BY, with the accumulators that the planner chose for their items.
import type { Step } from '../../plan/expression.js';
import { accumulateWhere, type Accumulate, firstOnes, total } from '../operators/accumulate.js';
import type { Grouping } from '../operators/group.js';
import { buildCapture } from './capture.js';
import type { Builder } from '../runtime/build-context.js';

type Group = Extract<Step, { kind: 'group' }>;
type Accumulated = NonNullable<Group['accumulate']>[number];

export function buildGrouping(builder: Builder, step: Group): Grouping {
  return {
    slot: step.slot,
    keys: step.keys.map(({ name, value }) => ({ name, value: builder.value(value) })),
    data: step.data,
    whole: step.whole === true || step.accumulate !== undefined,
    shape: step.shape && builder.value(step.shape),
    rows: step.rows === true,
    keep: buildCapture(builder, step.keep, 'recordsAndVectors'),
    keyed: builder.style.compat,
    accumulate: step.accumulate?.map((each) => {
      return { rows: each.rows === true, make: buildAccumulate(builder, each) };
    }),
  };
}

function buildAccumulate(builder: Builder, accumulated: Accumulated): Accumulate {
  const of = buildAccumulator(builder, accumulated);
  const { where } = accumulated;
  return where ? accumulateWhere(of, where.slot, builder.value(where.value)) : of;
}

function buildAccumulator(builder: Builder, accumulated: Accumulated): Accumulate {
  if (accumulated.kind === 'total') {
    const { slot, function: name, integer } = accumulated;
    return total({ slot, function: name, integer, value: builder.value(accumulated.value) });
  }
  const { slot, max } = accumulated;
  const keys = accumulated.keys.map((key) => ({ ...key, value: builder.value(key.value) }));
  return firstOnes({ slot, keys }, max);
}
