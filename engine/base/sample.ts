// One number for /metrics, and what the numbers of a name are: their family. A family is printed with
// its help, so a name that is in no catalogue of families does not pass the type check.

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

/** The names of the families that are histograms. */
export type HistogramName<Catalog extends Families> = {
  [Name in keyof Catalog & string]: Catalog[Name]['type'] extends 'histogram' ? Name : never;
}[keyof Catalog & string];

/** `name` is without the prefix that all families have. */
export interface Sample<Name extends string = string> {
  name: Name;
  labels?: Record<string, string>;
  value: number;
}

/** The samples of a histogram of this family. */
export type HistogramSample<Name extends string> = Sample<`${Name}_${Part}`>;
