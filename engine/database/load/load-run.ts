// Runs one bulk load for its caller: chunks of whole lines go in, counts and rejected rows come out. It reads
// rows on a separate thread, embeds texts, and sends batches to the writer in order.
// Invariant: a resolved chunk is on disk, together with the record that it is done. A load that failed, was
// abandoned or lost its thread has no thread any longer, and nothing waits for it.
import type { MessagePort } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import {
  type ErrorData,
  TrellisError,
  toErrorData,
  restoreError,
  excerpt,
  fail,
} from '../../base/errors.js';
import type { LoadCommand } from './load-writer.js';
import type { FormerLoad, LoadedFile } from './load-files.js';
import type { LoadEnd, LoadPosition, LoadProgress } from './load-progress.js';
import { type LoadedChunk, rejectsOf } from './load-piece.js';
import type { FromLoader, ReadChunk, ToLoader } from './row-reader-thread.js';
import type { BatchResult, Reject, RetriedRow, RowBatch, RowText } from './row/row-batch.js';

/** Refused rows of a chunk that was committed before. */
export type ReplayedChunk = Pick<ChunkResult, 'rejects' | 'bytes' | 'retried'>;

/** Result of one chunk. */
export interface ChunkResult {
  nodes: number;
  edges: number;
  vectors: number;
  /** Number of rows that changed an existing element. */
  updated: number;
  rejects: Reject[];
  /** Bytes of the rows, returned by the thread that read them. */
  bytes: Uint8Array;
  /** Rows of earlier chunks that were deferred until this one. */
  retried: readonly RetriedRow[];
}

export interface BulkLoad {
  /** True if the rows may differ from the earlier ones: `takeBack` then rolls back what they replace. */
  readonly isMendable: boolean;
  /** What was loaded under this name before. The next chunk begins there, unless the load has finished. */
  readonly progress: LoadProgress;
  /** Committed chunks. Before anything else is loaded, `replay` must read the rows of each again. */
  readonly chunks: readonly LoadedChunk[];
  /** True if the load is over: finished, failed, or ended in favor of another load. */
  readonly isOver: boolean;
  /**
   * Reads the rows of a committed chunk again. It transfers the whole buffer of the bytes, as `rows` does.
   * Fails when the bytes differ.
   */
  replay(bytes: Uint8Array<ArrayBuffer>, chunk: LoadedChunk): Promise<ReplayedChunk>;
  /** Must be awaited first. It takes over the load that this one continues. */
  prepare(): Promise<void>;
  /** Rolls back committed chunks, from this one on. Only before anything else is loaded. */
  takeBack(from: number): Promise<void>;
  /**
   * Loads whole lines, the first of which is number `line`; they end at `to`. With `end`, they are the last
   * ones, and the load finishes in their transaction.
   */
  rows(
    bytes: Uint8Array<ArrayBuffer>,
    line: number,
    to: LoadPosition,
    end?: LoadEnd,
  ): Promise<ChunkResult>;
  /** Finishes the load, unless the last rows did, and drops its names. */
  finish(end?: LoadEnd): Promise<void>;
  /** Fails when nothing can be written, so that the caller need not collect rows for a chunk first. */
  checkRoom(): void;
  /** Ends the load at its current position. It may continue under the same name. */
  close(): Promise<void>;
}

export interface LoadHooks {
  /** Starts the thread that reads rows. `onEnd` is called when it has ended. */
  start: (onEnd: (error?: Error) => void) => MessagePort;
  execute: (command: LoadCommand) => Promise<unknown>;
  embed: (texts: readonly RowText[]) => Promise<(Float64Array | ErrorData)[]>;
  /** Resolves with the schema version when chunks may be read. */
  admit: () => Promise<number>;
  /** Called when an admitted chunk is over. */
  leave: () => void;
  /** Called when the load is over. */
  over: () => void;
  /** Fails if the disk is too full for a write. */
  checkRoom: () => void;
}

/** Returns the error for a client that continues a load that is over. */
export function loadOverError(name: string): ErrorData {
  const hint = 'Send it again from its beginning: what was loaded is not loaded twice.';
  return { code: 'NOT_FOUND', args: { kind: 'running import', name }, hint };
}

/** What is known of a load when it begins. */
interface KnownLoad {
  name: string;
  isNamed: boolean;
  isExclusive: boolean;
  isStrict: boolean;
  files: readonly LoadedFile[] | undefined;
  /** The load that it continues. */
  former: FormerLoad | undefined;
  /** Caller to whose share the load counts. */
  holder: string | undefined;
}

interface Waiting {
  resolve: (read: ReadChunk) => void;
  reject: (error: TrellisError) => void;
}

export class LoadRun implements BulkLoad {
  readonly name: string;
  #port: MessagePort | undefined;
  #lastId = 0;
  #schema = -1;
  /** The chunk that is with the writer. */
  #writing: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Map<number, Waiting>();
  #running = 0;
  #lastAt = performance.now();
  #isFinished = false;
  /** Number of the next chunk. */
  #nextChunk: number;
  /** Error of every later call, when nothing can be loaded. */
  #over: ErrorData | undefined;

  constructor(
    private readonly known: KnownLoad,
    public progress: LoadProgress,
    public chunks: readonly LoadedChunk[],
    private readonly hooks: LoadHooks,
  ) {
    this.name = excerpt(known.name);
    this.#nextChunk = chunks.length;
    if (known.former === undefined) return;
    const { end: _, ...rest } = progress;
    this.progress = rest;
  }

  get isMendable(): boolean {
    return this.known.files !== undefined && this.progress.end === undefined;
  }

  get holder(): string | undefined {
    return this.known.holder;
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /** Milliseconds since the last request of the caller. */
  get idleMs(): number {
    return this.#running > 0 ? 0 : performance.now() - this.#lastAt;
  }

  checkRoom(): void {
    this.hooks.checkRoom();
  }

  async prepare(): Promise<void> {
    const { former, name, files } = this.known;
    const last = this.chunks.at(-1);
    // The last chunk of a finished load contains the rows that were deferred until then.
    const isOpen = last?.isLeaving === true || former?.progress.end !== undefined;
    if (former === undefined && !isOpen) return;
    await this.#runChunk(async () => {
      if (former) {
        await this.hooks.execute({ step: 'adopt', former: former.digest, name, files: files! });
      }
      if (isOpen) await this.#takeBack(this.chunks.length - 1);
    });
  }

  takeBack(from: number): Promise<void> {
    return this.#runChunk(() => this.#takeBack(from));
  }

  async #takeBack(from: number): Promise<void> {
    const { name } = this.known;
    for (let chunk = this.#nextChunk - 1; chunk >= from; chunk--) {
      const { made, counts, from: start } = this.chunks[chunk]!;
      if (made === undefined || counts === undefined) this.#failOlder();
      while (await this.hooks.execute({ step: 'takeBack', name, chunk })) this.#checkOpen();
      const { nodes, edges, vectors, rejected, updated } = this.progress;
      this.progress = {
        ...start,
        nodes: nodes - counts.nodes,
        edges: edges - counts.edges,
        vectors: vectors - counts.vectors,
        updated: (updated ?? 0) - (counts.updated ?? 0),
        rejected: rejected - counts.rejected,
        pieces: chunk,
      };
      this.chunks = this.chunks.slice(0, chunk);
      this.#nextChunk = chunk;
    }
  }

  #failOlder(): never {
    const what = 'an earlier version loaded them, which did not note what each of them made';
    fail('IMPORT_KNOWN', { file: this.name, what: `its rows cannot be taken back: ${what}` });
  }

  replay(bytes: Uint8Array<ArrayBuffer>, chunk: LoadedChunk): Promise<ReplayedChunk> {
    return this.#runChunk(async (schema) => {
      const { end } = this.progress;
      if (end) this.#checkSame(crc32(bytes), chunk);
      // A finished load only needs to report the refused rows.
      if (end && this.progress.rejected === 0) return { rejects: [], bytes, retried: [] };
      const isLast = end !== undefined && chunk === this.chunks.at(-1);
      const read = await this.#read(bytes, chunk.from.line, schema, isLast);
      this.#checkSame(read.checksum, chunk);
      const { batch } = read;
      const { name } = this.known;
      if (!end) await this.hooks.execute({ step: 'replay', name, batch, chunk });
      const rejects = [...batch.rejects, ...rejectsOf(chunk)].sort((a, b) => a.line - b.line);
      if (this.known.isStrict && !end && rejects.length > 0) await this.#refuse(rejects);
      return { rejects, bytes: read.bytes, retried: batch.retried };
    });
  }

  #checkSame(sum: number, chunk: LoadedChunk): void {
    if (sum !== chunk.checksum) this.#failOther();
  }

  #failOther(): never {
    const allowed = 'one that no import of other rows has had';
    fail('PARAM_VALUE', { param: 'name', allowed, got: this.name });
  }

  rows(
    bytes: Uint8Array<ArrayBuffer>,
    line: number,
    to: LoadPosition,
    end?: LoadEnd,
  ): Promise<ChunkResult> {
    return this.#runChunk((schema) => {
      if (this.progress.end) this.#failOther();
      const former = this.#writing;
      const writing = this.#write(this.#read(bytes, line, schema, !!end), former, to, end);
      this.#writing = writing;
      return writing;
    });
  }

  /** Runs one operation under one schema. A failure ends the load. */
  async #runChunk<T>(work: (schema: number) => Promise<T>): Promise<T> {
    this.#running++;
    try {
      this.#checkOpen();
      const schema = await this.hooks.admit();
      try {
        this.#checkOpen();
        return await work(schema);
      } finally {
        this.hooks.leave();
      }
    } catch (error) {
      const { error: data } = toErrorData(error);
      this.abandon(data);
      throw error;
    } finally {
      this.#running--;
      this.#lastAt = performance.now();
    }
  }

  #checkOpen(): void {
    if (this.#over) throw new TrellisError(this.#over);
  }

  async #write(
    reading: Promise<ReadChunk>,
    former: Promise<unknown>,
    to: LoadPosition,
    end: LoadEnd | undefined,
  ): Promise<ChunkResult> {
    const { batch, checksum, bytes } = await reading;
    if (batch.texts.length > 0) batch.embedded = await this.hooks.embed(batch.texts);
    await former;
    this.#checkOpen();
    this.hooks.checkRoom();
    if (this.known.isStrict && batch.rejects.length > 0) await this.#refuse(batch.rejects);
    const result = (await this.hooks.execute(
      this.#rowsCommand(batch, checksum, to, end),
    )) as BatchResult;
    const { retried } = batch;
    if (this.known.isStrict && result.rejects.length > 0) await this.#refuse(result.rejects);
    const { nodes, edges, vectors, updated } = result;
    const { isNamed, isStrict } = this.known;
    this.#isFinished ||= isNamed && !isStrict && end !== undefined;
    const rejects = [...batch.rejects, ...result.rejects].sort((a, b) => a.line - b.line);
    return { nodes, edges, vectors, updated, rejects, bytes, retried };
  }

  #rowsCommand(
    batch: RowBatch,
    checksum: number,
    to: LoadPosition,
    end: LoadEnd | undefined,
  ): LoadCommand {
    const { name, isNamed, isExclusive, isStrict, files } = this.known;
    const chunk = this.#nextChunk++;
    return {
      ...{ step: 'rows', name, batch, checksum, to, isExclusive, isStrict, chunk },
      ...(chunk === 0 && isNamed && { files }),
      // Rows at the end of a strict load may be refused, so the load finishes only when none was.
      ...(isNamed && end && !isStrict && { end }),
    };
  }

  /** Rolls everything back, and fails with the first refused row. */
  async #refuse(rejects: readonly Reject[]): Promise<never> {
    const { line, error } = rejects.reduce((a, b) => (b.line < a.line ? b : a));
    const { name } = this.known;
    if (this.chunks.some(({ made }) => made === undefined)) this.#failOlder();
    // Rows of an earlier attempt that was not strict: the former values of their elements were not recorded.
    const updatedBefore = this.chunks.reduce((sum, { counts }) => sum + (counts?.updated ?? 0), 0);
    while (this.#nextChunk > 0) {
      const chunk = this.#nextChunk - 1;
      while (await this.hooks.execute({ step: 'takeBack', name, chunk })) this.#checkOpen();
      this.#nextChunk = chunk;
    }
    await this.hooks.execute({ step: 'forget', name });
    const left =
      updatedBefore === 0
        ? 'Nothing of the import is in the data.'
        : `${updatedBefore} elements that an earlier attempt changed keep their new values.`;
    const reason = new TrellisError(error).message.replace(/\.$/, '');
    return fail('ROW_REFUSED', { line, reason, left });
  }

  #read(
    bytes: Uint8Array<ArrayBuffer>,
    line: number,
    schema: number,
    isLast: boolean,
  ): Promise<ReadChunk> {
    const id = ++this.#lastId;
    const refresh = schema !== this.#schema;
    const message: ToLoader = { kind: 'rows', id, bytes, line, refresh, isLast };
    this.#schema = schema;
    this.#port ??= this.#start();
    this.#port.postMessage(message, [bytes.buffer]);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #start(): MessagePort {
    const port = this.hooks.start((error) => {
      this.abandon(error ? toErrorData(error).error : { code: 'INTERNAL', args: {} });
    });
    port.on('message', ({ id, read, error, stack }: FromLoader) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (read) return waiting?.resolve(read);
      waiting?.reject(restoreError(error!, stack));
    });
    return port;
  }

  async finish(end: LoadEnd = {}): Promise<void> {
    await this.#writing;
    const { name, isNamed, isExclusive, isStrict, files } = this.known;
    const isNoted = this.#isFinished || this.progress.end !== undefined;
    if (!isNoted) {
      await this.#runChunk(() =>
        this.hooks.execute(
          isNamed ? { step: 'finish', name, end, files } : { step: 'forget', name },
        ),
      );
    }
    if (isStrict && isNamed) {
      await this.#runChunk(async () => {
        while (await this.hooks.execute({ step: 'dropUndo', name })) this.#checkOpen();
      });
    }
    if (isExclusive) await this.#runChunk(() => this.hooks.execute({ step: 'settle' }));
    this.abandon(loadOverError(this.name));
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => undefined);
    this.abandon(loadOverError(this.name));
  }

  /** Ends the load immediately. Everything that waits for its thread fails with this error. */
  abandon(error: ErrorData): void {
    if (this.#over) return;
    this.#over = error;
    this.hooks.over();
    for (const { reject } of this.#waiting.values()) reject(new TrellisError(error));
    this.#waiting.clear();
    if (this.#port === undefined) return;
    this.#port.postMessage({ kind: 'close' } satisfies ToLoader);
    this.#port.unref();
    // Makes the writer drop the names. If the writer has ended, there are none.
    this.hooks.execute({ step: 'drop', name: this.known.name }).catch(() => undefined);
  }
}
