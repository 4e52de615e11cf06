// Numbers for /metrics. A family is printed with its help, so a name that is in no catalogue of families
// does not pass the type check. Histograms are the distribution of a measured quantity as Prometheus
// wants it; their cells have one writer, and whoever reads them may be on another thread.

/** All numbers of one name, whatever their labels. */
export interface Family {
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
}

export type Families = Readonly<Record<string, Family>>;

type Part = 'bucket' | 'sum' | 'count';

/** Names of samples: a histogram has several to one family. */
export type SampleName<Catalog extends Families> = {
  [Name in keyof Catalog & string]: Catalog[Name]['type'] extends 'histogram'
    ? `${Name}_${Part}`
    : Name;
}[keyof Catalog & string];

/** `name` is without the prefix that all families have. */
export interface Sample<Name extends string = string> {
  name: Name;
  labels?: Record<string, string>;
  value: number;
}

/** The samples of a histogram of this family. */
export type HistogramSample<Name extends string> = Sample<`${Name}_${Part}`>;

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

  /** How often something was observed. */
  get count(): number {
    let total = 0;
    for (let i = 0; i <= this.bounds.length; i++) total += this.cells[i]!;
    return total;
  }

  /** Takes in what another one of the same bounds has observed. */
  add(other: Histogram): void {
    for (let i = 0; i < this.cells.length; i++) this.cells[i]! += other.cells[i]!;
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
