// The objects that all code in a write transaction shares.
import type { UuidGenerator } from '../../base/id.js';
import type { Limits } from '../../base/limits.js';
import type { NoEdgesHint } from '../graph/no-edges-hint.js';
import type { VectorWidth } from '../record/vector-record.js';
import type { UndoLog } from '../table/undo-log.js';
import type { Env } from '../table/env.js';
import type { StoreCounters } from './counters.js';

/** Configuration of a vector type. */
export interface VectorTypeOptions {
  store?: VectorWidth;
  /** Required dimension; by default that of the first vector. */
  dimensions?: number;
}

/** Shared state of write views; the writer owns it. */
export interface WriteContext {
  env: Env;
  log: UndoLog;
  totals: StoreCounters;
  uuids: UuidGenerator;
  hints: NoEdgesHint;
  /** Indexes whose last value was new. A hint: it only decides whether to look up the value first. */
  newValues: Set<number>;
  limits: Limits;
  vectorTypes: Readonly<Record<string, VectorTypeOptions>>;
}
