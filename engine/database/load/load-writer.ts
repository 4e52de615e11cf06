// The writer's side of bulk loads: one durable transaction per chunk, and the elements that the temporary
// names of each running load refer to.
import { failpoint } from '../../base/failpoint.js';
import type { Storage } from '../../storage/open-storage.js';
import type { VectorChange } from '../../storage/table/view-types.js';
import type { LoadView } from '../../storage/view/load-view.js';
import type { TextIndex } from '../../text/text-index-types.js';
import type { LoadedFile } from './load-files.js';
import { takeOverLoad, deleteLoad, noteEnd, noteFiles, storeChunk } from './load-checkpoint.js';
import type { LoadEnd, LoadPosition } from './load-progress.js';
import type { LoadedChunk } from './load-piece.js';
import { dropUndo, noteFormer, takeBackPart } from './load-rollback.js';
import { NameIds } from './name-ids.js';
import { type BatchResult, type RowBatch, rowWords } from './row/row-batch.js';
import { RowWriter } from './row-writer.js';

/** A command of a load to the writer. */
export type LoadCommand =
  | {
      step: 'rows';
      name: string;
      batch: RowBatch;
      checksum: number;
      to: LoadPosition;
      /** Edges may be listed later, because nothing else reads or writes. */
      isExclusive: boolean;
      /** Number of the chunk. */
      chunk: number;
      /** The whole load may be rolled back. */
      isStrict: boolean;
      /** Files of the rows. Sent with the first chunk. */
      files?: readonly LoadedFile[] | undefined;
      /** These are the last rows. */
      end?: LoadEnd;
    }
  /** Rows that were committed before. Only their names are needed. */
  | { step: 'replay'; name: string; batch: RowBatch; chunk: LoadedChunk }
  | { step: 'finish'; name: string; end: LoadEnd; files?: readonly LoadedFile[] | undefined }
  /** Continues a load of another name, which then no longer exists. */
  | { step: 'adopt'; former: Uint8Array; name: string; files: readonly LoadedFile[] }
  /** Rolls back a part of the last chunk. Returns true if more of it is left. */
  | { step: 'takeBack'; name: string; chunk: number }
  /** The load has finished. Deletes a part of its undo records. Returns true if more are left. */
  | { step: 'dropUndo'; name: string }
  /** An exclusive load has finished. Runs the deferred work, because nothing else waits for the writer. */
  | { step: 'settle' }
  /** No client will continue the load. */
  | { step: 'forget'; name: string }
  /** The load may continue later. */
  | { step: 'drop'; name: string };

/** Undo records that one transaction deletes. */
const undoBatch = 50_000;

export class LoadWriter {
  readonly #names = new Map<string, NameIds>();

  constructor(
    private readonly storage: Storage,
    private readonly events: {
      /** Fails before the commit when the vectors do not fit. */
      reserve: (changes: readonly VectorChange[]) => void;
      publish: (changes: readonly VectorChange[]) => void;
      /** Runs the maintenance that the indexes have deferred. */
      settle: () => void;
    },
    private readonly text: TextIndex | undefined,
  ) {}

  /** Any other write may delete the elements that names refer to. */
  invalidateNames(): void {
    for (const names of this.#names.values()) names.isTrusted = false;
  }

  /** Drops all names after a write by another node. Loads that continue must replay their rows. */
  closeLoads(): void {
    this.#names.clear();
  }

  execute(command: LoadCommand, nowMs: number): BatchResult | boolean | undefined {
    switch (command.step) {
      case 'rows':
        return this.#write(command, nowMs);
      case 'replay':
        this.#replay(this.#namesOf(command.name), command.batch, command.chunk);
        return undefined;
      case 'finish':
        this.#names.delete(command.name);
        this.storage.load(nowMs, (view) => {
          if (command.files) noteFiles(view, command.name, command.files);
          noteEnd(view, command.name, command.end);
        });
        return undefined;
      case 'adopt':
        this.storage.load(nowMs, (view) => {
          takeOverLoad(view, command.former, command.name);
          noteFiles(view, command.name, command.files);
        });
        failpoint('adoptLoad');
        return undefined;
      case 'takeBack':
        return this.#takeBack(command, nowMs);
      case 'dropUndo':
        return this.storage.load(nowMs, (view) => dropUndo(view, command.name, undoBatch)).result;
      case 'settle':
        this.storage.flushAdjacency();
        this.events.settle();
        return undefined;
      case 'forget':
        this.#names.delete(command.name);
        this.storage.load(nowMs, (view) => deleteLoad(view, command.name));
        return undefined;
      case 'drop':
        this.#names.delete(command.name);
        this.storage.flushAdjacency();
        return undefined;
    }
  }

  #namesOf(name: string): NameIds {
    let names = this.#names.get(name);
    if (names === undefined) this.#names.set(name, (names = new NameIds()));
    return names;
  }

  #write(command: LoadCommand & { step: 'rows' }, nowMs: number): BatchResult {
    const { name, batch, checksum, to, end, isExclusive, isStrict, chunk, files } = command;
    this.storage.env.room.need(batch.bytes.length);
    const work = (view: LoadView): BatchResult => {
      const writer = new RowWriter(view, batch, this.#namesOf(name), this.text, isStrict);
      const written = writer.write();
      this.events.reserve(view.changes);
      const made = view.nextId - written.firstId;
      storeChunk(view, name, to, written, { rejected: batch.rejects.length, checksum, made });
      if (isStrict) noteFormer(view, name, chunk, writer.former);
      if (files) noteFiles(view, name, files);
      if (end) noteEnd(view, name, end);
      return written;
    };
    const { result, changes } = this.storage.load(nowMs, work, isExclusive);
    failpoint('loadPiece');
    this.events.publish(changes);
    return result;
  }

  #takeBack(command: LoadCommand & { step: 'takeBack' }, nowMs: number): boolean {
    // Edges that are listed later could not be removed.
    this.storage.flushAdjacency();
    this.invalidateNames();
    const work = (view: LoadView): boolean => {
      const left = takeBackPart(view, command, this.text);
      this.events.reserve(view.changes);
      return left;
    };
    const { result, changes } = this.storage.load(nowMs, work);
    failpoint('takeBack');
    this.events.publish(changes);
    return result;
  }

  #replay(names: NameIds, { count, heads, bytes }: RowBatch, chunk: LoadedChunk): void {
    // The uuids of these elements are not known here, so endpoints are read from the store.
    names.isTrusted = false;
    const refused = new Set(chunk.refused);
    let id = chunk.firstId;
    for (let row = 0; row < count; row++) {
      if (refused.has(row)) continue;
      const head = row * rowWords;
      if (heads[head + 1] !== 0) names.set(heads[head + 1]!, id, heads[head]!, bytes, 0);
      id++;
    }
    const { held = [] } = chunk;
    for (let at = 0; at < held.length; at += 2) names.set(held[at]!, held[at + 1]!, 0, bytes, 0);
  }
}
