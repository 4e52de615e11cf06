// What everything that writes in a request's transaction works on.
import type { UuidGenerator } from '../../base/id.js';
import type { Limits } from '../../base/limits.js';
import type { NoEdgesHint } from '../graph/no-edges-hint.js';
import type { VectorWidth } from '../record/vector-record.js';
import type { UndoLog } from '../table/undo-log.js';
import type { Env } from '../table/env.js';
import type { StoreCounters } from './counters.js';

/** What the configuration says about a vector type. */
export interface VectorTypeOptions {
  store?: VectorWidth;
  /** Required dimension; else that of the first vector. */
  dimensions?: number;
}

/** What a write view works on; owned by the writer. */
export interface WriteContext {
  env: Env;
  log: UndoLog;
  totals: StoreCounters;
  uuids: UuidGenerator;
  hints: NoEdgesHint;
  /** Indexes whose last value was one that nobody had: whether to look first, no more. */
  newValues: Set<number>;
  limits: Limits;
  vectorTypes: Readonly<Record<string, VectorTypeOptions>>;
}
