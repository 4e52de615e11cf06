// Check I5 and I6: compares every index entry and every listed id with its record, then the totals.
import type { FullCatalog } from '../catalog/catalog.js';
import { type RecordSummary, type Report, everyEntry, peekSound } from './check-report.js';
import type { Env } from '../table/env.js';
import { blockBytes, scanList } from '../graph/label-bitmap.js';
import { idOfKey, indexStart, prefixOf } from '../index/index-key.js';
import { indexKeys } from '../index/index-scan.js';
import { isSplit, listIds } from '../index/property-index.js';
import { labelOf } from '../record/record.js';
import { decodeFormer } from '../record/stored-float.js';
import type { Label, StoredProperty } from '../table/view-types.js';
import { getWord } from '../table/little-endian.js';

/** Label lists contain exactly the elements of the label. */
export function checkLists(env: Env, census: RecordSummary, report: Report): void {
  const labels = new Set<number>();
  for (const { key, value } of everyEntry.blocks(env.labels, report)) {
    labels.add(key.label);
    if (value.length === blockBytes && value.some((byte) => byte !== 0)) continue;
    report.add('I6', `block ${key.block} of the list of label ${key.label} is none`);
  }
  for (const label of new Set([...labels, ...census.counts.keys()])) {
    let count = 0;
    for (const ids of scanList(env.labels, label)) {
      count += ids.length;
      for (const id of ids) {
        if (census.labels.get(id) === label) continue;
        report.add('I6', `the list of label ${label} holds ${id}, which is not of it`);
      }
    }
    const found = census.counts.get(label) ?? 0;
    if (count !== found)
      report.add('I6', `the list of label ${label} holds ${count}, there are ${found}`);
  }
}

/** Index entries and property values correspond; a unique value has one element. */
export function checkIndexes(
  env: Env,
  catalog: FullCatalog,
  census: RecordSummary,
  report: Report,
): void {
  const owned = new Set<number>();
  for (const label of catalog.labels()) {
    for (const property of label.properties) {
      if (property.indexId === 0) continue;
      owned.add(property.indexId);
      const entries = checkIndex(env, label, property, report);
      const found = census.values.get(property.indexId) ?? 0;
      if (entries !== found) {
        report.add(
          'I5',
          `${label.name}.${property.name} has ${entries} entries for ${found} values`,
        );
      }
    }
  }
  for (const { prefix } of indexKeys(env.index, indexStart(0), indexStart(0xffffffff))) {
    const indexId = Buffer.from(prefix).readUInt32BE(0);
    if (owned.has(indexId)) continue;
    owned.add(indexId);
    report.add('I5', `index ${indexId} belongs to no property`);
  }
}

/** Checks both forms of property-index.ts. A lookup reads only the list. */
function checkIndex(env: Env, label: Label, property: StoredProperty, report: Report): number {
  const addViolation = (what: string): void =>
    report.add('I5', `${label.name}.${property.name}: ${what}`);
  const [start, end] = [indexStart(property.indexId), indexStart(property.indexId + 1)];
  let entries = 0;
  let list: { prefix: Uint8Array; isMark: boolean } = { prefix: start, isMark: false };
  let last = 0;
  const check = (prefix: Uint8Array, id: number): void => {
    entries++;
    if (last !== 0 && property.index === 'unique') addViolation(`${id} has a taken value`);
    if (last >= id) addViolation(`${id} is not in order`);
    last = id;
    const record = peekSound(env.records, id);
    const value = record && labelOf(record) === label.id ? decodeFormer(record, property) : null;
    const isRight = value !== null && Buffer.compare(prefixOf(property, value), prefix) === 0;
    if (!isRight) addViolation(`the entry of ${id} is not its value`);
  };
  for (const { key, value } of everyEntry.within(env.index, start, end, report)) {
    const [prefix, id] = [key.subarray(0, -4), idOfKey(key)];
    if (id !== 0) {
      const isMarked = list.isMark && Buffer.compare(list.prefix, prefix) === 0;
      if (!isMarked) addViolation(`the entry of ${id} stands without the mark of many`);
      if (value.length > 0) addViolation(`the entry of ${id} has content`);
      if (!isMarked) last = 0;
      check(prefix, id);
      continue;
    }
    list = { prefix, isMark: value.length === 4 && isSplit(value) };
    last = 0;
    if (list.isMark) continue;
    if (value.length === 0 || value.length % 4 !== 0 || value.length > listIds * 4) {
      addViolation(`a list of ${value.length} bytes`);
    }
    for (let at = 0; at + 4 <= value.length; at += 4) check(prefix, getWord(value, at));
  }
  return entries;
}
