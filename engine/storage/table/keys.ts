// The key layouts of all tables, and the codecs that write keys directly into lmdb's key buffer.
// Invariant: all integers in keys are big-endian, so byte order is numeric order.
//
//   table     key                                     value, each followed by its CRC32 (checksum.ts)
//   meta      tag u8 [· label u16]                    catalog, state, totals (meta.ts)
//   uuid      uuid 16                                 id u32
//   records   id u32                                  record.ts
//   labels    label u16 · block u32                   bitmap of 2,048 ids (label-bitmap.ts)
//   out, in   id u32 · edge label u16 · chunk u32     edge list (adjacency.ts)
//   index     index u32 · value · id u32, 0 = list    ids of the value (property-index.ts, order.ts)
//   vectors   id u32                                  embedding (vector-record.ts)
//   vlog      sequence u64                            change of a vector index (vector-log.ts)
//   derived   bytes chosen by the owner               bytes of the owner

/** Writes a key at `start` and returns its end, or reads it back. */
export interface KeyCodec<K> {
  writeKey(key: K, target: Uint8Array, start: number): number;
  readKey(target: Uint8Array, start: number, end: number): K;
  /** No key of a table is below it. */
  readonly lowest: K;
}

export interface AdjacencyKey {
  id: number;
  label: number;
  chunk: number;
}

export interface BlockKey {
  label: number;
  block: number;
}

function putU16(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 8;
  target[at + 1] = value;
}

function putU32(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 24;
  target[at + 1] = value >>> 16;
  target[at + 2] = value >>> 8;
  target[at + 3] = value;
}

const getU16 = (bytes: Uint8Array, at: number): number => (bytes[at]! << 8) | bytes[at + 1]!;

const getU32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;

export const idKey: KeyCodec<number> = {
  writeKey(id, target, start) {
    putU32(target, start, id);
    return start + 4;
  },
  readKey: (target, start) => getU32(target, start),
  lowest: 0,
};

export const sequenceKey: KeyCodec<number> = {
  writeKey(sequence, target, start) {
    putU32(target, start, Math.floor(sequence / 2 ** 32));
    putU32(target, start + 4, sequence % 2 ** 32);
    return start + 8;
  },
  readKey: (target, start) => getU32(target, start) * 2 ** 32 + getU32(target, start + 4),
  lowest: 0,
};

export const blockKey: KeyCodec<BlockKey> = {
  writeKey({ label, block }, target, start) {
    putU16(target, start, label);
    putU32(target, start + 2, block);
    return start + 6;
  },
  readKey: (target, start) => ({ label: getU16(target, start), block: getU32(target, start + 2) }),
  lowest: { label: 0, block: 0 },
};

export const adjacencyKey: KeyCodec<AdjacencyKey> = {
  writeKey({ id, label, chunk }, target, start) {
    putU32(target, start, id);
    putU16(target, start + 4, label);
    putU32(target, start + 6, chunk);
    return start + 10;
  },
  readKey: (target, start) => ({
    id: getU32(target, start),
    label: getU16(target, start + 4),
    chunk: getU32(target, start + 6),
  }),
  lowest: { id: 0, label: 0, chunk: 0 },
};

/** Codec of keys that are bytes already. Copies in a loop: the checks of `set` cost more than a short key. */
export const bytesKey: KeyCodec<Uint8Array> = {
  writeKey(key, target, start) {
    const { length } = key;
    for (let i = 0; i < length; i++) target[start + i] = key[i]!;
    return start + length;
  },
  // The target is a Buffer, whose own `slice` would share memory.
  readKey: (target, start, end) => Uint8Array.prototype.slice.call(target, start, end),
  lowest: Uint8Array.of(0),
};
