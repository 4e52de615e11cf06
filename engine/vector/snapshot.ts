// The on-disk image of a vector index (operations.md section 3). Derived data: at any doubt a
// snapshot is refused and the index rebuilt. Written by the writer thread through a private buffer,
// so that searches going on do not disturb it; read straight into shared memory.
//
//   header  4,096 B: magic u32, version u32, db uuid 36 B, type u32, dimension u32, metric u32,
//           segments u32, unused u32, then f64: count, seq, scale, body bytes, bytes of each segment;
//           at 4,092 the CRC32 of all that is before
//   body    the used part of each segment's memory, one after another
//   footer  CRC32 of each 1 MiB block of each segment, CRC32 of those, magic u32
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { assert } from '../base/assert.js';
import { failpoint } from '../base/failpoint.js';
import type { IndexOptions, VectorIndex } from './index.js';
import { type IndexHooks, restoreIndex, SharedIndex } from './open.js';
import { metricNumber } from './options.js';
import { createMemory } from './wasm.js';

const magic = 0x53564c54;
const version = 1;
const headerBytes = 4096;
const blockBytes = 2 ** 20;
const chunkBytes = 64 * blockBytes;
const segmentsMax = 400;

export interface SnapshotIdentity {
  dbUuid: string;
  typeId: number;
  /** The index holds every change up to this sequence. */
  seq: number;
}

export interface SnapshotExpectation {
  dbUuid: string;
  typeId: number;
  /** 0 = any. */
  dimension: number;
  /** Undefined = any. */
  seq?: number;
  hooks?: IndexHooks;
}

export type SnapshotRead =
  | { index: SharedIndex; seq: number; reason?: undefined }
  | { index: undefined; reason: string };

interface Header {
  identity: SnapshotIdentity;
  dimension: number;
  metric: number;
  count: number;
  scale: number;
  lengths: number[];
}

function encodeHeader(header: Header): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  bytes.writeUInt32LE(magic, 0);
  bytes.writeUInt32LE(version, 4);
  bytes.write(header.identity.dbUuid, 8, 36, 'latin1');
  bytes.writeUInt32LE(header.identity.typeId, 44);
  bytes.writeUInt32LE(header.dimension, 48);
  bytes.writeUInt32LE(header.metric, 52);
  bytes.writeUInt32LE(header.lengths.length, 56);
  bytes.writeDoubleLE(header.count, 64);
  bytes.writeDoubleLE(header.identity.seq, 72);
  bytes.writeDoubleLE(header.scale, 80);
  bytes.writeDoubleLE(bodyLength(header.lengths), 88);
  for (const [i, length] of header.lengths.entries()) bytes.writeDoubleLE(length, 96 + i * 8);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, headerBytes - 4)), headerBytes - 4);
  return bytes;
}

function decodeHeader(bytes: Buffer): Header | string {
  if (bytes.readUInt32LE(headerBytes - 4) !== crc32(bytes.subarray(0, headerBytes - 4))) {
    return 'the header fails its checksum';
  }
  if (bytes.readUInt32LE(0) !== magic) return 'it is not a snapshot';
  if (bytes.readUInt32LE(4) !== version) return 'it has another format version';
  const segments = bytes.readUInt32LE(56);
  if (segments > segmentsMax) return 'the header is not plausible';
  return {
    identity: {
      dbUuid: bytes.toString('latin1', 8, 44).replace(/\0+$/, ''),
      typeId: bytes.readUInt32LE(44),
      seq: bytes.readDoubleLE(72),
    },
    dimension: bytes.readUInt32LE(48),
    metric: bytes.readUInt32LE(52),
    count: bytes.readDoubleLE(64),
    scale: bytes.readDoubleLE(80),
    lengths: Array.from({ length: segments }, (_, i) => bytes.readDoubleLE(96 + i * 8)),
  };
}

const bodyLength = (lengths: readonly number[]): number => lengths.reduce((a, b) => a + b, 0);

const blocksOf = (lengths: readonly number[]): number =>
  lengths.reduce((sum, length) => sum + Math.ceil(length / blockBytes), 0);

/**
 * Writes `path` so that it is either complete or absent after a crash: a `.tmp`, fsync, rename,
 * fsync of the directory. Writer thread only, with nothing being put meanwhile; searches may go
 * on.
 */
export function writeSnapshot(index: VectorIndex, path: string, identity: SnapshotIdentity): void {
  assert(index instanceof SharedIndex, 'a snapshot is made of an index over shared memory');
  const temporary = `${path}.tmp`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeImage(file, index, identity);
    failpoint('W14');
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  failpoint('afterSnapshotRename');
  const folder = openSync(dirname(path), 'r');
  try {
    failpoint('beforeDirFsync');
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function writeImage(file: number, index: SharedIndex, identity: SnapshotIdentity): void {
  const { segments } = index;
  const lengths = segments.map((segment) => (segment.formatted ? segment.bytes : 0));
  const metric = metricNumber(index.options.metric);
  const { dimension, count, scale } = index;
  writeAll(file, encodeHeader({ identity, dimension, metric, count, scale, lengths }));
  const sums = Buffer.alloc(blocksOf(lengths) * 4 + 8);
  const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(...lengths, 1)));
  let block = 0;
  for (const [i, segment] of segments.entries()) {
    for (let at = 0; at < lengths[i]!; at += chunkBytes) {
      const length = Math.min(chunkBytes, lengths[i]! - at);
      chunk.set(new Uint8Array(segment.buffer(at + length), at, length));
      for (let from = 0; from < length; from += blockBytes) {
        const part = chunk.subarray(from, Math.min(length, from + blockBytes));
        sums.writeUInt32LE(crc32(part), block++ * 4);
        writeAll(file, part);
        failpoint('midSnapshotBlock');
      }
    }
  }
  sums.writeUInt32LE(crc32(sums.subarray(0, block * 4)), block * 4);
  sums.writeUInt32LE(magic, block * 4 + 4);
  writeAll(file, sums);
}

function writeAll(file: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done);
}

/** Reads exactly `bytes.length` bytes; false at the end of the file. */
function readAll(file: number, bytes: Uint8Array, position: number): boolean {
  let done = 0;
  while (done < bytes.length) {
    const count = readSync(file, bytes, done, bytes.length - done, position + done);
    if (count === 0) return false;
    done += count;
  }
  return true;
}

/**
 * The index of a snapshot file, or why it cannot be used: missing, torn, truncated, damaged, of
 * another database, type, dimension, metric, sequence or layout. Never throws on what a file
 * contains.
 */
export function readSnapshot(
  path: string,
  name: string,
  options: IndexOptions,
  expected: SnapshotExpectation,
): SnapshotRead {
  const refuse = (reason: string): SnapshotRead => ({ index: undefined, reason });
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return refuse('it cannot be opened');
  }
  try {
    const bytes = Buffer.alloc(headerBytes);
    if (!readAll(file, bytes, 0)) return refuse('it is truncated');
    const header = decodeHeader(bytes);
    if (typeof header === 'string') return refuse(header);
    const foreign = mismatch(header, options, expected);
    if (foreign) return refuse(foreign);
    const blocks = blocksOf(header.lengths);
    const total = headerBytes + bodyLength(header.lengths) + blocks * 4 + 8;
    if (fstatSync(file).size !== total) return refuse('it is truncated');
    const memories = readBody(file, header);
    if (typeof memories === 'string') return refuse(memories);
    const { dimension, scale } = header;
    const index = restoreIndex({ name, options, memories, dimension, scale }, expected.hooks ?? {});
    if (typeof index === 'string') return refuse(index);
    if (index.count !== header.count) return refuse('its count is wrong');
    return { index, seq: header.identity.seq };
  } finally {
    closeSync(file);
  }
}

function mismatch(
  header: Header,
  options: IndexOptions,
  expected: SnapshotExpectation,
): string | undefined {
  const { identity } = header;
  if (identity.dbUuid !== expected.dbUuid) return 'it is of another database';
  if (identity.typeId !== expected.typeId) return 'it is of another type';
  if (expected.seq !== undefined && identity.seq !== expected.seq) return 'its sequence is wrong';
  if (expected.dimension !== 0 && header.dimension !== expected.dimension) {
    return `it has dimension ${header.dimension}`;
  }
  if (header.metric !== metricNumber(options.metric)) return 'it has another metric';
  if (header.lengths.length === 0) return 'it is empty';
  for (const length of header.lengths) {
    if (!(length >= 0 && length <= 2 ** 32 && Number.isInteger(length))) {
      return 'the header is not plausible';
    }
  }
  return undefined;
}

function readBody(file: number, header: Header): WebAssembly.Memory[] | string {
  const blocks = blocksOf(header.lengths);
  const sums = Buffer.alloc(blocks * 4 + 8);
  const bodyEnd = headerBytes + bodyLength(header.lengths);
  if (!readAll(file, sums, bodyEnd)) return 'it is truncated';
  const footerFits =
    sums.readUInt32LE(blocks * 4) === crc32(sums.subarray(0, blocks * 4)) &&
    sums.readUInt32LE(blocks * 4 + 4) === magic;
  if (!footerFits) return 'the footer fails its checksum';
  const memories: WebAssembly.Memory[] = [];
  let position = headerBytes;
  let block = 0;
  for (const length of header.lengths) {
    const memory = createMemory(length);
    memories.push(memory);
    for (let at = 0; at < length; at += blockBytes) {
      const part = new Uint8Array(memory.buffer, at, Math.min(blockBytes, length - at));
      if (!readAll(file, part, position + at)) return 'it is truncated';
      if (crc32(part) !== sums.readUInt32LE(block++ * 4)) return 'a block fails its checksum';
    }
    position += length;
  }
  return memories;
}
