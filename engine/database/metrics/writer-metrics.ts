// Counts the writer's work in shared memory, which the main thread can read while the writer is busy or
// blocked. Only the writer writes it. It includes the heartbeat.
import { sharedMs } from '../../base/clock.js';
import { Histogram, countCells, countBounds, secondBounds } from '../../base/metric.js';
import type { DatabaseSample } from './definitions.js';

const histograms = [
  ['commit_duration_seconds', secondBounds],
  ['fsync_duration_seconds', secondBounds],
  ['group_commit_size', countBounds],
  ['transaction_writes', countBounds],
] as const;

/** Reasons why a vector index was rebuilt from the store. */
const rebuildReasons = [
  'no_snapshot',
  'snapshot_refused',
  'log_too_short',
  'type_returned',
] as const;
export type RebuildReason = (typeof rebuildReasons)[number];

/** Single cells after the histograms. `busy` is set while the writer runs work that may take long. */
const cellNames = [
  'heartbeat',
  'busy',
  'applied_seq',
  'replayed_operations',
  'snapshot_failures_total',
  ...rebuildReasons,
] as const;
type Cell = (typeof cellNames)[number];

const histogramCells = histograms.reduce((sum, [, bounds]) => sum + countCells(bounds), 0);

export function createWriterMetricsBuffer(): SharedArrayBuffer {
  return new SharedArrayBuffer((histogramCells + cellNames.length) * 8);
}

/** A view of the shared memory. Every thread creates its own view over the same buffer. */
export class WriterMetrics {
  readonly #histograms: Histogram[] = [];
  readonly #cells: Float64Array;

  constructor(readonly buffer: SharedArrayBuffer) {
    let at = 0;
    for (const [, bounds] of histograms) {
      const size = countCells(bounds);
      this.#histograms.push(new Histogram(bounds, new Float64Array(buffer, at * 8, size)));
      at += size;
    }
    this.#cells = new Float64Array(buffer, at * 8, cellNames.length);
  }

  /** Records a durable transaction: its time, the time of its sync, its requests and puts. */
  committed(ms: number, syncMs: number, requests: number, puts: number): void {
    const values = [ms / 1000, syncMs / 1000, requests, puts];
    for (const [i, value] of values.entries()) this.#histograms[i]!.observe(value);
  }

  add(cell: Cell, by = 1): void {
    this.#cells[cellNames.indexOf(cell)]! += by;
  }

  set(cell: Cell, value: number): void {
    this.#cells[cellNames.indexOf(cell)] = value;
  }

  #get(cell: Cell): number {
    return this.#cells[cellNames.indexOf(cell)]!;
  }

  /** Records a heartbeat. */
  beat(): void {
    this.set('heartbeat', sharedMs());
  }

  /** Runs work that may take long. During it, a missing heartbeat does not count. */
  during<T>(work: () => T): T {
    this.set('busy', 1);
    try {
      return work();
    } finally {
      this.set('busy', 0);
      this.beat();
    }
  }

  /** Seconds since the writer's last sign of life; 0 while it is known to work. */
  get heartbeatAge(): number {
    const last = this.#get('heartbeat');
    if (last === 0 || this.#get('busy') === 1) return 0;
    return Math.max(0, (sharedMs() - last) / 1000);
  }

  metrics(committedSeq: number): DatabaseSample[] {
    const applied = this.#get('applied_seq');
    return [
      ...histograms.flatMap(([name], i) => this.#histograms[i]!.samples(name)),
      { name: 'writer_heartbeat_age_seconds', value: this.heartbeatAge },
      { name: 'committed_seq', value: committedSeq },
      { name: 'applied_seq', value: applied },
      { name: 'index_lag', value: Math.max(0, committedSeq - applied) },
      { name: 'replayed_operations', value: this.#get('replayed_operations') },
      { name: 'snapshot_failures_total', value: this.#get('snapshot_failures_total') },
      ...rebuildReasons.map((reason): DatabaseSample => {
        return { name: 'rebuilds_total', labels: { reason }, value: this.#get(reason) };
      }),
    ];
  }
}
