// One bulk load as its caller sees it: pieces of whole lines go in, counts and rejected rows come
// out. Reads rows on a thread of its own, embeds texts, hands batches to the writer in order.
// Invariant: a resolved piece is on disk, and so is the note that it is done.
import type { MessagePort } from 'node:worker_threads';
import { TrellisError } from '../../base/errors.js';
import type { LoadOrder } from './load-writer.js';
import type { LoadPosition, LoadProgress, LoadedPiece } from './load-progress.js';
import type { FromLoader, ReadPiece, ToLoader } from './loader.js';
import type { BatchResult, Reject, RowText } from './row-batch.js';

/** What has become of one piece. */
export interface PieceResult {
  nodes: number;
  edges: number;
  vectors: number;
  rejects: Reject[];
  /** The rows, back from the thread that read them. */
  bytes: Uint8Array;
}

export interface BulkLoad {
  /** What was loaded under this name before; the next piece begins there. */
  readonly progress: LoadProgress;
  /** Committed pieces: before anything else is loaded, `replay` reads the rows of each again. */
  readonly pieces: readonly LoadedPiece[];
  /** Takes the whole buffer of the bytes away, as `rows` does. */
  replay(bytes: Uint8Array<ArrayBuffer>, piece: LoadedPiece): Promise<void>;
  /** Loads whole lines, the first of which is number `line`; they end at `to`. */
  rows(bytes: Uint8Array<ArrayBuffer>, line: number, to: LoadPosition): Promise<PieceResult>;
  /** Everything is loaded: forgets names and progress. */
  finish(): Promise<void>;
  /** Ends the load where it stands; it may go on under the same name. */
  close(): Promise<void>;
}

export interface LoadHooks {
  port: MessagePort;
  order: (order: LoadOrder) => Promise<unknown>;
  embed: (texts: readonly RowText[]) => Promise<Float64Array[]>;
  /** Resolves when pieces may be read, with a number that changes with the schema. */
  admit: () => Promise<number>;
  /** An admitted piece is over. */
  leave: () => void;
  /** Fails when nothing can be written. */
  checkRoom: () => void;
}

export class LoadRun implements BulkLoad {
  #lastId = 0;
  #schema = -1;
  /** The piece that is with the writer. */
  #writing: Promise<unknown> = Promise.resolve();
  readonly #waiting = new Map<number, (reply: FromLoader) => void>();

  constructor(
    private readonly name: string,
    readonly progress: LoadProgress,
    readonly pieces: readonly LoadedPiece[],
    private readonly hooks: LoadHooks,
  ) {
    hooks.port.on('message', (reply: FromLoader) => {
      this.#waiting.get(reply.id)?.(reply);
      this.#waiting.delete(reply.id);
    });
  }

  async replay(bytes: Uint8Array<ArrayBuffer>, piece: LoadedPiece): Promise<void> {
    const schema = await this.hooks.admit();
    try {
      const { batch } = await this.#read(bytes, piece.from.line, schema);
      await this.hooks.order({ step: 'replay', name: this.name, batch, piece });
    } finally {
      this.hooks.leave();
    }
  }

  async rows(bytes: Uint8Array<ArrayBuffer>, line: number, to: LoadPosition): Promise<PieceResult> {
    const schema = await this.hooks.admit();
    const former = this.#writing;
    const writing = this.#write(this.#read(bytes, line, schema), former, to);
    this.#writing = writing;
    return writing.finally(this.hooks.leave);
  }

  async #write(
    reading: Promise<ReadPiece>,
    former: Promise<unknown>,
    to: LoadPosition,
  ): Promise<PieceResult> {
    const { batch, bytes } = await reading;
    if (batch.texts.length > 0) batch.embedded = await this.hooks.embed(batch.texts);
    await former;
    this.hooks.checkRoom();
    const order = { step: 'rows' as const, name: this.name, batch, to };
    const { nodes, edges, vectors, rejects } = (await this.hooks.order(order)) as BatchResult;
    const all = [...batch.rejects, ...rejects].sort((a, b) => a.line - b.line);
    return { nodes, edges, vectors, rejects: all, bytes };
  }

  #read(bytes: Uint8Array<ArrayBuffer>, line: number, schema: number): Promise<ReadPiece> {
    const id = ++this.#lastId;
    const message: ToLoader = { kind: 'rows', id, bytes, line, refresh: schema !== this.#schema };
    this.#schema = schema;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ read, error, stack }) => {
        if (read) return resolve(read);
        const failed = new TrellisError(error!);
        if (stack !== undefined) failed.stack = stack;
        reject(failed);
      });
      this.hooks.port.postMessage(message, [bytes.buffer]);
    });
  }

  async finish(): Promise<void> {
    await this.#writing;
    await this.hooks.order({ step: 'finish', name: this.name });
    this.#end();
  }

  async close(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await this.hooks.order({ step: 'drop', name: this.name }).catch(() => undefined);
    this.#end();
  }

  #end(): void {
    this.hooks.port.postMessage({ kind: 'close' } satisfies ToLoader);
    this.hooks.port.unref();
  }
}
