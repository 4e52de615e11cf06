// Where the store keeps what is known of loads, beside the keyword postings, whose keys begin with a
// label. A name may be of any length; its digest is not.
//
//   derived key    FF 'l' name(16)            LoadProgress, JSON
//   derived key    FF 'm' name(16) piece u32  LoadedPiece, JSON
//   derived key    FF 'n'                     how many loads with a name have ended, u32
//   derived key    FF 'n' slot u32            name(16) of one of the last of them
//   derived key    FF 'o' name(16)            LoadedFile[], JSON: the files of a load
//   derived key    FF 'u' name(16) piece u32 change u32   an element as it was before a row changed it
import { createHash } from 'node:crypto';

/** What stands for the name of a load. */
export const digestOf = (name: string): Uint8Array =>
  Uint8Array.from(createHash('sha256').update(name).digest().subarray(0, 16));

export const progressKey = (digest: Uint8Array): Uint8Array => keyOf(0x6c, digest);

export const pieceKey = (digest: Uint8Array, piece: number): Uint8Array =>
  keyOf(0x6d, digest, piece);

/** How many loads with a name have ended; with a slot: which of them is there. */
export function endKey(slot?: number): Uint8Array {
  const key = new Uint8Array(slot === undefined ? 2 : 6);
  key[0] = 0xff;
  key[1] = 0x6e;
  if (slot !== undefined) new DataView(key.buffer).setUint32(2, slot);
  return key;
}

/** Of a load; without a digest the beginning of all such keys, or, with `isEnd`, their end. */
export function filesKey(digest?: Uint8Array, isEnd = false): Uint8Array {
  return digest === undefined ? Uint8Array.of(0xff, isEnd ? 0x70 : 0x6f) : keyOf(0x6f, digest);
}

export function undoKey(digest: Uint8Array, piece: number, change: number): Uint8Array {
  const key = new Uint8Array(26);
  key.set(keyOf(0x75, digest, piece));
  new DataView(key.buffer).setUint32(22, change);
  return key;
}

/** Of a piece, or of all of a load. */
export function undoRange(digest: Uint8Array, piece?: number): [Uint8Array, Uint8Array] {
  const [first, last] = [piece ?? 0, piece ?? 0xffff_ffff];
  const end = new Uint8Array(27);
  end.set(undoKey(digest, last, 0xffff_ffff));
  return [undoKey(digest, first, 0), end];
}

function keyOf(tag: number, digest: Uint8Array, piece?: number): Uint8Array {
  const key = new Uint8Array(piece === undefined ? 18 : 22);
  key[0] = 0xff;
  key[1] = tag;
  key.set(digest, 2);
  if (piece !== undefined) new DataView(key.buffer).setUint32(18, piece);
  return key;
}
