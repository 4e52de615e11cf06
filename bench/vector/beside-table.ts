// Prints the results of `bench vector --beside` with the strongest peers: one line for each contender, with
// its CPU time at each recall. bench/vector.md shows the same lines for the saved results.

/** One contender at one recall. */
export interface BesideRow {
  data: string;
  k: number;
  recall: number;
  contender: string;
  /** Microseconds of CPU time per query; undefined if no width reaches the recall. */
  micros: number | undefined;
  /** The peer's time divided by ours, above 1 if ours is faster; undefined for ours. */
  oursIs: number | undefined;
  /** Whether the narrowest width finds more than the recall, so that the time is an upper bound. */
  isNarrowest: boolean;
  /** The highest measured recall. */
  best: number;
}

export const besideColumns = [
  'data',
  'k',
  'recall',
  'contender',
  'CPU us',
  'ours is',
  'narrowest',
  'best recall',
] as const;

type Cell = string | number;

/** The row of a result file. Undefined numbers are empty texts. */
export const cellsOf = (row: BesideRow): Cell[] => [
  row.data,
  row.k,
  row.recall,
  row.contender,
  row.micros === undefined ? '' : Number(row.micros.toFixed(2)),
  row.oursIs === undefined ? '' : Number(row.oursIs.toFixed(3)),
  row.isNarrowest ? 'yes' : '',
  Number(row.best.toFixed(4)),
];

const numberOf = (cell: Cell): number | undefined => (cell === '' ? undefined : Number(cell));

/** The inverse of `cellsOf`. */
export const rowOf = ([
  data,
  k,
  recall,
  contender,
  micros,
  oursIs,
  narrowest,
  best,
]: readonly Cell[]): BesideRow => ({
  data: String(data),
  k: Number(k),
  recall: Number(recall),
  contender: String(contender),
  micros: numberOf(micros!),
  oursIs: numberOf(oursIs!),
  isNarrowest: narrowest === 'yes',
  best: Number(best),
});

const short = (part: number, digits: number): string => part.toFixed(digits).replace(/^0/, '');

/**
 * `<28.1, **0.38x**`: the time, with `<` for an upper bound, and how many times as fast ours is. Bold if ours
 * is slower.
 */
function textOf({ micros, oursIs, isNarrowest }: BesideRow): string {
  if (micros === undefined) return '–';
  const time = `${isNarrowest ? '<' : ''}${micros.toFixed(micros < 100 ? 1 : 0)}`;
  if (oursIs === undefined) return time;
  const ratio = `${oursIs.toFixed(2)}x`;
  return `${time}, ${oursIs < 1 ? `**${ratio}**` : ratio}`;
}

/** The lines of a Markdown table. All contenders have rows for the same recalls. */
export function besideTable(rows: readonly BesideRow[]): string {
  const recalls = [...new Set(rows.map(({ recall }) => recall))];
  const groups = new Map<string, BesideRow[]>();
  for (const row of rows) {
    const key = `${row.data}|${row.k}|${row.contender}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const lines = [...groups.values()].map((group) => {
    const { data, k, contender, best } = group[0]!;
    const cells = recalls.map((recall) => {
      const row = group.find((each) => each.recall === recall);
      return row === undefined ? '' : textOf(row);
    });
    return `| ${[data, k, contender, ...cells, short(best, 4)].join(' | ')} |`;
  });
  const head = [...recalls.map((recall) => `µs at ${short(recall, 2)}`), 'best recall'];
  return [
    `| data | k | contender | ${head.join(' | ')} |`,
    `|---|---:|---|${'---:|'.repeat(head.length)}`,
    ...lines,
  ].join('\n');
}
