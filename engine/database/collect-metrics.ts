// Collects the metrics of an open database for /metrics. It only reads.
import type { DatabaseSample } from './metrics/definitions.js';
import type { Usage } from '../storage/table/env.js';
import type { Storage } from '../storage/open-storage.js';
import type { ReadView } from '../storage/table/view-types.js';
import { readTotals } from '../text/text-index-writer.js';
import type { Dispatcher } from './lane/dispatcher.js';
import type { WriterMetrics } from './metrics/writer-metrics.js';
import type { QueryMetrics } from './metrics/query-metrics.js';
import type { VectorStatus } from './vectors/vector-status.js';
import type { DiskMonitor } from './maintenance/disk-monitor.js';
import type { WriterClient } from './lane/writer-client.js';

export interface Observed {
  storage: Storage;
  view: ReadView;
  inlineReads: number;
  workers: number;
  isServing: boolean;
  dispatcher: Dispatcher;
  writer: WriterClient;
  disk: DiskMonitor;
  vectors: VectorStatus;
  writerMetrics: WriterMetrics;
  queryMetrics: QueryMetrics;
}

export function databaseMetrics(of: Observed): DatabaseSample[] {
  const { dispatcher, writer } = of;
  // This comes first: it lets this thread see the newest commit before the data are read.
  const usage = of.storage.usage();
  return [
    { name: 'workers', value: of.workers },
    { name: 'worker_restarts_total', labels: { reason: 'ended' }, value: dispatcher.restarts },
    { name: 'queue_depth', labels: { lane: 'read', thread: 'reader' }, value: dispatcher.queued },
    { name: 'queue_depth', labels: { lane: 'write', thread: 'writer' }, value: writer.queued },
    { name: 'inline_reads_total', value: of.inlineReads + of.queryMetrics.readsOnThreads },
    { name: 'writes_total', value: writer.accepted },
    ...of.queryMetrics.metrics(),
    ...of.writerMetrics.metrics(of.storage.committedSeq()),
    { name: 'map_bytes', value: usage.mapBytes },
    { name: 'free_pages', value: usage.freePages },
    { name: 'readers', value: usage.readers },
    { name: 'oldest_reader_age_seconds', value: dispatcher.oldestSeconds },
    ...of.disk.metrics(),
    ...elementMetrics(of.view, usage),
    ...(of.isServing ? of.vectors.metrics() : []),
  ];
}

function elementMetrics(view: ReadView, usage: Usage): DatabaseSample[] {
  const list: DatabaseSample[] = [];
  let documents = 0;
  let terms = 0;
  for (const label of view.catalog.labels()) {
    const labels = { kind: label.kind, type: label.name };
    list.push({ name: 'elements', labels, value: view.count(label.id) });
    const totals = readTotals(view, label.id);
    documents += totals.documents;
    terms += totals.length;
  }
  list.push({ name: 'text_documents', value: documents });
  // Number of terms over all documents, with repetitions.
  list.push({ name: 'text_terms', value: terms });
  list.push({ name: 'postings_bytes', value: usage.derivedBytes });
  return list;
}
