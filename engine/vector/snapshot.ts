// Writes and reads snapshot files of a vector index (operations.md section 3). A snapshot is derived data: if
// any check of a file fails, the index is rebuilt. It is written while the writer thread works
// (snapshot-copy.ts), and read directly into shared memory.
//
//   header  4,096 B: magic u32, version u32, db uuid 36 B, type u32, dimension u32, metric u32,
//           segments u32, unused u32, then f64: count, seq, body bytes, per segment its bytes and
//           how many of its pages lie in the first part of the body; at 4,092 the CRC32 of all that
//           is before
//   body    the used pages (4,096 B) of each segment's memory, one after another; then those by which
//           the segments had grown when they were completed, again one after another
//   footer  f64 per page: its checksum (wasm/kernel/checksum.ts); CRC32 of those u32, magic u32
import { closeSync, fstatSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { H_LAYOUT, PAGE_BYTES } from '../../wasm/layout.js';
import { assert } from '../base/assert.js';
import { failpoint } from '../base/failpoint.js';
import { syncPath } from '../fs/durable-file.js';
import { LargeFile, unsyncedMax } from '../fs/large-file.js';
import type { IndexOptions, VectorIndex } from './index.js';
import { SnapshotCopy, pagesOf } from './snapshot-copy.js';
import { type IndexHooks, restoreIndex, SharedIndex } from './shared-index.js';
import { metricNumber, optionsOf } from './options.js';
import { type PageRun, type StartHelpers, readAll, readInParallel } from './parallel-load.js';
import { createMemory } from './wasm.js';

const magic = 0x53564c54;
const version = 3;
const headerBytes = 4096;
const segmentsMax = 248;

export interface SnapshotIdentity {
  dbUuid: string;
  typeId: number;
  /** The index contains every change up to this sequence. */
  seq: number;
}

interface SnapshotExpectation {
  dbUuid: string;
  typeId: number;
  /** 0 accepts any dimension. */
  dimension: number;
  /** Undefined accepts any sequence. */
  seq?: number;
  hooks?: IndexHooks;
  /** Starts threads that help to read a large file. */
  shareOut?: StartHelpers;
}

type SnapshotRead =
  | { index: SharedIndex; seq: number; reason?: undefined }
  | { index: undefined; reason: string };

interface Header {
  identity: SnapshotIdentity;
  dimension: number;
  metric: number;
  count: number;
  lengths: number[];
  basePages: number[];
}

/** Offset of a segment's fields in the header. */
const segmentAt = (i: number): number => 88 + i * 16;

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
  bytes.writeDoubleLE(bodyLength(header.lengths), 80);
  for (const [i, length] of header.lengths.entries()) {
    bytes.writeDoubleLE(length, segmentAt(i));
    bytes.writeDoubleLE(header.basePages[i]!, segmentAt(i) + 8);
  }
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
    lengths: Array.from({ length: segments }, (_, i) => bytes.readDoubleLE(segmentAt(i))),
    basePages: Array.from({ length: segments }, (_, i) => bytes.readDoubleLE(segmentAt(i) + 8)),
  };
}

const bodyLength = (lengths: readonly number[]): number => totalPages(lengths) * PAGE_BYTES;

const totalPages = (lengths: readonly number[]): number =>
  lengths.reduce((sum, length) => sum + pagesOf(length), 0);

/** Stops the writer for the moment in which a snapshot is completed. */
export interface WriterPause {
  /** Waits until nothing is being put; returns the sequence of the index then. */
  begin(): number;
  end(): void;
  /** Called about once per megabyte; may throw to stop. */
  tick(): void;
}

export interface SnapshotWritten {
  seq: number;
  bytes: number;
  /** Milliseconds for which nothing could be put. */
  stillMs: number;
}

/**
 * Largest number of passes over a changing index, and number of changed bytes that is small enough to stop
 * the writer.
 */
const passesMax = 12;
const pauseBytes = 4 * 2 ** 20;

/**
 * Writes a snapshot of the index to `path`, durably. The writer thread continues; `pause` stops it only
 * for the last pass. Searches continue throughout. Runs on any thread. Returns undefined if the index has a
 * segment that this thread has not received.
 */
export function writeSnapshotFile(
  index: SharedIndex,
  path: string,
  identity: Omit<SnapshotIdentity, 'seq'>,
  pause: WriterPause,
  unsyncedBytesMax: number = unsyncedMax.besideOthers,
): SnapshotWritten | undefined {
  const file = new LargeFile(path, 'w', unsyncedBytesMax);
  try {
    const copy = new SnapshotCopy(file, headerBytes, index.segments, () => {
      pause.tick();
      failpoint('midSnapshotBlock');
    });
    for (let pass = 0, last = Number.POSITIVE_INFINITY; pass < passesMax; pass++) {
      const bytes = copy.pass();
      // If a pass takes as long as the one before it, the next one would find as many changes.
      if (bytes <= pauseBytes || bytes > last * 0.9) break;
      last = bytes;
    }
    const seq = pause.begin();
    const started = performance.now();
    let count: number;
    try {
      if (index.segmentsNeeded()) return undefined;
      count = copy.freeze();
    } finally {
      pause.end();
    }
    const stillMs = performance.now() - started;
    copy.flush();
    const bytes = writeFooterAndHeader(file, copy, index, { ...identity, seq }, count);
    failpoint('W14');
    file.sync();
    return { seq, bytes, stillMs };
  } catch (error) {
    // An incomplete file on a full disk would only take space.
    rmSync(path, { force: true });
    throw error;
  } finally {
    file.close();
  }
}

/** Writes footer and header; returns the length of the file. */
function writeFooterAndHeader(
  file: LargeFile,
  copy: SnapshotCopy,
  index: SharedIndex,
  identity: SnapshotIdentity,
  count: number,
): number {
  const { dimension } = index;
  const metric = metricNumber(index.options.metric);
  const sums = Buffer.from(copy.sums().buffer);
  const seal = Buffer.alloc(8);
  seal.writeUInt32LE(crc32(sums), 0);
  seal.writeUInt32LE(magic, 4);
  file.write(sums, copy.end);
  file.write(seal, copy.end + sums.length);
  const { lengths, basePages } = copy;
  file.write(encodeHeader({ identity, dimension, metric, count, lengths, basePages }), 0);
  return copy.end + sums.length + seal.length;
}

/** Gives a complete snapshot its name: rename, then fsync of the directory. */
export function publishSnapshot(temporary: string, path: string): void {
  renameSync(temporary, path);
  failpoint('afterSnapshotRename');
  failpoint('beforeDirFsync');
  syncPath(dirname(path));
}

/**
 * Writes `path` so that it is complete or absent after a crash: a `.tmp` file, fsync, rename, fsync of the
 * directory. Writer thread only, while nothing is put; searches may continue.
 */
export function writeSnapshot(
  index: VectorIndex,
  path: string,
  identity: SnapshotIdentity,
): SnapshotWritten {
  assert(index instanceof SharedIndex, 'a snapshot is made of an index over shared memory');
  const temporary = `${path}.tmp`;
  index.openMarks();
  const still = { begin: () => identity.seq, end: () => {}, tick: () => {} };
  let written: SnapshotWritten | undefined;
  try {
    written = writeSnapshotFile(index, temporary, identity, still, unsyncedMax.alone);
  } finally {
    index.closeMarks();
  }
  assert(written, 'the writer knows all segments');
  publishSnapshot(temporary, path);
  return written;
}

/**
 * Reads the index of a snapshot file. Returns the reason if it cannot be used: missing, torn, truncated,
 * damaged, or of another database, type, dimension, metric, sequence or layout. Never throws because of the
 * file's content.
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
    const reason = mismatch(header, options, expected);
    if (reason) return refuse(reason);
    const total = headerBytes + bodyLength(header.lengths) + totalPages(header.lengths) * 8 + 8;
    if (fstatSync(file).size !== total) return refuse('it is truncated');
    const memories = readBody(file, path, header, expected.shareOut);
    if (typeof memories === 'string') return refuse(memories);
    const { dimension } = header;
    const index = restoreIndex({ name, options, memories, dimension }, expected.hooks ?? {});
    if (typeof index === 'string') return refuse(index);
    if (index.count !== header.count) return refuse('its count is wrong');
    return { index, seq: header.identity.seq };
  } finally {
    closeSync(file);
  }
}

/**
 * Like `readSnapshot`, for callers that do not know the options of the index: uses those of the file.
 * `isDamaged`: the file is not as it was written; otherwise it is intact but does not fit the present type.
 */
export function inspectSnapshot(
  path: string,
  name: string,
  expected: SnapshotExpectation,
): SnapshotRead & { isDamaged?: boolean } {
  const start = Buffer.alloc(headerBytes);
  const layout = Buffer.alloc(4);
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return { index: undefined, reason: 'it cannot be opened' };
  }
  const header = readAll(file, start, 0) ? decodeHeader(start) : 'it is truncated';
  if (typeof header !== 'string') {
    // Offset of the first page of the first segment: see the body.
    const pages = header.basePages[0] === 0 ? sumOf(header.basePages) : 0;
    readAll(file, layout, headerBytes + pages * PAGE_BYTES + H_LAYOUT);
  }
  closeSync(file);
  if (typeof header === 'string') return { index: undefined, reason: header, isDamaged: true };
  const options = optionsOf(header.metric, layout.readUInt32LE(0));
  const reason = mismatch(header, options, expected);
  if (reason !== undefined) return { index: undefined, reason };
  const read = readSnapshot(path, name, options, expected);
  return read.index === undefined ? { ...read, isDamaged: true } : read;
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
  for (const [i, length] of header.lengths.entries()) {
    const pages = header.basePages[i]!;
    const isLength = length >= 0 && length <= 2 ** 32 && Number.isInteger(length);
    if (!isLength || !(pages >= 0 && pages <= pagesOf(length) && Number.isInteger(pages))) {
      return 'the header is not plausible';
    }
  }
  return undefined;
}

function readBody(
  file: number,
  path: string,
  header: Header,
  shareOut?: StartHelpers,
): WebAssembly.Memory[] | string {
  const sums = new SharedArrayBuffer(8 * totalPages(header.lengths));
  const sumBytes = Buffer.from(sums);
  const seal = Buffer.alloc(8);
  const bodyEnd = headerBytes + bodyLength(header.lengths);
  if (!readAll(file, sumBytes, bodyEnd) || !readAll(file, seal, bodyEnd + sumBytes.length)) {
    return 'it is truncated';
  }
  if (seal.readUInt32LE(0) !== crc32(sumBytes) || seal.readUInt32LE(4) !== magic) {
    return 'the footer fails its checksum';
  }
  const memories = header.lengths.map((length) => createMemory(pagesOf(length) * PAGE_BYTES));
  return readInParallel(path, runsOf(header, memories), sums, shareOut) ?? memories;
}

/** Returns the positions of the segments' pages: see the body. */
function runsOf(header: Header, memories: readonly WebAssembly.Memory[]): PageRun[] {
  const runs: PageRun[] = [];
  let position = headerBytes;
  let tail = headerBytes + sumOf(header.basePages) * PAGE_BYTES;
  let firstSum = 0;
  for (const [i, length] of header.lengths.entries()) {
    const [base, pages] = [header.basePages[i]!, pagesOf(length)];
    const memory = memories[i]!;
    runs.push({ memory, position, from: 0, to: base, firstSum });
    runs.push({ memory, position: tail, from: base, to: pages, firstSum });
    position += base * PAGE_BYTES;
    tail += (pages - base) * PAGE_BYTES;
    firstSum += pages;
  }
  return runs;
}

const sumOf = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0);
