// What a column of a result table is: a part of the row's name, or a measured number of which less or more is
// better. The heading decides, because it has the unit.

/** `ignored`: ratios and counts that follow from other columns. `unknown`: the heading has no unit. */
export type ColumnKind = 'key' | 'lower' | 'higher' | 'ignored' | 'unknown';

const words = (list: string): RegExp =>
  new RegExp(`(?<!\\w)(?:${list.split(', ').join('|')})(?!\\w)`, 'i');
const whole = (list: string): RegExp => new RegExp(`^(?:${list.split(', ').join('|')})$`, 'i');

const ignored = words(
  'ratio, ours is, of plain, of one process, of the plain, to the first, share, wrong, failed, wanted, ' +
    'at most, ten times, above the first, narrowest, same top, mean rows, runs, count',
);
const keys = whole(
  'call, read, query, workload, contender, operation, search, data, database, index, rows, clients, ' +
    'connections, parallel, fronts, k, recall, terms, degree, edges to, writes to, nodes, layout, ' +
    'share that passes, meanwhile, bench, load, product, statement',
);
const higher = words('\\S*/s, a second, QPS, nDCG@\\d+, recall, \\S*/CPU s');
const lower = words('us, µs, ms, s, seconds, MB, KB, B, B/\\w+, bytes, CPU');

export function columnKind(heading: string): ColumnKind {
  if (heading === '' || keys.test(heading)) return 'key';
  if (ignored.test(heading)) return 'ignored';
  if (higher.test(heading)) return 'higher';
  return lower.test(heading) ? 'lower' : 'unknown';
}

/** Whether a column is CPU time, which other processes of the machine change little. */
export const isCpuTime = (heading: string): boolean =>
  columnKind(heading) === 'lower' && /\bCPU\b/.test(heading);
