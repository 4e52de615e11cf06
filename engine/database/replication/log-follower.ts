// The writer's side of following. It applies the changes of other nodes to LMDB as they arrive, many entries
// in one transaction, and publishes them like commits of this node. When this node becomes the leader, it
// switches the writer to appending.
//
// Invariant: entries are applied in log order, each once, together with the position. A program changes in
// the same event-loop turn as the data that belong to it. An entry that fails before its commit point for a
// temporary reason, such as lack of space, is retried, and no later entry is applied before it.
import type { MessagePort } from 'node:worker_threads';
import { unreachable } from '../../base/assert.js';
import { type ErrorData, TrellisError, toErrorData, fail } from '../../base/errors.js';
import { findShortage } from '../../base/os/shortage.js';
import { eachChange } from '../../cluster/entry/changes.js';
import { intentOf } from '../../cluster/entry/intent.js';
import { entryKind } from '../../cluster/entry/kind.js';
import type { LogClient, LoggedEntry } from '../../cluster/ipc/log-client.js';
import type { DataPosition, LogToWriter, NotedPosition } from '../../cluster/ipc/message.js';
import { withEpoch } from '../../cluster/ipc/epochs.js';
import { leaderOf } from '../../cluster/ipc/leader.js';
import type { ClusterPosition } from '../../cluster/node.js';
import type { Storage } from '../../storage/open-storage.js';
import type { Declarations } from '../../storage/schema/apply-schema.js';
import type { VectorChange } from '../../storage/table/view-types.js';
import type { TextIndex } from '../../text/text-index-types.js';
import type { ControlBlock } from '../call/control-block.js';
import type { LoadWriter } from '../load/load-writer.js';
import type { WriterMetrics } from '../metrics/writer-metrics.js';
import type { VectorStore } from '../vectors/vector-store.js';
import { sourcesIn } from './source-archive.js';
import { type CheckMark, type ClusterCommand, appendMark, checkMarkOf } from './check-mark.js';
import { takeSnapshot } from './pinned-snapshot.js';
import { compareTables, appendSettings, appendTableHashes } from './table-check.js';

export interface FollowParts {
  storage: Storage;
  log: LogClient;
  port: MessagePort;
  vectors: VectorStore;
  writerMetrics: WriterMetrics;
  control: ControlBlock;
  loads: LoadWriter;
  /** Called when an entry waits for the program of these packed sources. */
  onSources: (sources: Uint8Array) => void;
  /**
   * Called when the log has this mark of a comparison. At a mark without tables, the follower waits for the
   * command `pass`.
   */
  onMark: (mark: CheckMark, position: ClusterPosition) => void;
  /** Called when this node must leave the cluster. */
  onError: (error: ErrorData, stack: string | undefined) => void;
  /** Called when something was applied. */
  onApplied: () => void;
}

/** Maximum entries, and bytes of entries, in one transaction. */
const entriesMax = 512;
const bytesMax = 16 * 1024 * 1024;

/** Number of entries without changes after which the position is written to disk. */
const unnotedMax = 1024;

/** Milliseconds between two tries of an entry that found no space. */
const againMs = 250;

export class LogFollower {
  #waiting: LoggedEntry[] = [];
  /** The entry that waits for its program. */
  #waitingEntry: LoggedEntry | undefined;
  /** A mark at which a snapshot is to be taken before later entries are applied. */
  #mark: LoggedEntry | undefined;
  /** Timer while the next entry waits for space. */
  #again: NodeJS.Timeout | undefined;
  #isScheduled = false;
  #isOver = false;

  constructor(private readonly parts: FollowParts) {
    parts.port.on('message', (message: LogToWriter) => this.#receive(message));
    parts.log.onDeferred = (entry) => {
      this.#queue(entry);
      this.#postpone();
      parts.log.send({ kind: 'resign' });
    };
  }

  /** Queues an entry in log order: an entry that was kept aside comes before later entries of the log. */
  #queue(entry: LoggedEntry): void {
    const { seq } = entry.position;
    const before = this.#waiting.findLastIndex(({ position }) => position.seq < seq);
    this.#waiting.splice(before + 1, 0, entry);
  }

  #receive(message: LogToWriter): void {
    switch (message.kind) {
      case 'entry':
        this.#queue(message.entry);
        return this.#schedule();
      case 'lead':
        return this.#lead(message.position);
      case 'follow':
        // The log thread does not receive each commit of the leader.
        this.parts.log.resign();
        return this.parts.log.send({ kind: 'applied', seq: this.parts.log.position.seq });
      default:
        return unreachable(message);
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isOver || this.#isWaiting) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#guarded(() => this.#applySome());
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  /**
   * Returns true for a temporary failure before the commit point. It has changed nothing, and the entry may
   * be retried.
   */
  #isPassing(error: unknown): boolean {
    if (this.parts.storage.permit.closedBecause !== undefined) return false;
    const isFull = error instanceof TrellisError && error.code === 'INSUFFICIENT_STORAGE';
    return isFull || findShortage(error) !== undefined;
  }

  #postpone(): void {
    this.#again ??= setTimeout(() => {
      this.#again = undefined;
      this.#schedule();
    }, againMs);
  }

  /** Runs work whose failure is permanent, because the data would lack the next entry. */
  #guarded(work: () => void): void {
    if (this.#isOver) return;
    try {
      work();
    } catch (error) {
      this.stop(error);
    }
  }

  stop(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { error: data, stack } = toErrorData(error);
    this.parts.log.resign();
    this.parts.log.send({ kind: 'failed', error: data });
    this.parts.onError(data, stack);
  }

  get #isWaiting(): boolean {
    return (
      this.#waitingEntry !== undefined || this.#mark !== undefined || this.#again !== undefined
    );
  }

  #applySome(): void {
    if (this.#isWaiting) return;
    const [first] = this.#waiting;
    if (first === undefined) return;
    const mark = first.kind === entryKind.mark ? checkMarkOf(first.body) : undefined;
    if (mark !== undefined) {
      const { epoch, seq } = first.position;
      this.parts.onMark(mark, { epoch, seq });
      if (mark.tables === undefined) {
        this.#mark = this.#waiting.shift()!;
        return;
      }
    }
    if (first.kind === entryKind.schema || first.kind === entryKind.intent) {
      const isIntent = first.kind === entryKind.intent;
      const sources = isIntent ? intentOf(first.body).sources : sourcesIn(first.body);
      if (sources !== undefined) {
        const isFull = this.parts.storage.env.room.shortage(first.body.length) !== undefined;
        if (isFull) return this.#postpone();
        this.#waitingEntry = this.#waiting.shift()!;
        return this.parts.onSources(sources);
      }
    }
    this.#apply(this.#take());
  }

  /** Removes and returns the next entries for one transaction. */
  #take(): LoggedEntry[] {
    let [count, bytes] = [0, 0];
    for (const { kind, body } of this.#waiting) {
      const isAlone = separateKinds.has(kind);
      if (count > 0 && (isAlone || count === entriesMax || bytes >= bytesMax)) break;
      count++;
      bytes += body.length;
      if (isAlone) break;
    }
    return this.#waiting.splice(0, count);
  }

  #apply(entries: readonly LoggedEntry[]): void {
    const { storage, log, loads, writerMetrics, vectors, control } = this.parts;
    const started = performance.now();
    // A check is applied alone, after every entry that it covers. Its position is published only after the
    // comparison.
    for (const { kind, body } of entries) if (kind === entryKind.check) this.#compare(body);
    const position = this.#positionAfter(entries);
    const changed = entries.filter(holdsChanges);
    if (changed.length > 0) {
      let changes: VectorChange[];
      try {
        changes = writerMetrics.during(() => this.#commit(changed, position));
      } catch (error) {
        if (!this.#isPassing(error)) throw error;
        this.#waiting.unshift(...entries);
        return this.#postpone();
      }
      writerMetrics.during(() => vectors.publish(changes));
      loads.invalidateNames();
      writerMetrics.set('applied_seq', storage.committedSeq());
      control.publishCommit();
      log.advanceTo(position, true);
      log.clusterMetrics.observe('cluster_apply_seconds', (performance.now() - started) / 1000);
      log.clusterMetrics.observe('cluster_apply_group_size', changed.length);
    } else this.#pass(entries, position);
    log.words.leaderTime = entries.at(-1)!.time;
    log.send({ kind: 'applied', seq: position.seq });
    this.parts.onApplied();
  }

  /** Fails DIVERGED. */
  #compare(body: Uint8Array): void {
    const { storage, writerMetrics, log } = this.parts;
    try {
      writerMetrics.during(() => compareTables(storage, body));
      log.clusterMetrics.add('equal');
      log.needsTableCheck = false;
    } catch (error) {
      log.clusterMetrics.add('diverged');
      throw error;
    }
  }

  /**
   * Passes entries without changes. The leader receives its own such entries too, and may be at a later
   * position already.
   */
  #pass(entries: readonly LoggedEntry[], position: DataPosition): void {
    const { storage, log } = this.parts;
    if (position.seq <= log.position.seq) return;
    for (const { kind } of entries) checkKind(kind);
    const isDue = position.seq - log.words.durable >= unnotedMax;
    const isNoted = isDue && storage.env.room.shortage() === undefined && this.#note(position);
    log.advanceTo(position, isNoted);
  }

  /**
   * Writes the position to disk. Returns false without space; then these entries are only received again
   * after a restart.
   */
  #note(position: DataPosition): boolean {
    const { storage, log } = this.parts;
    try {
      storage.recordPosition(log.pack(position));
      return true;
    } catch (error) {
      if (!this.#isPassing(error)) throw error;
      return false;
    }
  }

  #positionAfter(entries: readonly LoggedEntry[]): DataPosition {
    let { leader, epochs } = this.parts.log.position;
    for (const { kind, body, position } of entries) {
      if (kind !== entryKind.epoch) continue;
      leader = leaderOf(body);
      epochs = withEpoch(epochs, position);
    }
    return { ...entries.at(-1)!.position, leader, epochs };
  }

  #commit(entries: readonly LoggedEntry[], position: DataPosition): VectorChange[] {
    const { storage, log } = this.parts;
    for (const { kind } of entries) checkKind(kind);
    storage.env.room.need(entries.reduce((sum, { body }) => sum + body.length, 0));
    return storage.follow(log.pack(position), (apply) => {
      for (const { body } of entries) eachChange(body, apply);
    });
  }

  /** Executes a command between two commits, and returns its result. */
  execute(command: ClusterCommand): unknown {
    const { storage, log } = this.parts;
    switch (command.kind) {
      case 'tell':
        return appendSettings(storage, log, command);
      case 'pass':
        return this.#continue(command.words);
      case 'mark': {
        const position = appendMark(log, command.mark);
        if (command.words !== undefined) takeSnapshot(command.words);
        return position;
      }
    }
  }

  /** Continues after the mark at which it waits. With `words`, takes a snapshot first. */
  #continue(words: SharedArrayBuffer | undefined): void {
    const mark = this.#mark;
    if (mark === undefined) return;
    this.#mark = undefined;
    if (words !== undefined) takeSnapshot(words);
    this.#guarded(() => this.#apply([mark]));
    this.#schedule();
  }

  /** Applies the program for which an entry waits. `applyProgram` makes it the program of this thread. */
  applySchema(program: Declarations, text: TextIndex | undefined, applyProgram: () => void): void {
    const entry = this.#waitingEntry;
    if (entry === undefined) return applyProgram();
    this.#waitingEntry = undefined;
    const { storage, log, vectors, control, writerMetrics, loads } = this.parts;
    const position = this.#positionAfter([entry]);
    control.bumpSchemaVersion(1);
    try {
      if (entry.kind === entryKind.intent) this.#migrate(entry, position, program, text);
      else this.#commit([entry], position);
    } catch (error) {
      control.bumpSchemaVersion(-1);
      if (this.#isPassing(error)) {
        // The program will be requested again.
        this.#queue(entry);
        this.#postpone();
      } else this.stop(error);
      throw error;
    }
    storage.reloadCatalog();
    control.bumpSchemaVersion(1);
    loads.invalidateNames();
    vectors.follow();
    applyProgram();
    writerMetrics.set('applied_seq', storage.committedSeq());
    control.publishCommit();
    log.advanceTo(position, true);
    log.send({ kind: 'applied', seq: position.seq });
    this.#schedule();
  }

  /** Executes the leader's intent on this node. The next check entry verifies that the result is the same. */
  #migrate(
    { body }: LoggedEntry,
    position: DataPosition,
    program: Declarations,
    text: TextIndex | undefined,
  ): void {
    const { storage, log } = this.parts;
    const { nowMs, sources } = intentOf(body);
    storage.invalidateWriter();
    log.replaying(position, () => storage.applySchema(program, { text, nowMs, sources }));
  }

  /** This node leads now. Caches for writes are out of date. */
  #lead(position: NotedPosition): void {
    this.#guarded(() => {
      while (this.#waiting.length > 0 && !this.#isWaiting) this.#applySome();
      if (this.#waiting.length > 0) return this.parts.log.send({ kind: 'resign' });
      this.parts.storage.invalidateWriter();
      this.parts.loads.closeLoads();
      this.parts.log.lead(position);
      // The former leader ended before it could append the table check.
      if (this.parts.log.needsTableCheck) appendTableHashes(this.parts.storage, this.parts.log);
    });
  }

  /** On a clean close, writes the position, so that passed entries need not be received again. */
  close(): void {
    const { log, port } = this.parts;
    const { words, position } = log;
    clearTimeout(this.#again);
    if (!this.#isOver && words.durable < position.seq) this.#note(position);
    port.close();
  }
}

/** Kinds of entries that are applied alone, not in a transaction with others. */
const separateKinds = new Set<number>([
  entryKind.check,
  entryKind.mark,
  entryKind.schema,
  entryKind.intent,
]);

const known = new Set<number>(Object.values(entryKind));
const newest = Math.max(...known);

const holdsChanges = ({ kind }: LoggedEntry): boolean =>
  kind === entryKind.changes || kind === entryKind.schema;

/** Fails for a kind that a newer version added, because this version cannot apply it. */
function checkKind(kind: number): void {
  if (!known.has(kind))
    fail('FORMAT_TOO_NEW', { found: `entry kind ${kind}`, known: `kinds up to ${newest}` });
}
