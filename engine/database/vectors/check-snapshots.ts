// Checks I10 and I13: a snapshot file plus the log after it must equal the rows. A file that a start would
// not use, or for which the log is too short, only means a later rebuild and is no violation unless it is
// damaged. Changes nothing, and reads one snapshot of the data.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readCatalog } from '../../storage/catalog/catalog-record.js';
import type { Violation } from '../../storage/check/check.js';
import type { Env } from '../../storage/table/env.js';
import { scanList } from '../../storage/graph/label-bitmap.js';
import { readState, readTotal } from '../../storage/table/meta.js';
import { readTrimmed } from '../../storage/table/vector-log-trim.js';
import { readVector } from '../../storage/record/vector-record.js';
import { replayLog } from '../../storage/record/vector-log.js';
import { holdsVector, idsIn } from '../../vector/index-contents.js';
import type { SharedIndex } from '../../vector/shared-index.js';
import { inspectSnapshot } from '../../vector/snapshot.js';
import { storedPosition } from './snapshot-position.js';

/** Number of vectors per type that are compared number by number. */
const comparedMax = 1_000;
/** Number of ids that a violation lists. */
const namedMax = 10;

export function checkSnapshots(env: Env, folder: string, dbUuid: string): Violation[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.snap'));
  const violations: Violation[] = [];
  for (const { id, kind, name } of readCatalog(env.meta).labels) {
    if (kind !== 'vector') continue;
    for (const file of files) {
      const match = /^(.*)\.(\d+)\.snap$/.exec(file);
      if (match?.[1] !== name) continue;
      const seq = Number(match[2]);
      violations.push(...checkFile(env, { folder, file, seq }, { id, name }, dbUuid));
    }
  }
  return violations;
}

interface SnapshotFile {
  folder: string;
  file: string;
  seq: number;
}

function checkFile(
  env: Env,
  { folder, file, seq }: SnapshotFile,
  label: { id: number; name: string },
  dbUuid: string,
): Violation[] {
  const { nextSeq } = readState(env.meta);
  // Written since by a running server. A start would not use it.
  if (seq >= nextSeq || readTotal(env.meta, label.id).count === 0) return [];
  const { dimension } = readTotal(env.meta, label.id);
  const read = inspectSnapshot(join(folder, file), label.name, {
    dbUuid,
    typeId: label.id,
    dimension,
    seq,
  });
  if (read.index === undefined) {
    // A running server has deleted it meanwhile (fs/large-file.ts).
    if (!read.isDamaged || !existsSync(join(folder, file))) return [];
    return [{ invariant: 'I13', what: `snapshot ${file}: ${read.reason}` }];
  }
  const position = Math.max(seq, storedPosition(env, label.id, file));
  const violations =
    position < readTrimmed(env.meta) ? [] : compare(env, label, read.index, position);
  read.index.close();
  return violations.map((what) => ({ invariant: 'I10', what: `snapshot ${file} ${what}` }));
}

function compare(env: Env, label: { id: number }, index: SharedIndex, position: number): string[] {
  const ids = new Set(idsIn(index));
  const older = new Set(ids);
  for (const { change } of replayLog(env, position)) {
    older.delete(change.id);
    if (change.label !== label.id) continue;
    if (change.kind === 'put') ids.add(change.id);
    else ids.delete(change.id);
  }
  const rows = [...scanList(env.labels, label.id)].flatMap((ids) => [...ids]);
  const missing = rows.filter((id) => !ids.has(id));
  const listed = new Set(rows);
  const extra = [...ids].filter((id) => !listed.has(id));
  const violations: string[] = [];
  const name = (ids: number[]) => ids.slice(0, namedMax).join(', ');
  if (missing.length > 0) violations.push(`lacks ${missing.length} vectors: ${name(missing)}`);
  if (extra.length > 0) violations.push(`holds ${extra.length} that are gone: ${name(extra)}`);
  const step = Math.max(1, Math.ceil(rows.length / comparedMax));
  const other = rows.filter((id, i) => {
    if (i % step !== 0 || !older.has(id)) return false;
    const vector = readVector(env.vectors, id);
    return vector?.length === index.dimension && !holdsVector(index, id, vector);
  });
  if (other.length > 0) violations.push(`holds other numbers than the rows: ${name(other)}`);
  return violations;
}
