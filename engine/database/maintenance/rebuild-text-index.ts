// Builds or drops the keyword index of a whole database: at a start whose configuration differs from that of
// the index, and for `verify --repair-derived`.
// Invariant: the record under `rulesKey` exists only together with the postings of every document, and
// records the rules that made them. Postings without the mark are invalid.
import type { LanguageName } from '../../base/text/language-name.js';
import type { Limits } from '../../base/limits.js';
import type { FullCatalog } from '../../storage/catalog/catalog.js';
import { textsOf } from '../../storage/record/text-document.js';
import type { Table } from '../../storage/table/env.js';
import type { LoadView } from '../../storage/view/load-view.js';
import type { Storage } from '../../storage/open-storage.js';
import type { Label } from '../../storage/table/view-types.js';
import type { DocumentRules } from '../../text/analysis/analyzer.js';
import { TextIndexWriter } from '../../text/text-index-writer.js';
import { textRange } from '../../text/text-key.js';

const keysPerRead = 4096;

/** A key next to the kinds of text-key.ts. */
const rulesKey = Uint8Array.of(...textRange()[0], 4);

export interface TextRules {
  limits: Limits;
  textEnabled: boolean;
  textLanguage: LanguageName;
}

/** Rules that decide the postings of a text. When they change, the index is rebuilt. */
interface StoredRules {
  /** Version of the analyzer. It increases when the analyzer treats any text differently. */
  analyzer: number;
  documentTerms: number;
  /** Default language. */
  language: LanguageName;
}

const analyzer = 2;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Rules of an index made by an early version, whose mark does not record them. They match no current rules.
 */
const unknownRules: StoredRules = { analyzer: 0, documentTerms: 0, language: 'none' };

/** Returns the rules of the keyword index in the data, or undefined without an index. */
export function storedRules({ env }: Storage): StoredRules | undefined {
  env.refresh();
  const mark = env.derived.get(rulesKey);
  if (mark === undefined) return undefined;
  try {
    return JSON.parse(decoder.decode(mark)) as StoredRules;
  } catch {
    return unknownRules;
  }
}

/**
 * Returns true if this version analyzes texts in the same way. Otherwise the next start rebuilds the index.
 */
export const isCurrent = (rules: StoredRules): boolean => rules.analyzer === analyzer;

/** Returns true if the keyword index contains every document, by these rules. */
export function keepsTexts(storage: Storage, rules: TextRules): boolean {
  const [stored, wanted] = [storedRules(storage), currentRules(rules)];
  return (
    stored?.analyzer === analyzer &&
    stored.documentTerms === wanted.documentTerms &&
    stored.language === wanted.language
  );
}

const currentRules = ({ limits, textLanguage }: TextRules): StoredRules => ({
  analyzer,
  documentTerms: limits.document_terms,
  language: textLanguage,
});

/** Drops the keyword index of a database that does not maintain one. */
export function dropTexts(storage: Storage): void {
  const { env } = storage;
  env.refresh();
  const [start, end] = textRange();
  if (env.derived.keys({ start, end, limit: 1 }).length === 0) return;
  storage.load(0, () => clear(env.derived, start, end));
}

/**
 * Builds the keyword index if it is missing or has other rules. Returns the number of documents, 0 when
 * nothing was built.
 */
export function addMissingTexts(storage: Storage, rules: TextRules): number {
  if (!rules.textEnabled || keepsTexts(storage, rules)) return 0;
  return storage.load(0, (view) => makeTexts(storage, view, rules)).result;
}

/** Rebuilds the keyword index, or drops it when it is switched off. Returns the number of documents. */
export function makeTexts(storage: Storage, view: LoadView, rules: TextRules): number {
  const { derived } = storage.env;
  clear(derived, ...textRange());
  if (!rules.textEnabled) return 0;
  let documents = 0;
  const stored = currentRules(rules);
  for (const label of (storage.catalog as FullCatalog).allLabels()) {
    if (label.kind !== 'edge') documents += addTexts(view, label, stored);
  }
  derived.put(rulesKey, encoder.encode(JSON.stringify(stored)));
  return documents;
}

export function clear(table: Table<Uint8Array>, start: Uint8Array, end: Uint8Array): void {
  for (;;) {
    const keys = table.keys({ start, end, limit: keysPerRead });
    for (const key of keys) table.remove(key);
    if (keys.length < keysPerRead) return;
  }
}

/** Number of documents whose postings are collected before they are written. */
const documentBatch = 20_000;

function addTexts(view: LoadView, label: Label, rules: DocumentRules): number {
  const writer = new TextIndexWriter(rules).bulk();
  let documents = 0;
  for (const ids of view.scan(label.id)) {
    for (const id of ids) {
      const record = view.record(id);
      if (!writer.add(label.id, id, record ? textsOf(label, record) : [])) continue;
      if (++documents % documentBatch === 0) writer.flush(view);
    }
  }
  writer.flush(view);
  return documents;
}
