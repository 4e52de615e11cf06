// The distribution of a measured quantity as Prometheus wants it.
// Invariant: the cells of a histogram have one writer; whoever reads them may be on another thread.
import type { HistogramSample } from './sample.js';

/** Upper bounds in seconds, 0.5 ms to 10 s. */
export const secondBounds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** Upper bounds of counts, 1 to a million. */
export const countBounds: readonly number[] = [1, 4, 16, 64, 256, 1024, 4096, 65_536, 1_048_576];

/** Cells of a histogram: one per bound, one above them, and the sum. */
export const cellsOf = (bounds: readonly number[]): number => bounds.length + 2;

export class Histogram {
  constructor(
    private readonly bounds: readonly number[] = secondBounds,
    private readonly cells: Float64Array = new Float64Array(cellsOf(bounds)),
  ) {}

  observe(value: number): void {
    const { bounds, cells } = this;
    let i = 0;
    while (i < bounds.length && value > bounds[i]!) i++;
    cells[i]!++;
    cells[bounds.length + 1]! += value;
  }

  /** Whether anything was observed: what never happened need not be shown once per label. */
  get isEmpty(): boolean {
    return this.cells.every((cell) => cell === 0);
  }

  /** Samples of `name`: cumulative buckets, sum and count. */
  samples<Name extends string>(
    name: Name,
    labels?: Record<string, string>,
  ): HistogramSample<Name>[] {
    const { bounds, cells } = this;
    const list: HistogramSample<Name>[] = [];
    let total = 0;
    for (let i = 0; i <= bounds.length; i++) {
      total += cells[i]!;
      const le = i < bounds.length ? `${bounds[i]}` : '+Inf';
      list.push({ name: `${name}_bucket`, labels: { ...labels, le }, value: total });
    }
    list.push({ name: `${name}_sum`, ...(labels && { labels }), value: cells[bounds.length + 1]! });
    list.push({ name: `${name}_count`, ...(labels && { labels }), value: total });
    return list;
  }
}
