// Defines the metrics of an open database: names, types and help texts.
import {
  type Families,
  type Sample,
  type SampleName,
  counter,
  formerly,
  gauge,
  histogram,
} from '../../base/metric.js';

export const databaseFamilies = {
  workers: gauge('Reader threads.'),
  worker_restarts_total: counter('Reader threads that ended and were replaced.'),
  queue_depth: gauge('Calls that wait for a thread, by thread.'),
  queue_wait_seconds: histogram('Time that calls waited for a thread, by thread.'),
  inline_reads_total: counter('Reads executed on the calling thread.'),
  writes_total: counter('Writes that the writer thread has taken.'),
  tasks_cancelled_total: counter('Calls cancelled because the client disconnected.'),
  commit_duration_seconds: formerly(
    'commit_seconds',
    histogram('Duration of write transactions, including fsync.'),
  ),
  fsync_duration_seconds: formerly(
    'fsync_seconds',
    histogram('Duration of the fsync of a write transaction.'),
  ),
  group_commit_size: histogram('Requests in one write transaction.'),
  transaction_writes: formerly(
    'txn_puts',
    histogram('Records and index entries written in one transaction.'),
  ),
  commit_errors_total: counter('Failed commits, by the error name of the operating system.'),
  map_bytes: gauge('Address space reserved for the data file.'),
  file_bytes: gauge('Size of the data file.'),
  free_pages: gauge('Free pages of the data file.'),
  readers: gauge('Threads that have opened the data file for reading.'),
  oldest_reader_age_seconds: gauge('Age of the oldest running read.'),
  disk_free_bytes: gauge('Free space on the disk of the data directory.'),
  data_file_ok: formerly(
    'inode_ok',
    gauge('1 while the path of the data file leads to the file that was opened.'),
  ),
  writer_heartbeat_age_seconds: gauge('Time since the last sign of life of the writer thread.'),
  elements: gauge('Elements by kind and type.'),
  text_documents: gauge('Elements in the keyword index.'),
  text_terms: gauge('Words in all documents of the keyword index, repetitions included.'),
  postings_bytes: gauge('Size of the derived data, such as the keyword index.'),
  vectors: gauge('Vectors in the index of a type.'),
  tombstones: gauge('Deleted vectors that are still in the index of a type.'),
  vector_bytes: gauge('Memory of the vector index of a type.'),
  vector_capacity_ratio: gauge('Used share of the memory that vectors may take.'),
  vector_recall: gauge('Recall of an index at its last measurement against an exact scan.'),
  shared_bytes: gauge('Memory of all vector indexes.'),
  snapshot_age_seconds: gauge('Age of the snapshot of a vector index.'),
  snapshot_bytes: gauge('Size of the snapshot of a vector index.'),
  snapshot_duration_seconds: formerly(
    'snapshot_seconds',
    gauge('Duration of the last snapshot of a vector index.'),
  ),
  snapshot_write_pause_seconds: formerly(
    'snapshot_still_seconds',
    gauge('Time for which the last snapshot of a vector index paused writes.'),
  ),
  snapshot_failures_total: counter('Snapshots of vector indexes that could not be written.'),
  committed_seq: gauge('Sequence number of the newest durable vector change.'),
  applied_seq: gauge('Sequence number of the newest vector change that searches see.'),
  index_lag: gauge('Durable vector changes that searches do not see yet.'),
  replayed_operations: formerly(
    'replayed_ops',
    gauge('Vector changes replayed by the last start.'),
  ),
  rebuilds_total: counter('Vector indexes rebuilt from the stored vectors, by reason.'),
  query_duration_seconds: formerly(
    'query_seconds',
    histogram('Duration of the calls of a query on its thread.'),
  ),
  query_rows_total: formerly(
    'query_rows',
    counter('Rows that the calls of a query have returned.'),
    'gauge',
  ),
  query_visits_total: formerly(
    'query_visits',
    counter('Elements that the calls of a query have read.'),
    'gauge',
  ),
} as const satisfies Families;

export type DatabaseSample = Sample<SampleName<typeof databaseFamilies>>;
