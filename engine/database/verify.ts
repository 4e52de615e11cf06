// Verifies a store at rest: what storage checks of itself, and the keyword index against a recount
// of the documents (I7). Changes nothing.
import { defaultLimits } from '../base/limits.js';
import { type Violation, check } from '../storage/check.js';
import type { Storage } from '../storage/open.js';
import { decodeProperty } from '../storage/record.js';
import type { Label, ReadView } from '../storage/store.js';
import { type TextDocument, checkTextIndex } from '../text/check.js';
import { keepsTexts } from './text-upkeep.js';

/** All violations found. Where keyword search is switched off, no posting may be left (I7). */
export function verifyStorage(storage: Storage, options: { dbUuid?: string } = {}): Violation[] {
  const violations = check(storage.env, options);
  // A recount of damaged rows would only repeat what was found already.
  if (violations.length > 0) return violations;
  const view = storage.reader();
  const kept = keepsTexts(storage);
  for (const label of storage.catalog.labels()) {
    if (label.kind === 'edge') continue;
    const faults = checkTextIndex(
      view,
      label.id,
      kept ? documentsOf(view, label) : [],
      defaultLimits,
    );
    for (const what of faults) violations.push({ invariant: 'I7', what });
  }
  return violations;
}

function* documentsOf(view: ReadView, label: Label): Generator<TextDocument> {
  const texts = label.properties.filter(({ type }) =>
    type.kind === 'list'
      ? type.of.kind === 'scalar' && type.of.name === 'String'
      : type.name === 'String',
  );
  for (const ids of view.scan(label.id)) {
    for (const id of ids) {
      const record = view.record(id);
      if (record === undefined) continue;
      const values = texts.map((property) => decodeProperty(record, property));
      yield { id, texts: values.flat().filter((value) => typeof value === 'string') };
    }
  }
}
