// The writer's side of following. It applies the changes of other nodes to LMDB as they arrive, many entries
// in one transaction, and publishes them like commits of this node. When this node becomes the leader, it
// switches the writer to appending.
//
// Invariant: entries are applied in log order, each once, together with the position. A program changes in
// the same event-loop turn as the data that belong to it. An entry that fails before its commit point for a
// temporary reason, such as lack of space, is retried, and no later entry is applied before it.
import type { MessagePort } from 'node:worker_threads';
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
import { type CheckMark, type ClusterOrder, appendMark, checkMarkOf } from './check-mark.js';
import { takeSnapshot } from './pinned-snapshot.js';
import { compareTables, appendSettings, appendTableHashes } from './table-check.js';

export interface FollowParts {
  storage: Storage;
  link: LogClient;
  port: MessagePort;
  vectors: VectorStore;
  figures: WriterMetrics;
  gate: ControlBlock;
  loads: LoadWriter;
  /** Called when an entry waits for the program of these packed sources. */
  onSources: (sources: Uint8Array) => void;
  /**
   * Called when the log has such a mark. At a mark without tables, the follower waits for the command `pass`.
   */
  onMark: (mark: CheckMark, position: ClusterPosition) => void;
  /** Called when this node must leave the cluster. */
  onFault: (error: ErrorData, stack: string | undefined) => void;
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
  #held: LoggedEntry | undefined;
  /** A mark at which a snapshot is to be taken before later entries are applied. */
  #mark: LoggedEntry | undefined;
  /** Timer while the next entry waits for space. */
  #again: NodeJS.Timeout | undefined;
  #isScheduled = false;
  #isOver = false;

  constructor(private readonly parts: FollowParts) {
    parts.port.on('message', (message: LogToWriter) => this.#receive(message));
    parts.link.onAside = (entry) => {
      this.#queue(entry);
      this.#postpone();
      parts.link.tell({ kind: 'resign' });
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
        this.parts.link.resign();
        return this.parts.link.tell({ kind: 'applied', seq: this.parts.link.position.seq });
      default:
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isOver || this.#isHeld) return;
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
    this.parts.link.resign();
    this.parts.link.tell({ kind: 'failed', error: data });
    this.parts.onFault(data, stack);
  }

  get #isHeld(): boolean {
    return this.#held !== undefined || this.#mark !== undefined || this.#again !== undefined;
  }

  #applySome(): void {
    if (this.#isHeld) return;
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
        this.#held = this.#waiting.shift()!;
        return this.parts.onSources(sources);
      }
    }
    this.#apply(this.#take());
  }

  /** Removes and returns the next entries for one transaction. */
  #take(): LoggedEntry[] {
    let [count, bytes] = [0, 0];
    for (const { kind, body } of this.#waiting) {
      const isAlone = alone.has(kind);
      if (count > 0 && (isAlone || count === entriesMax || bytes >= bytesMax)) break;
      count++;
      bytes += body.length;
      if (isAlone) break;
    }
    return this.#waiting.splice(0, count);
  }

  #apply(entries: readonly LoggedEntry[]): void {
    const { storage, link, loads, figures, vectors, gate } = this.parts;
    const started = performance.now();
    // A check stands alone, after everything that it covers. Its position is published only after the
    // comparison.
    for (const { kind, body } of entries) if (kind === entryKind.check) this.#compare(body);
    const position = this.#positionAfter(entries);
    const changed = entries.filter(holdsChanges);
    if (changed.length > 0) {
      let changes: VectorChange[];
      try {
        changes = figures.during(() => this.#commit(changed, position));
      } catch (error) {
        if (!this.#isPassing(error)) throw error;
        this.#waiting.unshift(...entries);
        return this.#postpone();
      }
      figures.during(() => vectors.publish(changes));
      loads.invalidateNames();
      figures.set('applied_seq', storage.committedSeq());
      gate.publishCommit();
      link.reach(position, true);
      link.tally.observe('cluster_apply_seconds', (performance.now() - started) / 1000);
      link.tally.observe('cluster_apply_group_size', changed.length);
    } else this.#pass(entries, position);
    link.words.leaderTime = entries.at(-1)!.time;
    link.tell({ kind: 'applied', seq: position.seq });
    this.parts.onApplied();
  }

  /** Fails DIVERGED. */
  #compare(body: Uint8Array): void {
    const { storage, figures, link } = this.parts;
    try {
      figures.during(() => compareTables(storage, body));
      link.tally.add('equal');
      link.needsTableCheck = false;
    } catch (error) {
      link.tally.add('diverged');
      throw error;
    }
  }

  /**
   * Passes entries without changes. The leader receives its own such entries too, and may be at a later
   * position already.
   */
  #pass(entries: readonly LoggedEntry[], position: DataPosition): void {
    const { storage, link } = this.parts;
    if (position.seq <= link.position.seq) return;
    for (const { kind } of entries) checkKind(kind);
    const isDue = position.seq - link.words.durable >= unnotedMax;
    const isNoted = isDue && storage.env.room.shortage() === undefined && this.#note(position);
    link.reach(position, isNoted);
  }

  /**
   * Writes the position to disk. Returns false without space; then these entries are only received again
   * after a restart.
   */
  #note(position: DataPosition): boolean {
    const { storage, link } = this.parts;
    try {
      storage.recordPosition(link.pack(position));
      return true;
    } catch (error) {
      if (!this.#isPassing(error)) throw error;
      return false;
    }
  }

  #positionAfter(entries: readonly LoggedEntry[]): DataPosition {
    let { leader, epochs } = this.parts.link.position;
    for (const { kind, body, position } of entries) {
      if (kind !== entryKind.epoch) continue;
      leader = leaderOf(body);
      epochs = withEpoch(epochs, position);
    }
    return { ...entries.at(-1)!.position, leader, epochs };
  }

  #commit(entries: readonly LoggedEntry[], position: DataPosition): VectorChange[] {
    const { storage, link } = this.parts;
    for (const { kind } of entries) checkKind(kind);
    storage.env.room.need(entries.reduce((sum, { body }) => sum + body.length, 0));
    return storage.follow(link.pack(position), (apply) => {
      for (const { body } of entries) eachChange(body, apply);
    });
  }

  /** Executes a command between two commits, and returns its result. */
  obey(order: ClusterOrder): unknown {
    const { storage, link } = this.parts;
    switch (order.kind) {
      case 'tell':
        return appendSettings(storage, link, order);
      case 'pass':
        return this.#goOn(order.words);
      case 'mark': {
        const position = appendMark(link, order.mark);
        if (order.words !== undefined) takeSnapshot(order.words);
        return position;
      }
    }
  }

  /** Continues after the mark at which it waits. With `words`, takes a snapshot first. */
  #goOn(words: SharedArrayBuffer | undefined): void {
    const mark = this.#mark;
    if (mark === undefined) return;
    this.#mark = undefined;
    if (words !== undefined) takeSnapshot(words);
    this.#guarded(() => this.#apply([mark]));
    this.#schedule();
  }

  /** Applies the program for which an entry waits. `adopt` makes it the program of this thread. */
  applySchema(program: Declarations, text: TextIndex | undefined, adopt: () => void): void {
    const entry = this.#held;
    if (entry === undefined) return adopt();
    this.#held = undefined;
    const { storage, link, vectors, gate, figures, loads } = this.parts;
    const position = this.#positionAfter([entry]);
    gate.bumpSchemaVersion(1);
    try {
      if (entry.kind === entryKind.intent) this.#migrate(entry, position, program, text);
      else this.#commit([entry], position);
    } catch (error) {
      gate.bumpSchemaVersion(-1);
      if (this.#isPassing(error)) {
        // The program will be requested again.
        this.#queue(entry);
        this.#postpone();
      } else this.stop(error);
      throw error;
    }
    storage.reloadCatalog();
    gate.bumpSchemaVersion(1);
    loads.invalidateNames();
    vectors.follow();
    adopt();
    figures.set('applied_seq', storage.committedSeq());
    gate.publishCommit();
    link.reach(position, true);
    link.tell({ kind: 'applied', seq: position.seq });
    this.#schedule();
  }

  /** Executes the leader's intent on this node. The next check entry verifies that the result is the same. */
  #migrate(
    { body }: LoggedEntry,
    position: DataPosition,
    program: Declarations,
    text: TextIndex | undefined,
  ): void {
    const { storage, link } = this.parts;
    const { nowMs, sources } = intentOf(body);
    storage.invalidateWriter();
    link.replaying(position, () => storage.applySchema(program, { text, nowMs, sources }));
  }

  /** This node leads now. Caches for writes are out of date. */
  #lead(position: NotedPosition): void {
    this.#guarded(() => {
      while (this.#waiting.length > 0 && !this.#isHeld) this.#applySome();
      if (this.#waiting.length > 0) return this.parts.link.tell({ kind: 'resign' });
      this.parts.storage.invalidateWriter();
      this.parts.loads.forget();
      this.parts.link.lead(position);
      // The former leader ended before it could append the table check.
      if (this.parts.link.needsTableCheck) appendTableHashes(this.parts.storage, this.parts.link);
    });
  }

  /** On a clean close, writes the position, so that passed entries need not be received again. */
  close(): void {
    const { link, port } = this.parts;
    const { words, position } = link;
    clearTimeout(this.#again);
    if (!this.#isOver && words.durable < position.seq) this.#note(position);
    port.close();
  }
}

/** Kinds of entries that are applied alone, not in a transaction with others. */
const alone = new Set<number>([
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
