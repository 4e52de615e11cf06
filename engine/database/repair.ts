// Makes derived data anew from the rows (operations.md 8, `verify --repair-derived`): label lists stay,
// property indexes and keyword postings are written from scratch in one transaction, vector snapshots
// are thrown away, so that the next start builds the indexes from the vectors. For a stopped server.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../base/limits.js';
import type { FullCatalog } from '../storage/catalog.js';
import { textsOf } from '../storage/document.js';
import type { Table } from '../storage/env.js';
import { prefixOf } from '../storage/index-key.js';
import type { LoadView } from '../storage/load-view.js';
import type { Storage } from '../storage/open.js';
import { decodeProperty } from '../storage/record.js';
import type { Label } from '../storage/store.js';
import { addTerm, addToTotals, countTerms } from '../text/text-index-lmdb.js';
import { textRange } from '../text/text-key.js';

const keysPerRead = 4096;

export interface RepairOptions {
  limits: Limits;
  textEnabled: boolean;
  /** The data directory. */
  dataDir: string;
}

export function repairDerived(storage: Storage, options: RepairOptions): void {
  const { env } = storage;
  storage.load(0, (view) => {
    clear(env.index, Uint8Array.of(0), new Uint8Array(64).fill(255));
    clear(env.derived, ...textRange());
    for (const label of (storage.catalog as FullCatalog).allLabels()) {
      indexLabel(view, label);
      if (options.textEnabled && label.kind !== 'edge') addTexts(view, label, options.limits);
    }
  });
  const folder = join(options.dataDir, 'vec');
  if (!existsSync(folder)) return;
  for (const file of readdirSync(folder)) {
    if (file.endsWith('.snap')) rmSync(join(folder, file));
  }
}

function clear(table: Table<Uint8Array>, start: Uint8Array, end: Uint8Array): void {
  for (;;) {
    const keys = table.keys({ start, end, limit: keysPerRead });
    for (const key of keys) table.remove(key);
    if (keys.length < keysPerRead) return;
  }
}

function indexLabel(view: LoadView, label: Label): void {
  const indexed = label.properties.filter(({ indexId }) => indexId !== 0);
  if (indexed.length === 0) return;
  for (const ids of view.scan(label.id)) {
    for (const id of ids) {
      const record = view.record(id);
      if (record === undefined) continue;
      for (const property of indexed) {
        const value = decodeProperty(record, property);
        if (value !== null) view.addEntry(prefixOf(property, value), id);
      }
    }
  }
}

interface Postings {
  ids: number[];
  frequencies: number[];
  lengths: number[];
}

/** Documents whose postings are collected before they are written. */
const documentsAtOnce = 20_000;

function addTexts(view: LoadView, label: Label, limits: Limits): void {
  let terms = new Map<string, Postings>();
  let documents = 0;
  let length = 0;
  const flush = (): void => {
    for (const term of [...terms.keys()].sort()) {
      const { ids, frequencies, lengths } = terms.get(term)!;
      addTerm(view, label.id, term, {
        count: ids.length,
        ids: Uint32Array.from(ids),
        frequencies: Uint32Array.from(frequencies),
        lengths: Uint32Array.from(lengths),
      });
    }
    addToTotals(view, { label: label.id, documents, length });
    terms = new Map();
    documents = length = 0;
  };
  for (const ids of view.scan(label.id)) {
    for (const id of ids) {
      const record = view.record(id);
      const counted = countTerms(record ? textsOf(label, record) : [], limits.document_terms);
      if (counted.length === 0) continue;
      for (const [term, frequency] of counted.frequencies) {
        let postings = terms.get(term);
        if (!postings) terms.set(term, (postings = { ids: [], frequencies: [], lengths: [] }));
        postings.ids.push(id);
        postings.frequencies.push(frequency);
        postings.lengths.push(counted.length);
      }
      length += counted.length;
      if (++documents === documentsAtOnce) flush();
    }
  }
  flush();
}
