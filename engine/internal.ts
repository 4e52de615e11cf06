// Exports the parts of the engine that the server uses, grouped by purpose. The server and the benchmarks
// import the engine through this file only (test/architecture.test.ts), and the package does not export it:
// users of the package have engine/public.ts.

// Errors, limits, time, metrics
export {
  type ErrorArgs,
  type ErrorCode,
  type ErrorData,
  TrellisError,
  errorCodes,
  toErrorData,
  errorHint,
  errorMessage,
  excerpt,
  fail,
  isRetryable,
  throwShortage,
  type ErrorStatus,
  errorStatus,
} from './base/errors.js';
export { type LimitName, type Limits, defaultLimits, limitTable } from './base/limits.js';
export { sleepSync as holdThread, sharedOriginMs, wallMs } from './base/clock.js';
export { DefectError, assert, unreachable } from './base/assert.js';
export {
  type Families,
  Histogram,
  type Sample,
  type SampleName,
  countCells,
  secondBounds,
  counter,
  formerly,
  gauge,
  histogram,
} from './base/metric.js';
export { nearestName } from './base/did-you-mean.js';
export { visible } from './base/text/visible.js';

// System: processes, threads, files
export { refuseKilled, runChild } from './system/child.js';
export { keepWorkingDirectory } from './system/working-directory.js';
export { readStandardInput } from './system/standard-input.js';
export { startThread } from './system/thread.js';
export { makeFolder, replaceFile, syncPath } from './fs/durable-file.js';
export { LargeFile, removeLargeFolder } from './fs/large-file.js';

// Schema and language
export { type ShardIndex, parseUuid, printUuid } from './base/id.js';
export { emptySchema, printType } from './base/schema.js';
export { languageNames } from './base/text/language-name.js';
export { printSearch } from './base/text/search-options.js';
export type {
  ElementKind,
  ElementType,
  ParameterType,
  Property,
  PropertyType,
  Schema,
} from './base/schema.js';
export { type Diagnostic, printDiagnostic } from './lang/syntax/diagnostic.js';
export { type Source, compile } from './lang/compile.js';
export { compileAdHoc } from './lang/compile-ad-hoc.js';
export { type Analysis, analyze } from './lang/analysis/analyze.js';
export { type Completion, complete } from './lang/analysis/complete.js';
export { CompileCache as Memo } from './lang/compile-cache.js';
export type { Occurrence } from './lang/analysis/occurrence.js';
export type { OutlineItem } from './lang/analysis/outline.js';
export { formatSource } from './lang/format/format.js';

// Contract: generated clients, JSON Schema, OpenAPI
export { defaultTexts } from './plan/default-text.js';
export { type ModuleFile, printSplitTypeScript, printTypeScript } from './contract/typescript.js';
export { printPython } from './contract/python.js';
export { ReplySchemas, parametersSchema, type JsonSchema } from './contract/json-schema.js';
export { computeContract } from './contract/contract-hash.js';
export { buildOpenApi } from './contract/openapi.js';
export { parseDocText } from './contract/doc-text.js';
export { type DecodePath, findDecodePaths } from './contract/decode-path.js';
export { queryFacts } from './contract/query-facts.js';

// Planning
export type { Plan, Query } from './plan/plan.js';
export { embeddingPlan, inspectionPlan as lookPlan } from './plan/inspection-plan.js';
export type { EdgeCursor, InspectionRequest as Look } from './plan/plan.js';
export { type Explanation, explain, printExplanation } from './plan/explain.js';
export type { ReplyType } from './plan/output-type.js';
export { countUnknown } from './plan/output-type.js';
export { statisticsOf } from './exec/statistics.js';
export type { Program } from './plan/program.js';
export type { ReadView } from './storage/table/view-types.js';
export type { IndexOptions } from './vector/index.js';
export { mainProgram, shardProgram } from './plan/scatter-program.js';

// JSON bodies
export { scanBody } from './json/decode.js';
export { describe as describeJson } from './json/validation-error.js';
export type { JsonView } from './json/view.js';
export { fragmentOf, labelOf, uuidAt } from './storage/record/record.js';

// Sessions
export { readConnection, findTool, prepare, createToolbox } from './session/tool/prepare.js';
export { schemaRecord } from './session/tool/schema-resource.js';
export { nextPlan, copyWindow } from './session/next-window.js';
export { type Session, SessionStore } from './session/session-store.js';
export type { Toolbox, Work } from './session/tool-context.js';

// Database
export type { Database, DatabaseStatus, OpenDatabase } from './database/database.js';
export { databaseFamilies } from './database/metrics/definitions.js';
export type { CallOptions, DatabaseOptions, ShardReading } from './database/call/options.js';
export type { IndexInfo } from './database/vectors/index-list.js';
export type { Recall } from './database/vectors/recall.js';
export type { EmbedderOptions } from './embed/embedder.js';
export { createEmbedder } from './embed/create-embedder.js';
export { describeModel } from './embed/model-identity.js';
export type { ReembedStatus } from './database/reembed/reembed-jobs.js';
export { providerVariables } from './embed/provider/provider-table.js';
export { modelDestination, checkModel } from './embed/provider/model-check.js';
export {
  adHocName,
  argumentsOf,
  prepareAdHocCall,
  queryOf,
  readAdHocCall,
} from './database/ad-hoc.js';
export { checkCompiler, programCompiler } from './database/schema/compiler.js';
export type { DocumentReport as OpenApiText } from './database/schema/openapi-task.js';
export { openDatabase } from './database/database-impl.js';
export { ScatterGather as Gatherer, type Shard } from './database/scatter/gather.js';
export type { BulkLoad } from './database/load/load-run.js';
export type { StreamPart } from './database/load/load-progress.js';
export type { LoadedFile } from './database/load/load-files.js';
export type { LoadName } from './database/load/load-registry.js';
export { LoadStream as LoadFeed, type RejectedRow as FedRow } from './database/load/load-stream.js';
export { type EmbeddedDatabase, open } from './database/embedded.js';
export type { Attachment } from './database/attach/attachment.js';
export { attach } from './database/attach/attach.js';
export { AttachedReader as Attached } from './database/attach/attached-reader.js';
export type { OpenOptions } from './database/embedded-options.js';

// Maintenance of data at rest
export type { Violation } from './storage/check/check.js';
export { dump } from './database/maintenance/dump.js';
export { DumpReader } from './database/maintenance/restore-dump.js';
export { derivedInvariants, verifyStorage } from './database/maintenance/verify.js';
export { openDataDirectory, storageFormat } from './storage/folder/manifest.js';
export { asDiskError as diskTrouble, isFullDisk } from './storage/lock/disk-error.js';
export { mayBeFilled } from './storage/folder/unfinished.js';
export { type SchemaPreview, type Storage, openStorage } from './storage/open-storage.js';
export { backUp, restore } from './database/maintenance/backup.js';
export { compactGraph } from './database/maintenance/compact.js';
export { rebuildData, repairDerived } from './database/maintenance/repair.js';
export { type Salvaged, salvage } from './database/maintenance/recover-rows.js';
export { checkData } from './storage/page/file-check.js';
export { takeLock } from './storage/lock/lock.js';
export { holderOf } from './storage/lock/lock-holder.js';
export { probeData, failIfDamaged as refuseBroken } from './storage/folder/preopen-check.js';

// Cluster
export { isOfEarlierLog } from './cluster/ipc/position.js';
export { followedTo, createCluster as foundCluster } from './database/create-cluster.js';
export { findLeader as hearLeader } from './cluster/role/find-leader.js';
export { keyFor, keyIdOf, keyIdsOf, printKey } from './cluster/entry/entry-keys.js';
export {
  type CopiedFile,
  copyFolderIn as copyPlaceIn,
  installNodeCopy,
  isCopiedPath,
  makeNodeCopy,
  needsNodeCopy,
} from './database/replication/base-backup.js';
export { clusterFamilies } from './cluster/families.js';
export { isBefore } from './cluster/ipc/epochs.js';
export type { ClusterOptions, ReadMode, SourceArchive } from './cluster/options.js';
export {
  type ClusterLeader,
  type ClusterNode,
  type ClusterPosition,
  printPosition,
} from './cluster/node.js';

// Tests
export { armFailpoint, failpoint } from './base/failpoint.js';
