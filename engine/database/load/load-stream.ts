// Feeds a stream of NDJSON bytes into a bulk load: cuts it into chunks at line ends, keeps a few chunks in
// progress, and skips what an earlier attempt committed. Memory is a few chunks, whatever the length of the
// stream.
import { crc32 } from 'node:zlib';
import { fail } from '../../base/errors.js';
import type { LoadEnd, LoadPosition, StreamPart } from './load-progress.js';
import type { BulkLoad, ReplayedChunk } from './load-run.js';
import type { Reject } from './row/row-batch.js';

/** A row that was not loaded, with its text. */
export interface RejectedRow extends Reject {
  text: string;
}

export interface LoadFeedEvents {
  /** Called with rows that were not loaded, in order. */
  onRejects?: (rows: readonly RejectedRow[]) => void;
  /** Called with the number of bytes of the stream that are done. */
  onDone?: (bytes: number) => void;
}

/**
 * Maximum bytes of a chunk. Elements of one chunk share the writes to the adjacency of their endpoints. A
 * million random edges take 17 s of CPU with 8 MiB, 15.2 s with 16 MiB, 14.9 s with 32 MiB. Other writes wait
 * for at most one chunk.
 */
const chunkBytesMax = 16 * 1024 * 1024;

/**
 * The first chunks are short, so that the writer starts early. Each chunk is read while the one before it is
 * written; reading a row takes two thirds of the time of writing it.
 */
const firstBytes = 1024 * 1024;
const growth = 1.5;

/** Maximum bytes of a row. No element is that long in JSON: a longer row means a stream without line ends. */
const rowBytesMax = 256 * 1024 * 1024;

const runningMax = 3;
const textMax = 64 * 1024;

export class LoadStream {
  nodes = 0;
  edges = 0;
  vectors = 0;
  /** Number of loaded rows that changed an existing element. */
  updated = 0;
  rejected = 0;
  /** Number of the line up to which everything is done. */
  doneLine = 1;
  readonly hasListener = true;
  /** Bytes that do not form a chunk yet. */
  #rest: Uint8Array[] = [];
  #restBytes = 0;
  #chunkBytes = firstBytes;
  #offset = 0;
  #line = 1;
  #replayed = 0;
  #ready: Promise<void> | undefined;
  /** Leading blocks of the rest that contain no line end, and their bytes. */
  #searched = { blocks: 0, bytes: 0 };
  readonly #running: Promise<void>[] = [];

  constructor(
    private readonly load: BulkLoad,
    private readonly events: LoadFeedEvents = {},
  ) {}

  /** Number of rows that an earlier attempt loaded and that are unchanged. */
  get resumed(): number {
    const { nodes, edges, vectors, end } = this.load.progress;
    return end ? 0 : nodes + edges + vectors;
  }

  /** True if everything was loaded before. */
  get repeated(): boolean {
    return this.load.progress.end !== undefined;
  }

  /** Bytes of the stream received so far. */
  get received(): number {
    return this.#offset + this.#restBytes;
  }

  /** Takes the next bytes. Resolves when there is space for more. Fails when the load fails. */
  async write(bytes: Uint8Array): Promise<void> {
    if (!this.repeated) this.load.checkRoom();
    await (this.#ready ??= this.load.prepare());
    this.#rest.push(bytes);
    this.#restBytes += bytes.length;
    for (let size = this.#nextSize(); size > 0; size = this.#nextSize())
      await this.#sendChunk(size);
  }

  /**
   * Ends the stream, whose last part was `part`. Resolves when everything is on disk and the load is
   * finished. If the load had finished before, the counts are those of that time.
   */
  async end(part?: StreamPart): Promise<void> {
    await (this.#ready ??= this.load.prepare());
    for (let size = this.#nextSize(); size > 0; size = this.#nextSize())
      await this.#sendChunk(size);
    // A stream that ends within the committed part is a different stream; reading it again reports that. The
    // last chunk of a new stream, even an empty one, contains the deferred rows.
    if (this.load.isMendable && this.#replayed < this.load.chunks.length) {
      await this.load.takeBack(this.#replayed);
    }
    const { progress, chunks } = this.load;
    const isShort = this.#replayed < chunks.length;
    const isNew = progress.end === undefined && !isShort;
    if (isNew || isShort || this.#restBytes > 0) await this.#sendChunk(this.#restBytes, { part });
    await Promise.all(this.#running.splice(0));
    if (progress.end === undefined) return;
    ({
      nodes: this.nodes,
      edges: this.edges,
      vectors: this.vectors,
      rejected: this.rejected,
    } = progress);
    this.updated = progress.updated ?? 0;
  }

  /** Returns the bytes of the next chunk, or 0 while there is none. */
  #nextSize(): number {
    const committed = this.load.chunks[this.#replayed];
    if (committed !== undefined) {
      const size = committed.to.offset - this.#offset;
      return size <= this.#restBytes ? size : 0;
    }
    if (this.#restBytes < this.#chunkBytes) return 0;
    const end = lineEnd(this.#rest, this.#chunkBytes, this.#searched);
    if (end === 0) this.#searched = { blocks: this.#rest.length, bytes: this.#restBytes };
    if (end === 0 && this.#restBytes > rowBytesMax) {
      fail('VALUE_TOO_LARGE', {
        param: `row ${this.#line}`,
        size: this.#restBytes,
        max: rowBytesMax,
      });
    }
    return end;
  }

  /** Removes the next bytes from the rest and returns a copy of them. */
  #take(size: number): Buffer<ArrayBuffer> {
    // A Buffer finds a byte eight times as fast as a plain array.
    const bytes = Buffer.from(new ArrayBuffer(size));
    this.#searched = { blocks: 0, bytes: 0 };
    let at = 0;
    let taken = 0;
    for (const block of this.#rest) {
      if (at + block.length > size) break;
      bytes.set(block, at);
      at += block.length;
      taken++;
    }
    this.#rest.splice(0, taken);
    if (at < size) {
      const [block] = this.#rest;
      bytes.set(block!.subarray(0, size - at), at);
      this.#rest[0] = block!.subarray(size - at);
    }
    this.#restBytes -= size;
    return bytes;
  }

  async #sendChunk(size: number, end?: LoadEnd): Promise<void> {
    const bytes = this.#take(size);
    const line = this.#line;
    const committed = this.load.chunks[this.#replayed];
    // The rows differ from the committed ones: from here on, load everything as it is now.
    if (committed && this.load.isMendable && crc32(bytes) !== committed.checksum) {
      await this.load.takeBack(this.#replayed);
      this.#rest.unshift(bytes);
      this.#restBytes += size;
      return;
    }
    this.#offset += size;
    this.#line += countLines(bytes);
    const to = { offset: this.#offset, line: this.#line };
    if (committed !== undefined) {
      this.#replayed++;
      const result = await this.load.replay(bytes, committed);
      this.#refused(result, line);
      this.#done(to);
      return;
    }
    this.#chunkBytes = Math.min(chunkBytesMax, Math.ceil(this.#chunkBytes * growth));
    const work = this.load.rows(bytes, line, to, end).then((result) => {
      this.nodes += result.nodes;
      this.edges += result.edges;
      this.vectors += result.vectors;
      this.updated += result.updated;
      this.#refused(result, line);
      this.#done(to);
    });
    work.catch(() => undefined);
    this.#running.push(work);
    if (this.#running.length >= runningMax) await this.#running.shift();
  }

  #done({ offset, line }: LoadPosition): void {
    this.doneLine = line;
    this.events.onDone?.(offset);
  }

  #refused(result: ReplayedChunk, line: number): void {
    this.rejected += result.rejects.length;
    if (result.rejects.length > 0) this.events.onRejects?.(withTexts(result, line));
  }
}

/**
 * Returns the end of the last line that ends within `size` bytes. For a longer line, returns its end; without
 * any line end, 0.
 */
function lineEnd(
  blocks: readonly Uint8Array[],
  size: number,
  searched: { blocks: number; bytes: number },
): number {
  let end = 0;
  let start = searched.bytes;
  for (let at = searched.blocks; at < blocks.length; at++) {
    const block = blocks[at]!;
    if (end > 0 && start >= size) break;
    const within = size - start;
    const last = within > 0 ? block.lastIndexOf(10, within - 1) : -1;
    const found = last >= 0 || end > 0 ? last : block.indexOf(10, Math.max(0, within));
    if (found >= 0) end = start + found + 1;
    start += block.length;
  }
  return end;
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}

/**
 * Adds the text to each row. Rows of this chunk are in its bytes; the text of a deferred row is stored with
 * the row.
 */
function withTexts({ bytes, rejects, retried }: ReplayedChunk, first: number): RejectedRow[] {
  const earlier = new Map(retried.map(({ line, text }) => [line, text]));
  let line = first;
  let start = 0;
  return rejects.map((reject) => {
    const apart = reject.line < first ? earlier.get(reject.line) : undefined;
    if (apart) return { ...reject, text: textIn(apart, 0) };
    for (; line < reject.line; line++) start = bytes.indexOf(10, start) + 1;
    return { ...reject, text: textIn(bytes, start) };
  });
}

/** Returns the line that starts there, cut to the length that is shown. */
function textIn(bytes: Uint8Array, start: number): string {
  const newline = bytes.indexOf(10, start);
  const end = Math.min(newline < 0 ? bytes.length : newline, start + textMax);
  return Buffer.from(bytes.subarray(start, end)).toString();
}
