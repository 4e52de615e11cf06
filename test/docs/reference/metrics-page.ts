// Generates the page server/docs/reference/metrics-and-logs.md from the metric families. Labels, units and
// meanings are in metric-notes.json, the words around the table in metrics-words.txt. Invariant: a family
// without a note, or a note without a family, fails. A test of the manual compares the labels with a server.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { families } from '../../../server/telemetry/metric-definitions.js';
import { root } from '../../support/project.js';

type Note = [labels: string, unit: string, meaning: string];

const folder = join(root, 'test/docs/reference');
const notes = JSON.parse(readFileSync(join(folder, 'metric-notes.json'), 'utf8')) as Record<
  string,
  Note
>;

export const notedMetrics = (): string[] => Object.keys(notes);

const groups: [title: string, names: RegExp][] = [
  ['Cluster', /^cluster_/],
  ['Sessions and MCP', /^(session|mcp_)/],
  ['Embeddings', /^embed_/],
  [
    'Vector indexes',
    /^(vector|tombstones|shared_bytes|snapshot_|\w+_seq$|index_lag|replayed|rebuilds)/,
  ],
  [
    'Storage',
    /^(map_|file_|free_|readers|oldest_|disk_|inode|data_file|elements|text_|postings|checksum)/,
  ],
  ['Writer', /^(writes|commit_|fsync_|group_|txn_|transaction_|writer_)/],
  ['Queries and threads', /^(quer|queue|workers|worker_|inline|tasks|compile|reloads)/],
  ['Process', /^(process_|event_|gc_|rss|heap|external|open_fds|log_|unhandled|build)/],
  ['Requests and connections', /./],
];

const order = [8, 6, 5, 4, 3, 0, 1, 2, 7];

function rowOf([name, { type }]: [string, { type: string }]): string {
  const [labels, unit, meaning] = notes[name] ?? ['', '', ''];
  const shown =
    labels === ''
      ? ''
      : labels
          .split(', ')
          .map((label) => `\`${label}\``)
          .join(', ');
  const full = name.startsWith('process_') ? name : `trellis_${name}`;
  return `| \`${full}\` | ${type} | ${shown} | ${unit} | ${meaning} |`;
}

function tables(): string {
  const all = Object.entries(families);
  const groupOf = (name: string) => groups.findIndex(([, names]) => names.test(name));
  return order
    .map((at) => {
      const rows = all.filter(([name]) => groupOf(name) === at).map(rowOf);
      const head = ['| Metric | Type | Labels | Unit | Meaning |', '|---|---|---|---|---|'];
      return [`### ${groups[at]![0]}`, '', ...head, ...rows].join('\n');
    })
    .join('\n\n');
}

/** The whole text of server/docs/reference/metrics-and-logs.md. */
export const metricsPage = (): string =>
  readFileSync(join(folder, 'metrics-words.txt'), 'utf8').replace('<!-- metrics -->', tables());
