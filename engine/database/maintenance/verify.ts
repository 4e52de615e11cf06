// Verifies a store at rest: the storage's own checks, the keyword index against a recount of the documents
// (I7), and the vector snapshots against the rows (I10, I13). Changes nothing.
import { join } from 'node:path';
import { type Violation, check } from '../../storage/check/check.js';
import type { FullCatalog } from '../../storage/catalog/catalog.js';
import { textsOf } from '../../storage/record/text-document.js';
import { metaKey } from '../../storage/table/meta.js';
import type { Storage } from '../../storage/open-storage.js';
import type { Label, ReadView } from '../../storage/table/view-types.js';
import { checkReplies } from '../idempotency/check-replies.js';
import { type TextDocument, checkTextIndex, checkTextKeys } from '../../text/check.js';
import { checkSnapshots } from '../vectors/check-snapshots.js';
import { isCurrent, storedRules } from './rebuild-text-index.js';

/** Invariants of data that `--repair-derived` can rebuild from the rows. */
export const derivedInvariants: ReadonlySet<string> = new Set([
  'I5',
  'I7',
  'I10',
  'I11',
  'I12',
  'I13',
  'I14',
]);

export interface VerifyOptions {
  dbUuid?: string;
  /** The data directory. If set, its snapshots are compared too. */
  dataDir?: string;
}

/** Returns all violations. If keyword search is switched off, no posting may exist (I7). */
export function verifyStorage(storage: Storage, options: VerifyOptions = {}): Violation[] {
  const violations = check(storage.env, options);
  // A recount of damaged rows would only repeat the violations that were found.
  if (violations.some(({ invariant }) => !derivedInvariants.has(invariant))) return violations;
  for (const what of checkTexts(storage)) violations.push({ invariant: 'I7', what });
  for (const what of checkReplies(storage.reader())) violations.push({ invariant: 'I18', what });
  if (options.dataDir === undefined) return violations;
  const uuid = Buffer.from(storage.env.meta.get(metaKey.databaseUuid) ?? []).toString();
  return [...violations, ...checkSnapshots(storage.env, join(options.dataDir, 'vec'), uuid)];
}

function checkTexts(storage: Storage): string[] {
  const stored = storedRules(storage);
  const view = storage.reader();
  const labels = (storage.catalog as FullCatalog).allLabels().filter(({ kind }) => kind !== 'edge');
  const violations = checkTextKeys(view, new Set(labels.map(({ id }) => id)));
  // Postings of another analyzer cannot be recounted.
  if (stored && !isCurrent(stored)) return violations;
  const rules = stored ?? ({ documentTerms: 0, language: 'none' } as const);
  for (const label of labels) {
    const documents = stored ? documentsOf(view, label) : [];
    violations.push(...checkTextIndex(view, label.id, documents, rules));
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
