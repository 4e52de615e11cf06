// Changes a store, its keyword index and its vector indexes to the schema of a program: at a start, and while
// the database serves.
// Invariant: when it returns, every index is as a start on the same data would make it. When it fails
// SCHEMA_INCOMPATIBLE, nothing has changed.
import { TrellisError, fail } from '../../base/errors.js';
import { failpoint } from '../../base/failpoint.js';
import type { Declarations } from '../../storage/schema/apply-schema.js';
import type { Storage } from '../../storage/open-storage.js';
import type { TextIndex } from '../../text/text-index-types.js';
import type { ControlBlock } from '../call/control-block.js';
import {
  type TextRules,
  addMissingTexts,
  dropTexts,
  keepsTexts,
} from '../maintenance/rebuild-text-index.js';
import type { VectorStore } from '../vectors/vector-store.js';

/** Runs at a start. Returns the number of documents of the keyword index if it was rebuilt, otherwise 0. */
export function openSchema(
  storage: Storage,
  declarations: Declarations,
  text: TextIndex | undefined,
  rules: TextRules,
  nowMs: number,
): number {
  if (text === undefined) dropTexts(storage);
  const stored = keepsTexts(storage, rules);
  storage.applySchema(declarations, { text: stored ? text : undefined, nowMs });
  return addMissingTexts(storage, rules);
}

/** Errors of a change of the data where none is allowed. */
const isRefused: ReadonlySet<string> = new Set(['READ_ONLY', 'NO_LEADER', 'NOT_LEADER']);

/**
 * Runs at a start that must change nothing: program and data fit as they are, or it fails
 * SCHEMA_INCOMPATIBLE.
 */
export function fitSchema(
  storage: Storage,
  declarations: Declarations,
  text: TextIndex | undefined,
  rules: TextRules,
): void {
  const hint =
    storage.permit.closedBecause === undefined
      ? 'Stop all nodes and run `trellis verify --repair-derived` on each data directory. All nodes of a cluster have the same configuration of texts and vectors.'
      : 'Start once without `storage.read_only`, or bring the former sources back.';
  if (text !== undefined && !keepsTexts(storage, rules)) {
    fail('SCHEMA_INCOMPATIBLE', { what: 'The keyword index is yet to be made.' }, { hint });
  }
  try {
    storage.applySchema(declarations, { text, nowMs: 0 });
  } catch (error) {
    if (!(error instanceof TrellisError) || !isRefused.has(error.code)) throw error;
    const what = 'The data have another schema, and nothing may be written.';
    fail('SCHEMA_INCOMPATIBLE', { what }, { hint });
  }
}

/**
 * Runs while the database serves. The control block informs the reading threads. After a failure behind the
 * commit, they refuse calls until the next reload completes the change.
 */
export function changeSchema(
  storage: Storage,
  vectors: VectorStore,
  declarations: Declarations,
  text: TextIndex | undefined,
  nowMs: number,
  control: Pick<ControlBlock, 'bumpSchemaVersion'>,
  sources?: Uint8Array,
): void {
  let isChanging = false;
  const onChange = (): void => {
    isChanging = true;
    control.bumpSchemaVersion(1);
  };
  try {
    storage.applySchema(declarations, { text, nowMs, sources, onChange });
  } catch (error) {
    if (isChanging) control.bumpSchemaVersion(-1);
    throw error;
  }
  if (isChanging) control.bumpSchemaVersion(1);
  failpoint('schemaCommitted');
  vectors.follow();
}
