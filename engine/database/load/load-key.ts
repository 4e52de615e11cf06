// Defines the store keys of load records. They lie next to the keyword postings, whose keys begin with a
// label. A name can have any length, so its digest is used.
//
//   derived key    FF 'l' name(16)            LoadProgress, JSON
//   derived key    FF 'm' name(16) chunk u32  LoadedPiece, JSON
//   derived key    FF 'n'                     number of named loads that have finished, u32
//   derived key    FF 'n' slot u32            name(16) of one of the last of them
//   derived key    FF 'o' name(16)            LoadedFile[], JSON: the files of a load
//   derived key    FF 'u' name(16) chunk u32 change u32   an element before a row changed it
import { createHash } from 'node:crypto';

/** Returns the digest of the name of a load. */
export const digestOf = (name: string): Uint8Array =>
  Uint8Array.from(createHash('sha256').update(name).digest().subarray(0, 16));

export const progressKey = (digest: Uint8Array): Uint8Array => keyOf(0x6c, digest);

export const chunkKey = (digest: Uint8Array, chunk: number): Uint8Array =>
  keyOf(0x6d, digest, chunk);

/** Key of the number of finished named loads; with a slot, key of one of them. */
export function endKey(slot?: number): Uint8Array {
  const key = new Uint8Array(slot === undefined ? 2 : 6);
  key[0] = 0xff;
  key[1] = 0x6e;
  if (slot !== undefined) new DataView(key.buffer).setUint32(2, slot);
  return key;
}

/** Key of the files of a load. Without a digest: the start of all such keys, or with `isEnd` their end. */
export function filesKey(digest?: Uint8Array, isEnd = false): Uint8Array {
  return digest === undefined ? Uint8Array.of(0xff, isEnd ? 0x70 : 0x6f) : keyOf(0x6f, digest);
}

export function undoKey(digest: Uint8Array, chunk: number, change: number): Uint8Array {
  const key = new Uint8Array(26);
  key.set(keyOf(0x75, digest, chunk));
  new DataView(key.buffer).setUint32(22, change);
  return key;
}

/** Range of the undo records of one chunk, or of the whole load. */
export function undoRange(digest: Uint8Array, chunk?: number): [Uint8Array, Uint8Array] {
  const [first, last] = [chunk ?? 0, chunk ?? 0xffff_ffff];
  const end = new Uint8Array(27);
  end.set(undoKey(digest, last, 0xffff_ffff));
  return [undoKey(digest, first, 0), end];
}

function keyOf(tag: number, digest: Uint8Array, chunk?: number): Uint8Array {
  const key = new Uint8Array(chunk === undefined ? 18 : 22);
  key[0] = 0xff;
  key[1] = tag;
  key.set(digest, 2);
  if (chunk !== undefined) new DataView(key.buffer).setUint32(18, chunk);
  return key;
}
