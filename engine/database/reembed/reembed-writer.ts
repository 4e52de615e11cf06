// The writer's side of new embeddings: stores them next to those that serve, builds an index of them, and
// swaps both in one transaction.
// Invariant: searches use the old vectors and the old index, or the new vectors and the new index. After a
// crash the stored new vectors are there, and nothing else has changed.
import { wallMs } from '../../base/clock.js';
import { fail } from '../../base/errors.js';
import { failpoint } from '../../base/failpoint.js';
import { type ModelIdentity, isSameModel } from '../../embed/model-identity.js';
import type { Storage } from '../../storage/open-storage.js';
import { labelOf } from '../../storage/record/record.js';
import { decodeVector, encodeVector, storedVector } from '../../storage/record/vector-record.js';
import type { Label, ReadView } from '../../storage/table/view-types.js';
import type { LoadView } from '../../storage/view/load-view.js';
import { type ModelRecord, readModelRecord, writeModelRecord } from '../vectors/model-record.js';
import type { VectorStore } from '../vectors/vector-store.js';
import { type ReembedState, encodeState, readState, stateKey } from './reembed-state.js';
import { hasShadow, markBytes, shadowId, shadowKey, shadowRange, textOf } from './shadow-vector.js';

/** A command to the writer. */
export type ReembedCommand =
  /** Records the model of a type that has none. Returns the record that holds then. */
  | { step: 'record'; type: string; model: ModelIdentity; isForced?: true }
  /** Begins, or continues what has the same text and model. Returns false while older vectors are dropped. */
  | { step: 'begin'; type: string; state: ReembedState }
  /** Stores new vectors, one after the other in `numbers`. */
  | { step: 'rows'; type: string; ids: Uint32Array; marks: Uint8Array; numbers: Float64Array }
  /** Adds stored vectors after this id to the new index. Returns the last id, or undefined at the end. */
  | { step: 'build'; type: string; after: number }
  /** Swaps. Returns ids whose new vector is missing or of another text; then nothing has changed. */
  | { step: 'swap'; type: string };

/** Vectors that one step adds to the index, or drops. */
const stepVectors = 1_024;
/** Ids that a refused swap returns. */
const staleMax = 8_192;

/** Runs a command, and returns its result. */
export const runReembed = (
  storage: Storage,
  vectors: VectorStore,
  command: ReembedCommand,
): unknown => new ReembedStep(storage, vectors).execute(command, wallMs());

class ReembedStep {
  private readonly parts: { storage: Storage; vectors: VectorStore };

  constructor(storage: Storage, vectors: VectorStore) {
    this.parts = { storage, vectors };
  }

  execute(command: ReembedCommand, nowMs: number): unknown {
    const label = this.#labelOf(command.type);
    switch (command.step) {
      case 'record':
        return this.#record(label, command.model, command.isForced === true, nowMs);
      case 'begin':
        return this.#begin(label, command.state, nowMs);
      case 'rows':
        return this.#rows(label, command, nowMs);
      case 'build':
        return this.#build(label, command.after);
      case 'swap':
        return this.#swap(label, nowMs);
    }
  }

  #labelOf(type: string): Label {
    const label = this.parts.storage.catalog.find('vector', type);
    return label ?? fail('UNKNOWN_TYPE', { kind: 'vector', type });
  }

  #record(label: Label, model: ModelIdentity, isForced: boolean, nowMs: number): ModelRecord {
    const view = this.parts.storage.reader();
    const former = readModelRecord(view, label.id);
    if (former !== undefined && view.count(label.id) > 0 && !isForced) return former;
    const since = former?.since === undefined ? {} : { since: former.since };
    const record = { ...model, ...since };
    this.parts.storage.load(nowMs, (load) => {
      writeModelRecord(load, label.id, record);
      if (!isForced) return;
      load.clearDerived(...shadowRange(label.id));
      load.deleteDerived(stateKey(label.id));
    });
    if (isForced) this.parts.vectors.shadows.drop(label.id);
    return record;
  }

  #begin(label: Label, state: ReembedState, nowMs: number): boolean {
    const former = readState(this.parts.storage.reader(), label.id);
    const isSame = former?.from === state.from && isSameModel(former.model, state.model, 0, false);
    if (isSame) return true;
    this.parts.vectors.shadows.drop(label.id);
    const { result } = this.parts.storage.load(nowMs, (view) => {
      if (view.clearDerived(...shadowRange(label.id), stepVectors) === stepVectors) return false;
      view.putDerived(stateKey(label.id), encodeState(state));
      return true;
    });
    return result;
  }

  #rows(label: Label, command: ReembedCommand & { step: 'rows' }, nowMs: number): void {
    const { ids, marks, numbers } = command;
    const { storage, vectors } = this.parts;
    const dimension = numbers.length / ids.length;
    vectors.shadows.check(label, ids.length, dimension);
    const width = vectors.widthOf(label);
    const rowOf = (i: number): Float64Array =>
      storedVector(numbers.subarray(i * dimension, (i + 1) * dimension), width);
    const { result: present } = storage.load(nowMs, (view) => {
      const there: number[] = [];
      for (const [i, id] of ids.entries()) {
        // Deleted meanwhile.
        if (!isOf(view, label, id)) continue;
        const vector = encodeVector(rowOf(i), width);
        const value = new Uint8Array(markBytes + vector.length);
        value.set(marks.subarray(i * markBytes, (i + 1) * markBytes));
        value.set(vector, markBytes);
        view.putDerived(shadowKey(label.id, id), value);
        there.push(i);
      }
      return there;
    });
    failpoint('reembedRows');
    const presentIds = Uint32Array.from(present, (i) => ids[i]!);
    vectors.shadows.add(label, presentIds, (row) => rowOf(present[row]!));
  }

  #build(label: Label, after: number): number | undefined {
    const view = this.parts.storage.reader();
    const ids: number[] = [];
    const rows: Float64Array[] = [];
    for (const { key, value } of view.scanDerived(...shadowRange(label.id, after + 1))) {
      ids.push(shadowId(key));
      rows.push(decodeVector(value.subarray(markBytes)));
      if (ids.length === stepVectors) break;
    }
    if (ids.length === 0) return undefined;
    this.parts.vectors.shadows.add(label, Uint32Array.from(ids), (i) => rows[i]);
    return ids.at(-1);
  }

  #swap(label: Label, nowMs: number): Uint32Array | undefined {
    const { storage, vectors } = this.parts;
    const view = storage.reader();
    const state = readState(view, label.id);
    if (state === undefined) fail('NOT_FOUND', { kind: 'reembedding', name: label.name });
    const stale = staleIds(view, label, state);
    if (stale.length > 0) return stale;
    const { changes } = storage.load(nowMs, (load) => {
      const since = load.replaceVectors(label, shadowsOf(load, label));
      load.clearDerived(...shadowRange(label.id));
      load.deleteDerived(stateKey(label.id));
      writeModelRecord(load, label.id, { ...state.model, since });
    });
    failpoint('reembedSwap');
    vectors.useShadow(label, changes.length);
    return undefined;
  }
}

function isOf(view: ReadView, label: Label, id: number): boolean {
  const record = view.recordShared(id);
  return record !== undefined && labelOf(record) === label.id;
}

/** Yields the new vectors of elements that exist. */
function* shadowsOf(view: LoadView, label: Label): Generator<{ id: number; vector: Float64Array }> {
  for (const { key, value } of view.scanDerived(...shadowRange(label.id))) {
    const id = shadowId(key);
    if (!isOf(view, label, id)) continue;
    yield { id, vector: decodeVector(value.subarray(markBytes)) };
  }
}

/** Returns the ids whose new vector is missing, or of a text that is not theirs any longer. */
function staleIds(view: ReadView, label: Label, { from }: ReembedState): Uint32Array {
  const stale: number[] = [];
  for (const ids of view.scan(label.id)) {
    for (const id of ids) {
      const text = textOf(view, label, from, id);
      if (text !== undefined && hasShadow(view, label.id, id, text)) continue;
      if (stale.push(id) === staleMax) return Uint32Array.from(stale);
    }
  }
  return Uint32Array.from(stale);
}
