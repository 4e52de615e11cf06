// Stores the position of the newest snapshot of each vector type. A type that does not change keeps its file
// while the log after it is trimmed; its position advances with every round of snapshots.
//
//   derived key    FF 'r' label(u16 BE)
//   derived value  { "file": name, "seq": n }
//
import type { Env } from '../../storage/table/env.js';
import type { Storage } from '../../storage/open-storage.js';
import type { Label } from '../../storage/table/view-types.js';

export interface SnapshotPosition {
  label: Label;
  file: string;
  /** The snapshot contains every change of its type up to this sequence. */
  seq: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns true for a derived key of this kind. */
export const isPositionKey = (key: Uint8Array): boolean => key[0] === 0xff && key[1] === 0x72;

const keyOf = (label: number): Uint8Array => Uint8Array.of(0xff, 0x72, label >> 8, label & 255);

/** Returns the stored position of this snapshot file, or -1 when another file or none is stored. */
export function readPosition(storage: Storage, label: Label, file: string): number {
  storage.env.refresh();
  return storedPosition(storage.env, label.id, file);
}

/** Returns the same from the snapshot of the data that is already open. */
export function storedPosition({ derived }: Env, label: number, file: string): number {
  const bytes = derived.get(keyOf(label));
  if (bytes === undefined) return -1;
  const noted = JSON.parse(decoder.decode(bytes)) as { file: string; seq: number };
  return noted.file === file ? noted.seq : -1;
}

export function writePositions(storage: Storage, list: readonly SnapshotPosition[]): void {
  if (list.length === 0) return;
  const { env } = storage;
  env.transactLocally(() => {
    for (const { label, file, seq } of list) {
      env.derived.put(keyOf(label.id), encoder.encode(JSON.stringify({ file, seq })));
    }
    return true;
  });
}
