// Gathers what /metrics shows of an open database (operations.md 9.2). Only looks.
import type { DatabaseSample } from './meter/families.js';
import type { Usage } from '../storage/table/env.js';
import type { Storage } from '../storage/open-storage.js';
import type { ReadView } from '../storage/table/store.js';
import { readTotals } from '../text/text-index-lmdb.js';
import type { Dispatcher } from './lane/dispatcher.js';
import type { Figures } from './meter/figures.js';
import type { Tally } from './meter/tally.js';
import type { VectorWatch } from './vectors/vector-watch.js';
import type { DiskWatch } from './care/watch.js';
import type { WriterLink } from './lane/writer-link.js';

export interface Observed {
  storage: Storage;
  view: ReadView;
  inlineReads: number;
  workers: number;
  isServing: boolean;
  dispatcher: Dispatcher;
  writer: WriterLink;
  disk: DiskWatch;
  vectors: VectorWatch;
  figures: Figures;
  tally: Tally;
}

export function databaseMetrics(of: Observed): DatabaseSample[] {
  const { dispatcher, writer } = of;
  // Before the look at the data: it lets this thread see the newest commit.
  const usage = of.storage.usage();
  return [
    { name: 'workers', value: of.workers },
    { name: 'worker_restarts_total', labels: { reason: 'ended' }, value: dispatcher.restarts },
    { name: 'queue_depth', labels: { lane: 'read' }, value: dispatcher.queued },
    { name: 'queue_depth', labels: { lane: 'write' }, value: writer.queued },
    { name: 'inline_reads_total', value: of.inlineReads + of.tally.readsElsewhere },
    { name: 'writes_total', value: writer.accepted },
    ...of.tally.metrics(),
    ...of.figures.metrics(of.storage.committedSeq()),
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
  // Of all documents together, as often as they occur.
  list.push({ name: 'text_terms', value: terms });
  list.push({ name: 'postings_bytes', value: usage.derivedBytes });
  return list;
}
