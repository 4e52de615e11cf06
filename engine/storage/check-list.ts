// I5 and the label lists: every index entry and every listed id against its record, then the
// totals.
import type { FullCatalog } from './catalog.js';
import { type Census, type Report, everyEntry, peekSound } from './check-report.js';
import type { Env } from './env.js';
import { scanList } from './label-list.js';
import { indexStart, prefixOf } from './index-key.js';
import { indexKeys } from './index-walk.js';
import { decodeProperty, labelOf } from './record.js';
import type { Label, StoredProperty } from './store.js';

/** Label lists hold exactly the elements of the label. */
export function checkLists(env: Env, census: Census, report: Report): void {
  const blocks = everyEntry.blocks(env.labels, report);
  const labels = new Set([...blocks].map(({ key }) => key.label));
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

/** Index entries and set values correspond; a unique value has one element. */
export function checkIndexes(env: Env, catalog: FullCatalog, census: Census, report: Report): void {
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

function checkIndex(env: Env, label: Label, property: StoredProperty, report: Report): number {
  const place = `${label.name}.${property.name}`;
  let entries = 0;
  let last: { prefix: Uint8Array; id: number } | undefined;
  const [start, end] = [indexStart(property.indexId), indexStart(property.indexId + 1)];
  for (const { prefix, ids } of indexKeys(env.index, start, end)) {
    for (const id of ids) {
      entries++;
      const isSame = last !== undefined && Buffer.compare(last.prefix, prefix) === 0;
      if (isSame && property.index === 'unique')
        report.add('I5', `${place}: ${id} has a taken value`);
      if (isSame && last!.id >= id) report.add('I5', `${place}: ${id} is not in order`);
      last = { prefix, id };
      const record = peekSound(env.records, id);
      const value =
        record && labelOf(record) === label.id ? decodeProperty(record, property) : null;
      if (value === null || Buffer.compare(prefixOf(property, value), prefix) !== 0) {
        report.add('I5', `${place}: the entry of ${id} is not its value`);
      }
    }
  }
  return entries;
}
