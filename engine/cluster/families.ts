// Defines the metrics of a cluster node for /metrics.
import type { Families, Sample, SampleName } from '../base/metric.js';

const counter = (help: string) => ({ type: 'counter', help }) as const;
const gauge = (help: string) => ({ type: 'gauge', help }) as const;
const histogram = (help: string) => ({ type: 'histogram', help }) as const;

export const clusterFamilies = {
  cluster_role: gauge('1 for the role that this node has.'),
  cluster_epoch: gauge('How many leaders there were, this one included.'),
  cluster_position: gauge('Sequence of the last entry that reads of this node see.'),
  cluster_lag_entries: gauge('Entries that were heard and are not applied yet.'),
  cluster_lag_seconds: gauge('Since this node had applied all that it had heard.'),
  cluster_append_seconds: histogram('Time of an append of an entry, all its parts and tries.'),
  cluster_append_bytes_total: counter('Bytes that this node has appended.'),
  cluster_append_unknown_total: counter('Appends that the log did not answer.'),
  cluster_entries_total: counter('Entries that were read or appended, by kind.'),
  cluster_apply_seconds: histogram('Time of applying entries of others, a transaction each.'),
  cluster_apply_group_size: histogram('Entries that were applied in one transaction.'),
  cluster_leader_changes_total: counter('Changes of role of this node, by reason.'),
  cluster_log_first: gauge(
    'Oldest sequence that the log keeps, as the leader last saw it; 0 on others.',
  ),
  cluster_log_bytes: gauge('Bytes that the log keeps, as the leader last saw it; 0 on others.'),
  cluster_check_total: counter('Comparisons of all tables with those of the leader, by result.'),
  cluster_chain_errors_total: counter('Entries that do not continue the log that was followed.'),
} satisfies Families;

export type ClusterSample = Sample<SampleName<typeof clusterFamilies>>;
