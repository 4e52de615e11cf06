// A stream of NDJSON bytes into a bulk load: cuts it into pieces at line ends, keeps a few of them
// under way, and passes over what an earlier attempt has committed. Memory is a few pieces, however
// long the stream.
import type { BulkLoad } from './load-run.js';
import type { Reject } from './row-batch.js';

/** A row that was not loaded, with its text. */
export interface FedRow extends Reject {
  text: string;
}

export interface LoadFeedEvents {
  /** Rows that were not loaded, in order. */
  onRejects?: (rows: readonly FedRow[]) => void;
  /** Bytes of the stream that are done. */
  onDone?: (bytes: number) => void;
}

/**
 * Pieces are about this long. Elements of one piece share what is written to the adjacency of their
 * ends (a million edges at random: 17 s of CPU with 8 MiB, 15.2 with 16, 14.9 with 32); writes of
 * others wait for a piece at most.
 */
const pieceBytes = 16 * 1024 * 1024;
const underwayMax = 3;
const textMax = 64 * 1024;

export class LoadFeed {
  nodes = 0;
  edges = 0;
  vectors = 0;
  rejected = 0;
  /** Rows that an earlier attempt loaded. */
  readonly resumed: number;
  #rest: Uint8Array[] = [];
  #restBytes = 0;
  #offset = 0;
  #line = 1;
  #replayed = 0;
  readonly #underway: Promise<void>[] = [];

  constructor(
    private readonly load: BulkLoad,
    private readonly events: LoadFeedEvents = {},
  ) {
    const { nodes, edges, vectors } = load.progress;
    this.resumed = nodes + edges + vectors;
  }

  /** Takes the next bytes; resolves when there is room for more. Fails with the load. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#rest.push(bytes);
    this.#restBytes += bytes.length;
    for (let size = this.#nextSize(); size > 0; size = this.#nextSize()) await this.#piece(size);
  }

  /** The stream is over: resolves when all of it is on disk. `finish` is the load's. */
  async end(): Promise<void> {
    for (let size = this.#nextSize(); size > 0; size = this.#nextSize()) await this.#piece(size);
    if (this.#restBytes > 0) await this.#piece(this.#restBytes);
    await Promise.all(this.#underway.splice(0));
  }

  /** Bytes of the next piece, 0 while there is none. */
  #nextSize(): number {
    const committed = this.load.pieces[this.#replayed];
    if (committed !== undefined) {
      const size = committed.to.offset - this.#offset;
      return size <= this.#restBytes ? size : 0;
    }
    if (this.#restBytes < pieceBytes) return 0;
    return this.#joined().lastIndexOf(10) + 1;
  }

  #joined(): Uint8Array {
    if (this.#rest.length > 1) this.#rest = [Buffer.concat(this.#rest)];
    return this.#rest[0]!;
  }

  async #piece(size: number): Promise<void> {
    const all = this.#joined();
    const bytes = all.subarray(0, size);
    this.#rest = [all.subarray(size)];
    this.#restBytes -= size;
    const line = this.#line;
    this.#offset += size;
    this.#line += countLines(bytes);
    const to = { offset: this.#offset, line: this.#line };
    const committed = this.load.pieces[this.#replayed];
    if (committed !== undefined) {
      this.#replayed++;
      await this.load.replay(bytes, committed);
      this.events.onDone?.(to.offset);
      return;
    }
    const work = this.load.rows(bytes, line, to).then((result) => {
      this.nodes += result.nodes;
      this.edges += result.edges;
      this.vectors += result.vectors;
      this.rejected += result.rejects.length;
      if (result.rejects.length > 0) {
        this.events.onRejects?.(withTexts(bytes, line, result.rejects));
      }
      this.events.onDone?.(to.offset);
    });
    work.catch(() => undefined);
    this.#underway.push(work);
    if (this.#underway.length >= underwayMax) await this.#underway.shift();
  }
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}

function withTexts(bytes: Uint8Array, first: number, rejects: readonly Reject[]): FedRow[] {
  const rows: FedRow[] = [];
  let line = first;
  let start = 0;
  for (const reject of rejects) {
    for (; line < reject.line; line++) start = bytes.indexOf(10, start) + 1;
    const newline = bytes.indexOf(10, start);
    const end = Math.min(newline < 0 ? bytes.length : newline, start + textMax);
    rows.push({ ...reject, text: Buffer.from(bytes.subarray(start, end)).toString() });
  }
  return rows;
}
