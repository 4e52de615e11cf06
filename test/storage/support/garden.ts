// Opens stores of the garden schema in fresh folders, and writes to them request by request.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Limits, defaultLimits } from '../../../engine/base/limits.js';
import type { Scalar, ScalarList } from '../../../engine/base/value.js';
import { type Storage, openStorage } from '../../../engine/storage/open-storage.js';
import type { Label, WriteView } from '../../../engine/storage/table/view-types.js';
import { garden } from './declare.js';

const folders: string[] = [];
process.on('exit', () => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

/** A folder that goes when the process ends. */
export function freshFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'trellis-storage-'));
  folders.push(path);
  return path;
}

export function openGarden(path: string, limits: Partial<Limits> = {}, schema = garden): Storage {
  const storage = openStorage(path, { limits: { ...defaultLimits, ...limits }, mode: 'create' });
  storage.applySchema({ schema, olderSchemas: [], migrations: [] }, { nowMs: 0 });
  return storage;
}

/** Runs one request in a separate commit. */
export function write<T>(
  storage: Storage,
  work: (view: WriteView) => T,
  nowMs = 1_700_000_000_000,
): T {
  let result: T;
  let failure: { error: unknown } | undefined;
  storage.commitGroup((group) => {
    try {
      result = group.request(nowMs, work);
    } catch (error) {
      failure = { error };
    }
  });
  if (failure) throw failure.error;
  return result!;
}

export function labelNamed(storage: Storage, name: string): Label {
  const label = storage.catalog.labels().find((candidate) => candidate.name === name);
  if (!label) throw new RangeError(`no label ${name}`);
  return label;
}

export const values = (
  object: Record<string, Scalar | ScalarList>,
): Map<string, Scalar | ScalarList> => new Map(Object.entries(object));
