// Makes the keyword index of a whole database, or takes it away: at a start whose `text.enabled` is
// not that of the data, and for `verify --repair-derived`. Invariant: the mark `kept` stands beside
// postings of every document, so that a database without it has none, or was written before it.
import type { Limits } from '../base/limits.js';
import type { FullCatalog } from '../storage/catalog.js';
import { textsOf } from '../storage/document.js';
import type { Table } from '../storage/env.js';
import type { LoadView } from '../storage/load-view.js';
import type { Storage } from '../storage/open.js';
import type { Label } from '../storage/store.js';
import { NewDocuments } from '../text/new-documents.js';
import { changeTotals, countTerms } from '../text/text-index-lmdb.js';
import { textRange } from '../text/text-key.js';

const keysPerRead = 4096;

/** Beside the kinds of text-key.ts. */
const keptKey = Uint8Array.of(...textRange()[0], 4);

export interface TextRules {
  limits: Limits;
  textEnabled: boolean;
}

/** Whether the keyword index holds every document. */
export function keepsTexts({ env }: Storage): boolean {
  env.refresh();
  if (env.derived.has(keptKey)) return true;
  const [start, end] = textRange();
  return env.derived.keys({ start, end, limit: 1 }).length > 0;
}

/** Takes the keyword index away that a database without keyword search would not keep up. */
export function dropTexts(storage: Storage): void {
  if (keepsTexts(storage)) storage.load(0, () => clear(storage.env.derived, ...textRange()));
}

/** Makes the keyword index where it is missing; returns of how many documents. */
export function addMissingTexts(storage: Storage, rules: TextRules): number {
  if (storage.env.derived.has(keptKey)) return 0;
  const isMissing = !keepsTexts(storage);
  let documents = 0;
  storage.load(0, (view) => {
    if (isMissing) documents = makeTexts(storage, view, rules);
    else storage.env.derived.put(keptKey, Uint8Array.of(1));
  });
  return documents;
}

/** Writes the keyword index from scratch, or nothing when it is off; returns of how many documents. */
export function makeTexts(storage: Storage, view: LoadView, rules: TextRules): number {
  const { derived } = storage.env;
  clear(derived, ...textRange());
  if (!rules.textEnabled) return 0;
  let documents = 0;
  for (const label of (storage.catalog as FullCatalog).allLabels()) {
    if (label.kind !== 'edge') documents += addTexts(view, label, rules.limits);
  }
  derived.put(keptKey, Uint8Array.of(1));
  return documents;
}

export function clear(table: Table<Uint8Array>, start: Uint8Array, end: Uint8Array): void {
  for (;;) {
    const keys = table.keys({ start, end, limit: keysPerRead });
    for (const key of keys) table.remove(key);
    if (keys.length < keysPerRead) return;
  }
}

/** Documents whose postings are collected before they are written. */
const documentsAtOnce = 20_000;

function addTexts(view: LoadView, label: Label, limits: Limits): number {
  const waiting = new NewDocuments(changeTotals);
  let documents = 0;
  for (const ids of view.scan(label.id)) {
    for (const id of ids) {
      const record = view.record(id);
      const document = countTerms(record ? textsOf(label, record) : [], limits.document_terms);
      if (document.length === 0) continue;
      waiting.add(label.id, id, document);
      if (++documents % documentsAtOnce === 0) waiting.settle(view, view);
    }
  }
  waiting.settle(view, view);
  return documents;
}
