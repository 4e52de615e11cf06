// Compiles PAGE, and the source in which PAGE or the first rows of an ORDER start.
import type { Source, Step } from '../../plan/expression.js';
import type { Label } from '../../storage/table/view-types.js';
import { buildFind } from './access.js';
import { filterOrOrderedScan } from '../access/filter-or-ordered-scan.js';
import { fromId, fromKey, type Seek } from '../page/page-seek.js';
import type { Paging } from '../page/page.js';
import { type Builder, labelOf } from '../runtime/build-context.js';
import type { IdFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';

type Page = Extract<Step, { kind: 'page' }>;
type Sort = Page | Extract<Step, { kind: 'order' }>;

/** State that a page or an order shares with its source. */
export interface SeekSource {
  seek: Seek;
  flow: IdFlow;
}

export function buildPaging(
  builder: Builder,
  step: Page,
  source: Pick<SeekSource, 'seek'> | undefined,
): Paging {
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

/**
 * Returns undefined when no source can start at a position, or the catalog lacks it. Then the plain steps
 * run.
 */
export function buildSeek(
  builder: Builder,
  source: Source,
  sort: Sort | undefined,
  limit: ((frame: Frame) => number) | undefined,
): SeekSource | undefined {
  if (source.kind !== 'scan' || sort?.seek === undefined || sort.seek.list) return undefined;
  const [type] = source.types;
  const label = labelOf(builder, type!.kind, type!.name);
  if (label === undefined) return undefined;
  const seek: Seek = { start: undefined, ordered: true };
  const walk = walkOf(builder, label, sort, seek);
  const { alternative: few } = sort.seek;
  if (walk === undefined || few === undefined) return walk && { seek, flow: walk };
  const wanted = sort.kind === 'page' ? countOf(builder, sort) : limit;
  const [find, findAll] = [wanted, undefined].map((each) => buildFind(builder, label, few, each));
  if (!find || !findAll || !wanted) return undefined;
  return { seek, flow: filterOrOrderedScan(walk, { label, find, findAll, limit: wanted }, seek) };
}

function countOf(builder: Builder, { count }: Page): (frame: Frame) => number {
  const value = builder.value(count);
  return (frame) => Number(value(frame));
}

function walkOf(builder: Builder, label: Label, sort: Sort, seek: Seek): IdFlow | undefined {
  const { property: name, descending } = sort.seek!;
  if (name === null) return fromId(label, seek);
  const property = label.properties.find((each) => each.name === name);
  if (property === undefined || property.indexId === 0) return undefined;
  const { nullsFirst } = sort.keys[0]!;
  return fromKey({ label, property, descending, nullsFirst, read: builder.member(name) }, seek);
}
