// One bulk load as its caller sees it: pieces of whole lines go in, counts and rejected rows come
// out. Reads rows on a thread of its own, embeds texts, hands batches to the writer in order.
// Invariant: a resolved piece is on disk, and so is the note that it is done; a load that failed, was
// abandoned or whose thread has ended has no thread any more, and nobody waits for it.
import type { MessagePort } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import {
  type ErrorData,
  TrellisError,
  errorDataOf,
  errorOf,
  excerpt,
  fail,
} from '../../base/errors.js';
import type { LoadOrder } from './load-writer.js';
import type { LoadEnd, LoadPosition, LoadProgress, LoadedPiece } from './load-progress.js';
import type { FromLoader, ReadPiece, ToLoader } from './loader.js';
import type { BatchResult, Reject, RetriedRow, RowText } from './row/row-batch.js';

/** What has become of one piece. */
export interface PieceResult {
  nodes: number;
  edges: number;
  vectors: number;
  /** How many of them changed an element that was there. */
  updated: number;
  rejects: Reject[];
  /** The rows, back from the thread that read them. */
  bytes: Uint8Array;
  /** Rows of earlier pieces that were put aside until this one. */
  retried: readonly RetriedRow[];
}

export interface BulkLoad {
  /** What was loaded under this name before; the next piece begins there, unless it has an end. */
  readonly progress: LoadProgress;
  /** Committed pieces: before anything else is loaded, `replay` reads the rows of each again. */
  readonly pieces: readonly LoadedPiece[];
  /** Whether the load is over: finished, failed, or ended for the sake of another. */
  readonly isOver: boolean;
  /** Takes the whole buffer of the bytes away, as `rows` does. Fails when they are others. */
  replay(bytes: Uint8Array<ArrayBuffer>, piece: LoadedPiece): Promise<void>;
  /**
   * Loads whole lines, the first of which is number `line`; they end at `to`. With `end` they are
   * the last ones, and the load is finished in their transaction.
   */
  rows(
    bytes: Uint8Array<ArrayBuffer>,
    line: number,
    to: LoadPosition,
    end?: LoadEnd,
  ): Promise<PieceResult>;
  /** Everything is loaded: notes that, unless the last rows did, and forgets names. */
  finish(end?: LoadEnd): Promise<void>;
  /** Fails when nothing can be written: whoever collects rows for a piece hears it before. */
  checkRoom(): void;
  /** Ends the load where it stands; it may go on under the same name. */
  close(): Promise<void>;
}

export interface LoadHooks {
  /** Starts the thread that reads rows; `onEnd` hears when it is gone. */
  start: (onEnd: (error?: Error) => void) => MessagePort;
  order: (order: LoadOrder) => Promise<unknown>;
  embed: (texts: readonly RowText[]) => Promise<Float64Array[]>;
  /** Resolves when pieces may be read, with a number that changes with the schema. */
  admit: () => Promise<number>;
  /** An admitted piece is over. */
  leave: () => void;
  /** The load is. */
  over: () => void;
  /** Fails when nothing can be written. */
  checkRoom: () => void;
}

/** What is answered to whoever goes on with a load that is over. */
export function goneError(name: string): ErrorData {
  const hint = 'Send it again from its beginning: what was loaded is not loaded twice.';
  return { code: 'NOT_FOUND', args: { kind: 'running import', name }, hint };
}

interface Waiting {
  resolve: (read: ReadPiece) => void;
  reject: (error: TrellisError) => void;
}

export class LoadRun implements BulkLoad {
  readonly name: string;
  #port: MessagePort | undefined;
  #lastId = 0;
  #schema = -1;
  /** The piece that is with the writer. */
  #writing: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Map<number, Waiting>();
  #underway = 0;
  #lastAt = performance.now();
  #isFinished = false;
  /** Why nothing can be loaded any more. */
  #over: ErrorData | undefined;

  constructor(
    private readonly known: { name: string; isKept: boolean; isAlone: boolean },
    readonly progress: LoadProgress,
    readonly pieces: readonly LoadedPiece[],
    private readonly hooks: LoadHooks,
  ) {
    this.name = excerpt(known.name);
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /** For how long nothing has been asked of it. */
  get idleMs(): number {
    return this.#underway > 0 ? 0 : performance.now() - this.#lastAt;
  }

  checkRoom(): void {
    this.hooks.checkRoom();
  }

  replay(bytes: Uint8Array<ArrayBuffer>, piece: LoadedPiece): Promise<void> {
    return this.#piece(async (schema) => {
      const { end } = this.progress;
      // Of a finished load nothing is needed but that these are its rows.
      if (end) return this.#checkSame(crc32(bytes), piece);
      const read = await this.#read(bytes, piece.from.line, schema, false);
      this.#checkSame(read.checksum, piece);
      const { batch } = read;
      await this.hooks.order({ step: 'replay', name: this.known.name, batch, piece });
    });
  }

  #checkSame(sum: number, piece: LoadedPiece): void {
    if (sum !== piece.checksum) this.#failOther();
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
  ): Promise<PieceResult> {
    return this.#piece((schema) => {
      if (this.progress.end) this.#failOther();
      const former = this.#writing;
      const writing = this.#write(this.#read(bytes, line, schema, !!end), former, to, end);
      this.#writing = writing;
      return writing;
    });
  }

  /** Does one piece of work under one schema; the load does not outlive its failure. */
  async #piece<T>(work: (schema: number) => Promise<T>): Promise<T> {
    this.#underway++;
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
      const { error: data } = errorDataOf(error);
      this.abandon(data);
      throw error;
    } finally {
      this.#underway--;
      this.#lastAt = performance.now();
    }
  }

  #checkOpen(): void {
    if (this.#over) throw new TrellisError(this.#over);
  }

  async #write(
    reading: Promise<ReadPiece>,
    former: Promise<unknown>,
    to: LoadPosition,
    end: LoadEnd | undefined,
  ): Promise<PieceResult> {
    const { batch, checksum, bytes } = await reading;
    if (batch.texts.length > 0) batch.embedded = await this.hooks.embed(batch.texts);
    await former;
    this.#checkOpen();
    this.hooks.checkRoom();
    const { name, isKept, isAlone } = this.known;
    const last = isKept && end ? { end } : {};
    const order = { step: 'rows' as const, name, batch, checksum, to, isAlone, ...last };
    const { retried } = batch;
    const result = (await this.hooks.order(order)) as BatchResult;
    const { nodes, edges, vectors, updated } = result;
    this.#isFinished ||= last.end !== undefined;
    const rejects = [...batch.rejects, ...result.rejects].sort((a, b) => a.line - b.line);
    return { nodes, edges, vectors, updated, rejects, bytes, retried };
  }

  #read(
    bytes: Uint8Array<ArrayBuffer>,
    line: number,
    schema: number,
    isLast: boolean,
  ): Promise<ReadPiece> {
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
      this.abandon(error ? errorDataOf(error).error : { code: 'INTERNAL', args: {} });
    });
    port.on('message', ({ id, read, error, stack }: FromLoader) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (read) return waiting?.resolve(read);
      waiting?.reject(errorOf(error!, stack));
    });
    return port;
  }

  async finish(end: LoadEnd = {}): Promise<void> {
    await this.#writing;
    const { name, isKept, isAlone } = this.known;
    const isNoted = this.#isFinished || this.progress.end !== undefined;
    if (!isNoted) {
      await this.#piece(() =>
        this.hooks.order(isKept ? { step: 'finish', name, end } : { step: 'forget', name }),
      );
    }
    if (isAlone) await this.#piece(() => this.hooks.order({ step: 'settle' }));
    this.abandon(goneError(this.name));
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => undefined);
    this.abandon(goneError(this.name));
  }

  /** Ends the load at once: what waits for its thread fails with this error. */
  abandon(error: ErrorData): void {
    if (this.#over) return;
    this.#over = error;
    this.hooks.over();
    for (const { reject } of this.#waiting.values()) reject(new TrellisError(error));
    this.#waiting.clear();
    if (this.#port === undefined) return;
    this.#port.postMessage({ kind: 'close' } satisfies ToLoader);
    this.#port.unref();
    // The writer lets go of the names; when it has ended there are none.
    this.hooks.order({ step: 'drop', name: this.known.name }).catch(() => undefined);
  }
}
