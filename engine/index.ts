// The public face of the engine: what the server and embedding programs may use. Everything else is
// private to its room.
export {
  type ErrorArgs,
  type ErrorCode,
  type ErrorData,
  TrellisError,
  errorCodes,
  errorHint,
  errorMessage,
  excerpt,
  fail,
  isRetryable,
} from './base/errors.js';
export { type LimitName, type Limits, defaultLimits, limitTable } from './base/limits.js';
export { DefectError, assert, unreachable } from './base/assert.js';
export { armFailpoint, failpoint } from './base/failpoint.js';
export { Histogram } from './base/histogram.js';
export { parseUuid, printUuid } from './base/id.js';
export { emptySchema, printType } from './base/schema.js';
export type {
  ElementKind,
  ElementType,
  ParameterType,
  Property,
  PropertyType,
  Schema,
} from './base/schema.js';
export type { Plan, Query } from './plan/plan.js';
export { type Look, lookPlan } from './plan/look.js';
export { type Explanation, explain, printExplanation } from './plan/explain.js';
export { statisticsOf } from './exec/statistics.js';
export type { Program } from './plan/program.js';
export { type Diagnostic, printDiagnostic } from './lang/diagnostic.js';
export type {
  CallOptions,
  Database,
  DatabaseOptions,
  DatabaseStatus,
  OpenDatabase,
} from './database/database.js';
export type { IndexInfo } from './database/index-list.js';
export type { Recall } from './database/recall.js';
export type { Embedder, EmbedderOptions } from './embed/embedder.js';
export type { Catalog, Label, ReadView } from './storage/store.js';
export type { IndexOptions, Layout, Metric } from './vector/index.js';
export { nearestName } from './session/nearest.js';
export { scanBody } from './json/decode.js';
export { describe as describeJson } from './json/fault.js';
export type { JsonView } from './json/view.js';
export { connectionOf, findTool, prepare, toolboxOf } from './session/prepare.js';
export { nextPlan, windowOf } from './session/next.js';
export { type Session, SessionStore } from './session/store.js';
export type { Toolbox, Work } from './session/work.js';
export { fragmentOf, labelOf, uuidAt } from './storage/record.js';
export { createEmbedder } from './embed/create-embedder.js';
export { type Compilation, type Source, compile } from './lang/compile.js';
export { openDatabase } from './database/open.js';
export type { Violation } from './storage/check.js';
export type { BulkLoad, PieceResult } from './database/load/load-run.js';
export type { LoadProgress, StreamPart } from './database/load/load-progress.js';
export type { Reject } from './database/load/row-batch.js';
export { LoadFeed, type FedRow } from './database/load/load-feed.js';
export { type DumpOptions, dump } from './database/dump.js';
export { DumpReader } from './database/restore-dump.js';
export { derivedInvariants, verifyStorage } from './database/verify.js';
export { openDataDirectory } from './storage/manifest.js';
export { type SchemaPreview, type Storage, openStorage } from './storage/open.js';
export { backUp, restore } from './database/backup.js';
export { compactGraph } from './database/compact.js';
export { rebuildData, repairDerived } from './database/repair.js';
export { type Salvaged, salvage } from './database/salvage.js';
export { checkData } from './storage/data-check.js';
export { takeLock } from './storage/lock.js';
export { probeData, refuseBroken } from './storage/probe.js';
export {
  type Arguments,
  type EmbeddedDatabase,
  open,
} from './database/embedded.js';
export type { OpenOptions } from './database/embedded-options.js';
