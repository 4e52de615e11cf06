// Types and histograms of the numbers on /metrics. A sample is printed with the help text of its family, so
// a name without a definition does not pass the type check. Prometheus defines the form of a histogram.
// Invariant: one thread writes the cells of a histogram; other threads may read them.

type FamilyType = 'counter' | 'gauge' | 'histogram';

/** All samples of one name, with any labels. */
export interface Family {
  type: FamilyType;
  help: string;
  /** Former name and type. The samples are printed under both names until the next major version. */
  formerly?: { name: string; type: FamilyType };
}

export type Families = Readonly<Record<string, Family>>;

export const counter = (help: string) => ({ type: 'counter', help }) as const;
export const gauge = (help: string) => ({ type: 'gauge', help }) as const;
export const histogram = (help: string) => ({ type: 'histogram', help }) as const;

/** Returns the family with its former name. Set `type` if the type has changed too. */
export const formerly = <F extends Family>(
  name: string,
  family: F,
  type: FamilyType = family.type,
): F => ({ ...family, formerly: { name, type } });

type Part = 'bucket' | 'sum' | 'count';

/** Names of samples. A histogram has three sample names in one family. */
export type SampleName<Catalog extends Families> = {
  [Name in keyof Catalog & string]: Catalog[Name]['type'] extends 'histogram'
    ? `${Name}_${Part}`
    : Name;
}[keyof Catalog & string];

/** `name` does not include the prefix `trellis_`. */
export interface Sample<Name extends string = string> {
  name: Name;
  labels?: Record<string, string>;
  value: number;
}

export type HistogramSample<Name extends string> = Sample<`${Name}_${Part}`>;

/** Upper bounds in seconds, from 0.5 ms to 10 s. */
export const secondBounds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** Upper bounds of counts, from 1 to 1,048,576. */
export const countBounds: readonly number[] = [1, 4, 16, 64, 256, 1024, 4096, 65_536, 1_048_576];

/**
 * Returns the number of cells of a histogram: one per bound, one above the last bound, and the sum.
 */
export const countCells = (bounds: readonly number[]): number => bounds.length + 2;

export class Histogram {
  constructor(
    private readonly bounds: readonly number[] = secondBounds,
    private readonly cells: Float64Array = new Float64Array(countCells(bounds)),
  ) {}

  observe(value: number): void {
    const { bounds, cells } = this;
    let i = 0;
    while (i < bounds.length && value > bounds[i]!) i++;
    cells[i]!++;
    cells[bounds.length + 1]! += value;
  }

  /** True if nothing was observed. Empty histograms are not printed for each label. */
  get isEmpty(): boolean {
    return this.cells.every((cell) => cell === 0);
  }

  /** Number of observations. */
  get count(): number {
    let total = 0;
    for (let i = 0; i <= this.bounds.length; i++) total += this.cells[i]!;
    return total;
  }

  /** Adds the observations of `other`, which has the same bounds. */
  add(other: Histogram): void {
    for (let i = 0; i < this.cells.length; i++) this.cells[i]! += other.cells[i]!;
  }

  /** Returns the samples of `name`: cumulative buckets, sum and count. */
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
