// Lists the indexes of a database with their state: one entry per vector type, per indexed property and per
// type with keywords. It is for operators and decides nothing.
import type { Label, ReadView } from '../../storage/table/view-types.js';
import { readTotals } from '../../text/text-index-writer.js';
import type { IndexOptions } from '../../vector/index.js';
import type { SharedIndex } from '../../vector/shared-index.js';
import { effectiveLayout } from '../../vector/options.js';
import type { SnapshotInfo } from './vector-snapshot.js';

export interface VectorIndexInfo extends Omit<IndexOptions, 'layout'> {
  kind: 'vector';
  type: string;
  /** 0 before the first vector. */
  dimensions: number;
  /** As configured, and as chosen for this dimension. */
  layout: IndexOptions['layout'];
  layoutUsed: 'fast' | 'compact' | 'flat' | undefined;
  /** True if searches use a graph; false if they scan. */
  graph: boolean;
  /** True on a cluster node without memory for the index. Searches then scan the stored vectors. */
  givenUp: boolean;
  /** Search width that the calibration found; 0 before the first calibration. */
  efMeasured: number;
  vectors: number;
  /** Deleted vectors whose slots are not reclaimed yet. */
  tombstones: number;
  segments: number;
  /** Bytes of memory in use. */
  bytes: number;
  snapshot: (Omit<SnapshotInfo, 'label' | 'writtenAt'> & { ageSeconds: number }) | undefined;
}

export interface PropertyIndexInfo {
  kind: 'property';
  type: string;
  property: string;
  unique: boolean;
  /** Number of elements of the type. */
  elements: number;
}

export interface KeywordIndexInfo {
  kind: 'keyword';
  type: string;
  documents: number;
}

export type IndexInfo = VectorIndexInfo | PropertyIndexInfo | KeywordIndexInfo;

/** `nowMs` is Unix time, for the age of snapshots. */
export function listIndexes(
  view: ReadView,
  vectors: (label: number) => SharedIndex | undefined,
  snapshots: ReadonlyMap<number, SnapshotInfo>,
  nowMs: number,
): IndexInfo[] {
  const list: IndexInfo[] = [];
  for (const label of view.catalog.labels()) {
    const index = vectors(label.id);
    if (index) {
      const { id } = label;
      list.push(vectorInfo(label, index, snapshots.get(id), nowMs, view.count(id)));
    }
    for (const { name, index: kind } of label.properties) {
      if (kind === 'none') continue;
      const unique = kind === 'unique';
      const elements = view.count(label.id);
      list.push({ kind: 'property', type: label.name, property: name, unique, elements });
    }
    const { documents } = readTotals(view, label.id);
    if (documents > 0) list.push({ kind: 'keyword', type: label.name, documents });
  }
  return list;
}

function vectorInfo(
  label: Label,
  index: SharedIndex,
  snapshot: SnapshotInfo | undefined,
  nowMs: number,
  count: number,
): VectorIndexInfo {
  const { options, dimension } = index;
  return {
    kind: 'vector',
    type: label.name,
    dimensions: dimension,
    ...options,
    layoutUsed: dimension === 0 ? undefined : effectiveLayout(options, dimension),
    graph: dimension > 0 && index.segments[0]!.hasGraph,
    givenUp: index.isDisabled,
    efMeasured: index.calibratedWidth,
    vectors: index.isDisabled ? count : index.count,
    tombstones: index.tombstones,
    segments: index.segments.length,
    bytes: index.bytes,
    snapshot: snapshot && {
      file: snapshot.file,
      seq: snapshot.seq,
      bytes: snapshot.bytes,
      took: snapshot.took,
      ageSeconds: Math.max(0, Math.round((nowMs - snapshot.writtenAt) / 1000)),
    },
  };
}
