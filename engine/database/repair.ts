// Makes derived data anew from the rows (operations.md 8, `verify --repair-derived`): label lists stay,
// property indexes and keyword postings are written from scratch in one transaction, vector snapshots
// are thrown away, so that the next start builds the indexes from the vectors. For a stopped server.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../base/limits.js';
import type { FullCatalog } from '../storage/catalog.js';
import { indexKey, prefixOf } from '../storage/index-key.js';
import type { LoadView } from '../storage/load-view.js';
import type { Storage } from '../storage/open.js';
import { decodeProperty } from '../storage/record.js';
import type { Label } from '../storage/store.js';
import { clear, makeTexts } from './text-upkeep.js';

export interface RepairOptions {
  limits: Limits;
  textEnabled: boolean;
  /** The data directory. */
  dataDir: string;
}

export function repairDerived(storage: Storage, options: RepairOptions): void {
  const { env } = storage;
  storage.load(0, (view) => {
    clear(env.index, Uint8Array.of(0), new Uint8Array(64).fill(255));
    for (const label of (storage.catalog as FullCatalog).allLabels()) indexLabel(view, label);
    makeTexts(storage, view, options);
  });
  const folder = join(options.dataDir, 'vec');
  if (!existsSync(folder)) return;
  for (const file of readdirSync(folder)) {
    if (file.endsWith('.snap')) rmSync(join(folder, file));
  }
}

function indexLabel(view: LoadView, label: Label): void {
  const indexed = label.properties.filter(({ indexId }) => indexId !== 0);
  if (indexed.length === 0) return;
  for (const ids of view.scan(label.id)) {
    for (const id of ids) {
      const record = view.record(id);
      if (record === undefined) continue;
      for (const property of indexed) {
        const value = decodeProperty(record, property);
        if (value !== null) view.addEntry(indexKey(prefixOf(property, value), 0), id);
      }
    }
  }
}
