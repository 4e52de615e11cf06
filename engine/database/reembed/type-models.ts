// Checks that texts of a vector type are embedded by the model that has made its vectors. Runs on the main
// thread.
// Invariant: no vector of another model is compared with, or stored next to, the vectors of a type. There are
// two exceptions: an operator has said that the models agree, or the query names its model itself.
import { fail } from '../../base/errors.js';
import { type ModelIdentity, describeModel, isSameModel } from '../../embed/model-identity.js';
import type { ReadView } from '../../storage/table/view-types.js';
import { type ModelRecord, readModelRecord } from '../vectors/model-record.js';

export interface TypeModelParts {
  view: <T>(read: (view: ReadView) => T) => T;
  /** Stores the record of a type. Returns the one that holds then. */
  record: (type: string, model: ModelIdentity) => Promise<ModelRecord>;
  /** Whether this process may write. */
  canWrite: () => boolean;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** One use of a model for a type. */
export interface TypeModelUse {
  type: string;
  model: ModelIdentity;
  /** The query names its own model. */
  isOwn: boolean;
  /** The vectors are stored. */
  isStored: boolean;
}

/** What is stored of a type. */
interface TypeState {
  count: number;
  dimension: number;
  record: ModelRecord | undefined;
}

export class TypeModels {
  constructor(private readonly parts: TypeModelParts) {}

  /** Returns undefined for a type that is not declared. */
  stateOf(type: string): TypeState | undefined {
    return this.parts.view((view) => {
      const label = view.catalog.find('vector', type);
      if (label === undefined) return undefined;
      const [count, dimension] = [view.count(label.id), view.dimension(label.id)];
      return { count, dimension, record: readModelRecord(view, label.id) };
    });
  }

  /**
   * Returns undefined if the use fits, or a promise when the model is to be recorded first. Fails
   * EMBEDDING_MODEL_CHANGED.
   */
  check(use: TypeModelUse): Promise<void> | undefined {
    const state = this.stateOf(use.type);
    if (state === undefined) return undefined;
    const { count, record } = state;
    // The author of the query has chosen its model, also for vectors whose model is unknown.
    if (use.isOwn && count > 0) return undefined;
    const fits = record !== undefined && isFit(state, record, use);
    if (fits) return undefined;
    if (record !== undefined && count > 0) failChanged(use, record);
    if (!use.isStored || !this.parts.canWrite()) return undefined;
    return this.#record(use, count);
  }

  async #record(use: TypeModelUse, count: number): Promise<void> {
    const { type, model } = use;
    const record = await this.parts.record(type, model);
    if (count > 0) this.#report(type, record);
    const state = this.stateOf(type);
    if (state && !isFit(state, record, use)) failChanged(use, record);
  }

  /** Records the model of a type whose vectors an earlier version has stored. */
  async recordUnknown(type: string, model: ModelIdentity): Promise<void> {
    const state = this.stateOf(type);
    if (state === undefined || state.count === 0 || state.record !== undefined) return;
    this.#report(type, await this.parts.record(type, model));
  }

  #report(type: string, record: ModelRecord): void {
    this.parts.log('the model of a vector type is recorded', {
      type,
      model: describeModel(record),
    });
  }
}

const isFit = (
  { dimension }: TypeState,
  record: ModelRecord,
  { model, isOwn }: TypeModelUse,
): boolean => isSameModel(record, model, dimension, isOwn);

function failChanged({ type, model }: TypeModelUse, record: ModelRecord): never {
  const args = { type, stored: describeModel(record), configured: describeModel(model) };
  return fail('EMBEDDING_MODEL_CHANGED', args);
}
