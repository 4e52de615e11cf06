// Verifies a store at rest: what storage checks of itself, and the keyword index against a recount
// of the documents (I7). Changes nothing.
import { type Violation, check } from '../storage/check.js';
import type { FullCatalog } from '../storage/catalog.js';
import { textsOf } from '../storage/document.js';
import type { Storage } from '../storage/open.js';
import type { Label, ReadView } from '../storage/store.js';
import { type TextDocument, checkTextIndex } from '../text/check.js';
import { keptRules } from './text-upkeep.js';

/** All violations found. Where keyword search is switched off, no posting may be left (I7). */
export function verifyStorage(storage: Storage, options: { dbUuid?: string } = {}): Violation[] {
  const violations = check(storage.env, options);
  // A recount of damaged rows would only repeat what was found already.
  if (violations.length > 0) return violations;
  const kept = keptRules(storage);
  const view = storage.reader();
  for (const label of (storage.catalog as FullCatalog).allLabels()) {
    if (label.kind === 'edge') continue;
    const documents = kept ? documentsOf(view, label) : [];
    const faults = checkTextIndex(view, label.id, documents, {
      document_terms: kept?.documentTerms ?? 0,
    });
    for (const what of faults) violations.push({ invariant: 'I7', what });
  }
  return violations;
}

function* documentsOf(view: ReadView, label: Label): Generator<TextDocument> {
  for (const ids of view.scan(label.id)) {
    for (const id of ids) {
      const record = view.record(id);
      if (record !== undefined) yield { id, texts: textsOf(label, record) };
    }
  }
}
