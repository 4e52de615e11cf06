// Counts what the threads of a node do with the log, in shared memory. The log thread counts what it appends
// and reads; the writer thread counts what it applies.
// Invariant: each cell has one writer.
import { Histogram, countCells, countBounds, secondBounds } from '../../base/metric.js';
import { entryKind } from '../entry/kind.js';
import type { ClusterSample } from '../families.js';

const histograms = [
  ['cluster_append_seconds', secondBounds],
  ['cluster_apply_seconds', secondBounds],
  ['cluster_apply_group_size', countBounds],
] as const;

type Measured = (typeof histograms)[number][0];

const kinds = Object.keys(entryKind) as (keyof typeof entryKind)[];

const cellNames = [
  'bytes',
  'unknown',
  'heard',
  'logFirst',
  'logBytes',
  'chainErrors',
  'equal',
  'diverged',
  ...kinds,
] as const;

type Cell = (typeof cellNames)[number];

const histogramCells = histograms.reduce((sum, [, bounds]) => sum + countCells(bounds), 0);

export class ClusterMetrics {
  readonly #histograms: Histogram[] = [];
  readonly #cells: Float64Array;

  constructor(readonly buffer = new SharedArrayBuffer((histogramCells + cellNames.length) * 8)) {
    let at = 0;
    for (const [, bounds] of histograms) {
      const size = countCells(bounds);
      this.#histograms.push(new Histogram(bounds, new Float64Array(buffer, at * 8, size)));
      at += size;
    }
    this.#cells = new Float64Array(buffer, at * 8, cellNames.length);
  }

  observe(name: Measured, value: number): void {
    this.#histograms[histograms.findIndex(([each]) => each === name)]!.observe(value);
  }

  add(cell: Cell, by = 1): void {
    this.#cells[cellNames.indexOf(cell)]! += by;
  }

  /** Records the range and size of the log. */
  logStatus({ first, bytes }: { first: number; bytes: number }): void {
    this.#cells[cellNames.indexOf('logFirst')] = first;
    this.#cells[cellNames.indexOf('logBytes')] = bytes;
  }

  /** Records that an entry of this kind, which ends at `seq`, was read or appended. */
  entry(kind: number, seq: number): void {
    const name = kinds.find((each) => entryKind[each] === kind);
    if (name !== undefined) this.add(name);
    this.#cells[cellNames.indexOf('heard')] = seq;
  }

  #get(cell: Cell): number {
    return this.#cells[cellNames.indexOf(cell)]!;
  }

  /** Returns the samples. `position` is the sequence up to which everything is applied. */
  samples(position: number): ClusterSample[] {
    const contactedAt = this.#get('heard');
    return [
      ...histograms.flatMap(([name], i) => this.#histograms[i]!.samples(name)),
      { name: 'cluster_lag_entries', value: Math.max(0, contactedAt - position) },
      { name: 'cluster_log_first', value: this.#get('logFirst') },
      { name: 'cluster_log_bytes', value: this.#get('logBytes') },
      { name: 'cluster_append_bytes_total', value: this.#get('bytes') },
      { name: 'cluster_append_unknown_total', value: this.#get('unknown') },
      { name: 'cluster_chain_errors_total', value: this.#get('chainErrors') },
      ...(['equal', 'diverged'] as const).map((result): ClusterSample => {
        return { name: 'cluster_check_total', labels: { result }, value: this.#get(result) };
      }),
      ...kinds.map((kind): ClusterSample => {
        return { name: 'cluster_entries_total', labels: { kind }, value: this.#get(kind) };
      }),
    ];
  }
}
