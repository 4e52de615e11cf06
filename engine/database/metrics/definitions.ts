// Defines the metrics of an open database for /metrics.
import type { Families, Sample, SampleName } from '../../base/metric.js';

const counter = (help: string) => ({ type: 'counter', help }) as const;
const gauge = (help: string) => ({ type: 'gauge', help }) as const;
const histogram = (help: string) => ({ type: 'histogram', help }) as const;

export const databaseFamilies = {
  workers: gauge('Reader threads.'),
  worker_restarts_total: counter('Reader threads that ended and were replaced.'),
  queue_depth: gauge('Calls that wait for a thread, by lane.'),
  queue_wait_seconds: histogram('Time calls of a lane spent outside of its thread.'),
  inline_reads_total: counter('Reads that ran on the thread they came to, and on no lane.'),
  writes_total: counter('Writes that the writer took.'),
  tasks_cancelled_total: counter('Calls given up because nobody waits for the answer any more.'),
  commit_seconds: histogram('Time of durable transactions.'),
  fsync_seconds: histogram('Time of making a transaction durable, of its commit.'),
  group_commit_size: histogram('Requests that shared a transaction.'),
  txn_puts: histogram('Records and index entries written in a transaction.'),
  commit_errors_total: counter('Commits that failed, by the name the system gives the reason.'),
  map_bytes: gauge('Addresses reserved for the data file.'),
  file_bytes: gauge('Size of the data file.'),
  free_pages: gauge('Pages of the data file that hold nothing.'),
  readers: gauge('Threads that have looked at the data file.'),
  oldest_reader_age_seconds: gauge('Age of the oldest read under way.'),
  disk_free_bytes: gauge('Free space of the disk of the data directory.'),
  inode_ok: gauge('1 while the data file is the one that was opened.'),
  writer_heartbeat_age_seconds: gauge('Since the writer was last seen alive; 0 while it works.'),
  elements: gauge('Elements by kind and type.'),
  text_documents: gauge('Elements in the keyword index.'),
  text_terms: gauge('Words of all documents together, as often as they occur.'),
  postings_bytes: gauge('Size of what is derived of the records, the keyword index among it.'),
  vectors: gauge('Vectors in the index of a type.'),
  tombstones: gauge('Deleted vectors that are still in the index of a type.'),
  vector_bytes: gauge('Memory of the vector index of a type.'),
  vector_capacity_ratio: gauge('Share of the memory that vectors may take.'),
  vector_recall: gauge('Recall of an index as last measured, against an exact scan.'),
  shared_bytes: gauge('Memory of all vector indexes.'),
  snapshot_age_seconds: gauge('Age of the snapshot of a vector index.'),
  snapshot_bytes: gauge('Size of the snapshot of a vector index.'),
  snapshot_seconds: gauge('Time the last snapshot of a vector index took.'),
  snapshot_still_seconds: gauge('Time for which the last snapshot kept writes waiting.'),
  snapshot_failures_total: counter('Snapshots of vector indexes that were not written.'),
  committed_seq: gauge('Number of the newest vector change that is durable.'),
  applied_seq: gauge('Number of the newest vector change that searches see.'),
  index_lag: gauge('Durable vector changes that searches do not see yet.'),
  replayed_ops: gauge('Vector changes that the last start carried out again.'),
  rebuilds_total: counter('Vector indexes made anew from the store, by the reason.'),
  query_seconds: histogram('Time of calls of a query on its thread.'),
  query_rows: gauge('Rows that calls of a query have returned; only grows.'),
  query_visits: gauge('Elements that calls of a query have visited; only grows.'),
} as const satisfies Families;

export type DatabaseSample = Sample<SampleName<typeof databaseFamilies>>;
