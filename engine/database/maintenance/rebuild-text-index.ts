// Makes the keyword index of a whole database, or takes it away: at a start whose configuration is not
// that which the index was made with, and for `verify --repair-derived`. Invariant: the mark `kept`
// stands beside postings of every document and says by which rules they were made; postings without
// it are those of nobody.
import type { Limits } from '../../base/limits.js';
import type { FullCatalog } from '../../storage/catalog/catalog.js';
import { textsOf } from '../../storage/record/text-document.js';
import type { Table } from '../../storage/table/env.js';
import type { LoadView } from '../../storage/view/load-view.js';
import type { Storage } from '../../storage/open-storage.js';
import type { Label } from '../../storage/table/view-types.js';
import { NewDocuments } from '../../text/document-buffer.js';
import { changeTotals, countTerms } from '../../text/text-index.js';
import { textRange } from '../../text/text-key.js';

const keysPerRead = 4096;

/** Beside the kinds of text-key.ts. */
const keptKey = Uint8Array.of(...textRange()[0], 4);

export interface TextRules {
  limits: Limits;
  textEnabled: boolean;
}

/** What decides which postings a text has: with other rules they are made anew. */
interface KeptRules {
  /** Of the analyzer: a change of what it makes of a text counts it up. */
  analyzer: number;
  documentTerms: number;
}

const analyzer = 1;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Of an index that an early version made, whose mark says nothing: they are nobody's. */
const unknownRules: KeptRules = { analyzer: 0, documentTerms: 0 };

/** The rules of the keyword index that the data have; undefined without one. */
export function keptRules({ env }: Storage): KeptRules | undefined {
  env.refresh();
  const mark = env.derived.get(keptKey);
  if (mark === undefined) return undefined;
  try {
    return JSON.parse(decoder.decode(mark)) as KeptRules;
  } catch {
    return unknownRules;
  }
}

/** Whether this version makes the same of a text: else the next start makes the index anew. */
export const isCurrent = (rules: KeptRules): boolean => rules.analyzer === analyzer;

/** Whether the keyword index holds every document, by these rules. */
export function keepsTexts(storage: Storage, { limits }: TextRules): boolean {
  const kept = keptRules(storage);
  return kept?.analyzer === analyzer && kept.documentTerms === limits.document_terms;
}

/** Takes the keyword index away that a database without keyword search would not keep up. */
export function dropTexts(storage: Storage): void {
  const { env } = storage;
  env.refresh();
  const [start, end] = textRange();
  if (env.derived.keys({ start, end, limit: 1 }).length === 0) return;
  storage.load(0, () => clear(env.derived, start, end));
}

/** Makes the keyword index where it is missing or of other rules; returns of how many documents. */
export function addMissingTexts(storage: Storage, rules: TextRules): number {
  if (!rules.textEnabled || keepsTexts(storage, rules)) return 0;
  return storage.load(0, (view) => makeTexts(storage, view, rules)).result;
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
  const kept: KeptRules = { analyzer, documentTerms: rules.limits.document_terms };
  derived.put(keptKey, encoder.encode(JSON.stringify(kept)));
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
      if (++documents % documentsAtOnce === 0) waiting.settleOwn(view);
    }
  }
  waiting.settleOwn(view);
  return documents;
}
