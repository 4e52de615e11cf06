// Defines the metrics of a cluster node: names, types and help texts.
import {
  type Families,
  type Sample,
  type SampleName,
  counter,
  gauge,
  histogram,
} from '../base/metric.js';

export const clusterFamilies = {
  cluster_role: gauge('1 for the current role of this node.'),
  cluster_epoch: gauge('Number of leaders so far, including the current one.'),
  cluster_position: gauge('Sequence number of the last log entry that reads of this node see.'),
  cluster_lag_entries: gauge('Log entries that were received and are not applied yet.'),
  cluster_lag_seconds: gauge('Time since all received log entries were applied.'),
  cluster_append_seconds: histogram(
    'Duration of appending a log entry, with all parts and retries.',
  ),
  cluster_append_bytes_total: counter('Bytes that this node has appended to the log.'),
  cluster_append_unknown_total: counter('Appends to the log without a response.'),
  cluster_entries_total: counter('Log entries read or appended, by kind.'),
  cluster_apply_seconds: histogram(
    'Duration of transactions that apply log entries of other nodes.',
  ),
  cluster_apply_group_size: histogram('Log entries applied in one transaction.'),
  cluster_leader_changes_total: counter('Role changes of this node, by reason.'),
  cluster_log_first: gauge(
    'Oldest sequence number in the log, as last read by the leader; 0 on other nodes.',
  ),
  cluster_log_bytes: gauge('Size of the log, as last read by the leader; 0 on other nodes.'),
  cluster_check_total: counter('Comparisons of all tables with the leader, by result.'),
  cluster_chain_errors_total: counter('Log entries that do not continue the followed log.'),
} satisfies Families;

export type ClusterSample = Sample<SampleName<typeof clusterFamilies>>;
