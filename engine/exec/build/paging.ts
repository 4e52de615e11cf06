// Compiles PAGE, and the source it seeks in.
import type { Source, Step } from '../../plan/expression.js';
import { fromId, fromKey, type Seek } from '../operators/page-seek.js';
import type { Paging } from '../operators/page.js';
import { type Builder, labelOf } from '../row/builder.js';
import type { IdFlow } from '../row/flow.js';

type Page = Extract<Step, { kind: 'page' }>;

/** What a page and its source share. */
export interface SeekSource {
  seek: Seek;
  flow: IdFlow;
}

export function buildPaging(builder: Builder, step: Page, source: SeekSource | undefined): Paging {
  const { slot, keys, order, after, shape } = step;
  return {
    slot,
    keys: keys.map((key) => ({ ...key, value: builder.value(key.value) })),
    order,
    count: builder.value(step.count),
    after: after ? builder.value(after) : undefined,
    shape: shape && builder.value(shape),
    seek: source?.seek,
  };
}

/** Undefined where nothing is sought, or the catalog does not have it: the steps as they stand do. */
export function buildSeek(
  builder: Builder,
  source: Source,
  last: Step | undefined,
): SeekSource | undefined {
  if (source.kind !== 'scan' || last?.kind !== 'page' || last.seek === undefined) return undefined;
  const [type] = source.types;
  const label = labelOf(builder, type!.kind, type!.name);
  if (label === undefined) return undefined;
  const seek: Seek = { start: undefined, ordered: true };
  const { property: name, descending } = last.seek;
  if (name === null) return { seek, flow: fromId(label, seek) };
  const property = label.properties.find((each) => each.name === name);
  if (property === undefined || property.indexId === 0) return undefined;
  const order = { label, property, descending, read: builder.member(name) };
  return { seek, flow: fromKey(order, seek) };
}
