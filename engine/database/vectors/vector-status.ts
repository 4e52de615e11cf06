// Stores for the main thread what it reports about the vector indexes: their state, their snapshots as
// the writer reports them, and their last measured recall.
import { wallMs } from '../../base/clock.js';
import { excerpt, fail } from '../../base/errors.js';
import type { DatabaseSample } from '../metrics/definitions.js';
import type { ReadView } from '../../storage/table/view-types.js';
import type { SharedIndex } from '../../vector/shared-index.js';
import { type IndexInfo, listIndexes } from './index-list.js';
import { type Recall, type RecallRequest, measureRecall } from './recall.js';
import type { SnapshotInfo } from './vector-snapshot.js';

export class VectorStatus {
  readonly #snapshots = new Map<number, SnapshotInfo>();
  /** Last measurement by type. */
  readonly #recalls = new Map<string, Recall>();

  constructor(
    private readonly indexes: ReadonlyMap<number, SharedIndex>,
    private readonly read: <T>(read: (view: ReadView) => T) => T,
  ) {}

  noteSnapshot(info: SnapshotInfo): void {
    this.#snapshots.set(info.label, info);
  }

  list(): IndexInfo[] {
    const nowMs = wallMs();
    const indexOf = (label: number): SharedIndex | undefined => this.indexes.get(label);
    return this.read((view) => listIndexes(view, indexOf, this.#snapshots, nowMs));
  }

  /** Fails UNKNOWN_TYPE. */
  async measure(type: string | undefined, request: RecallRequest): Promise<Recall[]> {
    const view = (): ReadView => this.read((newest) => newest);
    const labels = view()
      .catalog.labels()
      .filter(({ kind, name }) => kind === 'vector' && (type === undefined || name === type));
    if (type !== undefined && labels.length === 0) {
      fail('UNKNOWN_TYPE', { kind: 'vector', name: excerpt(type) });
    }
    const results: Recall[] = [];
    for (const label of labels) {
      const index = this.indexes.get(label.id);
      if (!index || index.isDisabled) continue;
      const result = await measureRecall(index, label, view, request);
      this.#recalls.set(label.name, result);
      results.push(result);
    }
    return results;
  }

  metrics(): DatabaseSample[] {
    const list: DatabaseSample[] = [];
    let shared = 0;
    for (const info of this.list()) {
      if (info.kind !== 'vector') continue;
      const labels = { type: info.type };
      shared += info.bytes;
      list.push({ name: 'vectors', labels, value: info.vectors });
      list.push({ name: 'tombstones', labels, value: info.tombstones });
      list.push({ name: 'vector_bytes', labels, value: info.bytes });
      const ratio = info.memoryBytes > 0 ? info.bytes / info.memoryBytes : 0;
      list.push({ name: 'vector_capacity_ratio', labels, value: ratio });
      const { snapshot } = info;
      if (!snapshot) continue;
      list.push({ name: 'snapshot_age_seconds', labels, value: snapshot.ageSeconds });
      list.push({ name: 'snapshot_bytes', labels, value: snapshot.bytes });
      if (!snapshot.took) continue;
      const { ms, stillMs } = snapshot.took;
      list.push({ name: 'snapshot_duration_seconds', labels, value: ms / 1000 });
      list.push({ name: 'snapshot_write_pause_seconds', labels, value: stillMs / 1000 });
    }
    list.push({ name: 'shared_bytes', value: shared });
    for (const { type, k, recall } of this.#recalls.values()) {
      list.push({ name: 'vector_recall', labels: { type, k: String(k) }, value: recall });
    }
    return list;
  }
}
