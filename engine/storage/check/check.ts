// Verifies the invariants of a store at rest by reading all of it (operations.md 7, I3 to I6, I8, I9, I15 to
// I17). Runs in `trellis verify` and after every crash test.
// Invariant: changes nothing, and reports every violation that it can reach.
import { printUuid } from '../../base/id.js';
import { checkAdjacency } from './check-adjacency.js';
import { checkIndexes, checkLists } from './check-list.js';
import {
  type RecordSummary,
  type Report,
  type Violation,
  everyEntry,
  guarded,
  peekSound,
} from './check-report.js';
import { type FullCatalog, catalogOf } from '../catalog/catalog.js';
import {
  type StoredCatalog,
  fingerprint,
  readCatalog,
  readFingerprint,
} from '../catalog/catalog-record.js';
import type { Env } from '../table/env.js';
import { metaKey, readState, readTotal } from '../table/meta.js';
import { readTrimmed } from '../table/vector-log-trim.js';
import { decodeProperty, fromOf, kindOf, labelOf, toOf, uuidAt } from '../record/record.js';
import { readVector } from '../record/vector-record.js';
import { getWord } from '../table/little-endian.js';

export type { Violation };

/** Returns all violations, at most `max` of them (1,000 by default). */
export function check(env: Env, options: { dbUuid?: string; max?: number } = {}): Violation[] {
  const violations: Violation[] = [];
  const report: Report = {
    add(invariant, what) {
      if (violations.length < (options.max ?? 1000)) violations.push({ invariant, what });
    },
  };
  env.refresh();
  const catalog = catalogOf(readCatalog(env.meta));
  checkIdentity(env, options.dbUuid, report);
  const census = checkRecords(env, catalog, report);
  guarded(report, () => checkUuids(env, census, report));
  guarded(report, () => checkLists(env, census, report));
  guarded(report, () => checkAdjacency(env, catalog, census, report));
  guarded(report, () => checkIndexes(env, catalog, census, report));
  guarded(report, () => checkTotals(env, catalog, census, report));
  guarded(report, () => checkVectors(env, census, report));
  guarded(report, () => checkLog(env, census, report));
  // Other folders define these bytes: here only their checksums are verified.
  for (const _ of everyEntry.bytes(env.derived, report));
  return violations;
}

function checkIdentity(env: Env, dbUuid: string | undefined, report: Report): void {
  const stored = readCatalog(env.meta);
  if (stored.labels.length > 0 && readFingerprint(env.meta) !== fingerprint(stored)) {
    report.add('I17', 'the schema fingerprint does not match the catalog');
  }
  checkNumbers(stored, report);
  const uuid = env.meta.get(metaKey.databaseUuid);
  if (dbUuid !== undefined && Buffer.from(uuid ?? []).toString() !== dbUuid) {
    report.add('I17', 'the manifest and the data have different database uuids');
  }
}

/** Numbers of labels, slots and indexes are unique and below the next free number. */
function checkNumbers({ labels, nextLabel, nextIndex }: StoredCatalog, report: Report): void {
  const seen = new Set<string>();
  const checkUnique = (what: string, isBelow: boolean): void => {
    if (seen.has(what) || !isBelow) report.add('I17', `the catalog gives out ${what} wrongly`);
    seen.add(what);
  };
  for (const { id, kind, name, slots, fields } of labels) {
    checkUnique(`label ${id}`, id > 0 && id < nextLabel);
    checkUnique(`${kind} type ${name}`, true);
    for (const { slot, indexId } of fields) {
      checkUnique(`slot ${slot} of label ${id}`, slot < slots);
      if (indexId !== 0) checkUnique(`index ${indexId}`, indexId < nextIndex);
    }
  }
}

function checkRecords(env: Env, catalog: FullCatalog, report: Report): RecordSummary {
  const census: RecordSummary = {
    labels: new Map(),
    counts: new Map(),
    edges: 0,
    vectors: 0,
    values: new Map(),
  };
  const { nextId } = readState(env.meta);
  const known = new Set(catalog.allLabels().map(({ id }) => id));
  for (const { key: id, value } of everyEntry.ids(env.records, report)) {
    if (id >= nextId) report.add('I16', `element ${id} is above the next id ${nextId}`);
    if (!known.has(labelOf(value)))
      report.add('I15', `element ${id} has the unknown label ${labelOf(value)}`);
    else checkRecord(env, catalog, census, id, value, report);
  }
  return census;
}

function checkRecord(
  env: Env,
  catalog: FullCatalog,
  census: RecordSummary,
  id: number,
  record: Uint8Array,
  report: Report,
): void {
  const label = catalog.label(labelOf(record));
  census.labels.set(id, label.id);
  census.counts.set(label.id, (census.counts.get(label.id) ?? 0) + 1);
  const kind = kindOf(record);
  if (kind !== label.kind)
    report.add('I15', `element ${id} is a ${kind}, its label a ${label.kind}`);
  if (kind === 'edge') census.edges++;
  if (kind === 'vector') census.vectors++;
  const mapped = peekSound(env.uuid, record.slice(uuidAt.own, uuidAt.own + 16));
  if (!mapped || getWord(mapped, 0) !== id) {
    report.add('I16', `uuid ${printUuid(record, uuidAt.own)} does not lead to element ${id}`);
  }
  for (const property of label.properties) {
    let isSet = true;
    try {
      isSet = decodeProperty(record, property) !== null;
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      report.add('I15', `${label.name}.${property.name} of element ${id}: ${what}`);
    }
    if (!isSet || property.indexId === 0) continue;
    census.values.set(property.indexId, (census.values.get(property.indexId) ?? 0) + 1);
  }
  if (kind !== 'edge') return;
  checkEnd(
    env,
    id,
    fromOf(record),
    record.slice(uuidAt.from, uuidAt.from + 16),
    label.from,
    report,
  );
  checkEnd(env, id, toOf(record), record.slice(uuidAt.to, uuidAt.to + 16), label.to, report);
}

function checkEnd(
  env: Env,
  edge: number,
  end: number,
  uuid: Uint8Array,
  label: number | undefined,
  report: Report,
): void {
  const record = peekSound(env.records, end);
  if (!record) {
    report.add('I3', `edge ${edge} ends at ${end}, which does not exist`);
    return;
  }
  if (labelOf(record) !== label) {
    report.add('I3', `edge ${edge} ends at ${end}, whose label ${labelOf(record)} is not ${label}`);
  }
  if (Buffer.compare(record.subarray(uuidAt.own, uuidAt.own + 16), uuid) !== 0) {
    report.add('I3', `edge ${edge} names another uuid than that of ${end}`);
  }
}

function checkUuids(env: Env, census: RecordSummary, report: Report): void {
  let count = 0;
  const { risenFrom } = readState(env.meta);
  let last = 0;
  for (const { value } of everyEntry.bytes(env.uuid, report)) {
    count++;
    const id = getWord(value, 0);
    if (risenFrom !== 0 && id >= risenFrom) {
      if (id < last)
        report.add('I16', `the uuid of element ${id} does not rise above that of ${last}`);
      last = id;
    }
    if (!census.labels.has(getWord(value, 0))) {
      report.add('I16', `a uuid leads to element ${getWord(value, 0)}, which does not exist`);
    }
  }
  if (count !== census.labels.size) {
    report.add('I16', `${count} uuids for ${census.labels.size} elements`);
  }
}

function checkTotals(env: Env, catalog: FullCatalog, census: RecordSummary, report: Report): void {
  for (const label of catalog.allLabels()) {
    const [stored, found] = [readTotal(env.meta, label.id).count, census.counts.get(label.id) ?? 0];
    if (stored !== found) report.add('I6', `${label.name} counts ${stored}, has ${found}`);
  }
  const known = new Set(catalog.allLabels().map(({ id }) => id));
  for (const { key } of everyEntry.bytes(env.meta, report)) {
    const label = key[0] === metaKey.total(0)[0] ? (key[1]! << 8) | key[2]! : 0;
    if (label === 0 || known.has(label)) continue;
    // A type that a migration has merged into another one leaves a count of 0.
    const { count } = readTotal(env.meta, label);
    if (count !== 0) report.add('I6', `label ${label}, which there is not, counts ${count}`);
  }
}

function checkVectors(env: Env, census: RecordSummary, report: Report): void {
  let rows = 0;
  for (const { key: id } of everyEntry.ids(env.vectors, report)) {
    rows++;
    const vector = readVector(env.vectors, id);
    const label = census.labels.get(id);
    if (label === undefined) report.add('I9', `embedding ${id} has no element`);
    else if (vector?.length !== readTotal(env.meta, label).dimension) {
      report.add('I9', `embedding ${id} has ${vector?.length} numbers`);
    }
    if (!vector?.every(Number.isFinite)) report.add('I9', `embedding ${id} is not finite`);
  }
  if (rows !== census.vectors) report.add('I9', `${rows} embeddings for ${census.vectors} vectors`);
}

function checkLog(env: Env, census: RecordSummary, report: Report): void {
  const { nextSeq } = readState(env.meta);
  let expected = readTrimmed(env.meta) + 1;
  const newest = new Map<number, { label: number; isPut: boolean }>();
  for (const { key: seq, value } of everyEntry.log(env.vlog, report)) {
    if (seq !== expected) report.add('I8', `log entry ${seq} follows ${expected - 1}`);
    expected = seq + 1;
    if (value.length !== 8 || value[0]! > 1) report.add('I10', `log entry ${seq} is none`);
    else
      newest.set(getWord(value, 4), { label: value[2]! | (value[3]! << 8), isPut: value[0] === 0 });
  }
  if (expected !== nextSeq) report.add('I8', `the log ends before ${expected}, next is ${nextSeq}`);
  // The last log entry of an embedding matches its present state.
  for (const [id, { label, isPut }] of newest) {
    const now = env.vectors.has(id) ? census.labels.get(id) : undefined;
    if (isPut ? now === label : now === undefined) continue;
    report.add('I10', `the log ends with ${isPut ? 'a' : 'no'} vector ${id} of label ${label}`);
  }
}
