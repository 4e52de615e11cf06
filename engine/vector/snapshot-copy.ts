// Copies the memory of an index into a file while the writer thread changes it (a fuzzy copy). A pass writes
// every page that was marked as changed since it was last written; without marks, every page whose checksum
// differs. The last pass runs while nothing is put, and only copies the changed pages to a buffer. So the
// writer waits for copying a few pages, never for a file.
// Invariant: the checksum of a page is that of the bytes in the file.
//
// The newest segment grows most, and its new pages follow it in the file. The last pass buffers the new pages
// of the other segments, which follow after that, segment by segment.
import type { LargeFile } from '../fs/large-file.js';
import { H_BREAK, H_LIVE, PAGE_BYTES } from '../../wasm/layout.js';
import type { Segment } from './segment.js';
import { createMemory, instantiate, type Kernel } from './wasm.js';

/** Pages that are compared, then written, together. */
const chunkPages = 256;

export const pagesOf = (bytes: number): number => Math.ceil(bytes / PAGE_BYTES);

interface Part {
  segment: Segment;
  /** Bytes in use; 0 while the segment is empty. */
  length: number;
  /** Number of pages that start at `position`; later pages start at `tail`. */
  basePages: number;
  position: number;
  tail: number;
  /** Checksum of each page; NaN before it was written. */
  sums: Float64Array;
  marks: Uint8Array | undefined;
}

/** Pages buffered by the last pass. */
interface BufferedPages {
  part: Part;
  page: number;
  bytes: Buffer;
}

/** Returns whether a page must be written (again), and clears its mark. */
function isChanged({ segment, sums, marks }: Part, page: number): boolean {
  const isNew = Number.isNaN(sums[page]!);
  if (!marks) return isNew || segment.kernel.pageSum(page * PAGE_BYTES) !== sums[page];
  if (marks[page] === 0) return isNew;
  // Cleared before the page is copied, so a later change marks it again.
  Atomics.store(marks, page, 0);
  return true;
}

export class SnapshotCopy {
  readonly #parts: Part[] = [];
  readonly #buffered: BufferedPages[] = [];
  readonly #scratch: Buffer;
  readonly #scratchKernel: Kernel;

  /** `tick` is called about once per megabyte and may throw to stop the copy. */
  constructor(
    private readonly file: LargeFile,
    bodyStart: number,
    segments: readonly Segment[],
    private readonly tick: () => void,
  ) {
    const memory = createMemory(chunkPages * PAGE_BYTES);
    this.#scratch = Buffer.from(memory.buffer);
    this.#scratchKernel = instantiate(memory);
    let position = bodyStart;
    for (const segment of segments) {
      const length = segment.formatted ? segment.bytes : 0;
      const sums = new Float64Array(pagesOf(length)).fill(Number.NaN);
      const marks = segment.formatted ? segment.marks : undefined;
      const basePages = pagesOf(length);
      this.#parts.push({ segment, length, basePages, position, tail: 0, sums, marks });
      position += basePages * PAGE_BYTES;
    }
  }

  get #newest(): Part {
    return this.#parts.at(-1)!;
  }

  get lengths(): number[] {
    return this.#parts.map(({ length }) => length);
  }

  /** Number of pages of each segment in the first part of the body; see `flush`. */
  get basePages(): number[] {
    return this.#parts.map(({ basePages }) => basePages);
  }

  /** Returns the end of the body in the file. */
  get end(): number {
    return this.#parts.reduce(
      (end, part) => end + part.sums.length * PAGE_BYTES,
      this.#parts[0]!.position,
    );
  }

  /** Returns the checksums of all pages, segment by segment. */
  sums(): Float64Array {
    const all = new Float64Array(this.#parts.reduce((sum, part) => sum + part.sums.length, 0));
    let at = 0;
    for (const { sums } of this.#parts) {
      all.set(sums, at);
      at += sums.length;
    }
    return all;
  }

  /** Writes all changes since the last pass; returns their bytes. Other threads may continue to write. */
  pass(): number {
    let pages = 0;
    this.#extendPart(this.#newest, this.#newest.segment.bytes);
    for (const part of this.#parts) {
      for (const [from, to] of this.#changedRuns(part)) {
        this.#copy(part, from, to);
        this.#write(part, from, to);
        pages += to - from;
      }
    }
    return pages * PAGE_BYTES;
  }

  /**
   * Runs the last pass; nothing may be put meanwhile. Returns the number of live vectors in the snapshot.
   * `flush` writes the buffered pages.
   */
  freeze(): number {
    let live = 0;
    for (const part of this.#parts) live += this.#bufferHeader(part);
    for (const part of this.#parts) {
      const { buffer } = part.segment.memory;
      for (const [from, to] of this.#changedRuns(part, 1)) {
        const bytes = Buffer.allocUnsafe((to - from) * PAGE_BYTES);
        bytes.set(new Uint8Array(buffer, from * PAGE_BYTES, bytes.length));
        this.#buffered.push({ part, page: from, bytes });
      }
    }
    return live;
  }

  flush(): void {
    let tail = this.#newest.position + this.#newest.basePages * PAGE_BYTES;
    for (const part of this.#parts) {
      part.tail = tail;
      tail += (part.sums.length - part.basePages) * PAGE_BYTES;
    }
    for (const { part, page, bytes } of this.#buffered) {
      this.#scratch.set(bytes);
      this.#write(part, page, page + bytes.length / PAGE_BYTES);
    }
    this.#buffered.length = 0;
  }

  /** Buffers the header page first: it contains the length of the snapshot. */
  #bufferHeader(part: Part): number {
    if (!part.segment.formatted) return 0;
    const bytes = Buffer.allocUnsafe(PAGE_BYTES);
    bytes.set(new Uint8Array(part.segment.memory.buffer, 0, PAGE_BYTES));
    this.#extendPart(part, bytes.readUInt32LE(H_BREAK));
    bytes.writeUInt32LE(part.length, H_BREAK);
    this.#buffered.push({ part, page: 0, bytes });
    return bytes.readUInt32LE(H_LIVE);
  }

  /** Extends the part of a segment that has grown or was formatted. */
  #extendPart(part: Part, length: number): void {
    if (!part.segment.formatted || length <= part.length) return;
    part.segment.buffer(length);
    const sums = new Float64Array(pagesOf(length)).fill(Number.NaN);
    // The former last page may have grown too, so it is written again.
    sums.set(part.sums.subarray(0, Math.floor(part.length / PAGE_BYTES)));
    part.length = length;
    part.sums = sums;
    if (part === this.#newest) part.basePages = sums.length;
  }

  /** Yields runs [from, to) of pages that differ from the file, none across a chunk. */
  *#changedRuns(part: Part, first = 0): Generator<[number, number]> {
    const pages = part.sums.length;
    for (let chunk = 0; chunk < pages; chunk += chunkPages) {
      this.tick();
      const end = Math.min(pages, chunk + chunkPages);
      let from = -1;
      for (let page = Math.max(first, chunk); page < end; page++) {
        const changed = isChanged(part, page);
        if (changed && from < 0) from = page;
        if (changed || from < 0) continue;
        yield [from, page];
        from = -1;
      }
      if (from >= 0) yield [from, end];
    }
  }

  #copy({ segment }: Part, from: number, to: number): void {
    const start = from * PAGE_BYTES;
    this.#scratch.set(new Uint8Array(segment.memory.buffer, start, to * PAGE_BYTES - start));
  }

  /** Writes the scratch buffer to the file as pages [from, to), and records their checksums. */
  #write(part: Part, from: number, to: number): void {
    for (let page = from; page < to; page++) {
      part.sums[page] = this.#scratchKernel.pageSum((page - from) * PAGE_BYTES);
    }
    const middle = Math.max(from, Math.min(to, part.basePages));
    this.#writeAt(0, middle - from, part.position + from * PAGE_BYTES);
    const tail = part.tail + (middle - part.basePages) * PAGE_BYTES;
    this.#writeAt(middle - from, to - from, tail);
  }

  /** Writes pages [from, to) of the scratch buffer. */
  #writeAt(from: number, to: number, position: number): void {
    this.file.write(this.#scratch.subarray(from * PAGE_BYTES, to * PAGE_BYTES), position);
  }
}
