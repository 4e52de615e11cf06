// The writer's side of following: what other nodes have changed is put into LMDB as it comes, many entries
// in one transaction, and published as if this node had committed it. Becomes the leader's side when the
// log says so.
//
// Invariant: entries are applied in the order of the log, each once, together with how far that is; a
// program changes in the same turn as the data that belong to it. What fails before its commit point for want of
// room, or of what else passes, is tried again, and nothing behind it is applied before.
import type { MessagePort } from 'node:worker_threads';
import { type ErrorData, TrellisError, errorDataOf, fail } from '../../base/errors.js';
import { shortageOf } from '../../base/os/shortage.js';
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
  /** An entry waits for the program of these packed sources. */
  onSources: (sources: Uint8Array) => void;
  /** The log has such a mark there; one without tables is waited at, for the order `pass`. */
  onMark: (mark: CheckMark, position: ClusterPosition) => void;
  /** This node takes no part any more. */
  onFault: (error: ErrorData, stack: string | undefined) => void;
  /** Something was applied. */
  onApplied: () => void;
}

/** One transaction ends at so many entries, or bytes of them. */
const entriesMax = 512;
const bytesMax = 16 * 1024 * 1024;

/** Entries without changes are noted on disk when there are so many. */
const unnotedMax = 1024;

/** Between two tries of what found no room. */
const againMs = 250;

export class LogFollower {
  #waiting: LoggedEntry[] = [];
  /** Waits for its program. */
  #held: LoggedEntry | undefined;
  /** A mark at which a snapshot is to be taken, before anything behind it is applied. */
  #mark: LoggedEntry | undefined;
  /** Runs while what comes next waits for room. */
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

  /** In the order of the log: what was set aside comes before what the log has said meanwhile. */
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
        // The log thread does not hear of the leader's own commits one by one.
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

  /** What fails before its commit point for want of something has changed nothing, and may be done later. */
  #isPassing(error: unknown): boolean {
    if (this.parts.storage.permit.closedBecause !== undefined) return false;
    const isFull = error instanceof TrellisError && error.code === 'INSUFFICIENT_STORAGE';
    return isFull || shortageOf(error) !== undefined;
  }

  #postpone(): void {
    this.#again ??= setTimeout(() => {
      this.#again = undefined;
      this.#schedule();
    }, againMs);
  }

  /** What fails here fails for good: the data would lack what comes next. */
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
    const { error: data, stack } = errorDataOf(error);
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

  /** The next entries that go together. */
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
    // Alone, behind all that it is about; nobody is told of its place before the answer is known.
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

  /** Entries without changes; the leader hears of its own that way, and may be further already. */
  #pass(entries: readonly LoggedEntry[], position: DataPosition): void {
    const { storage, link } = this.parts;
    if (position.seq <= link.position.seq) return;
    for (const { kind } of entries) checkKind(kind);
    const isDue = position.seq - link.words.durable >= unnotedMax;
    const isNoted = isDue && storage.env.room.shortage() === undefined && this.#note(position);
    link.reach(position, isNoted);
  }

  /** Whether there was room: without it those entries are only heard again after a start. */
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

  /** Between two commits; gives what was asked for. */
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

  /** Goes on behind the mark at which it stands; `words`: with a snapshot. */
  #goOn(words: SharedArrayBuffer | undefined): void {
    const mark = this.#mark;
    if (mark === undefined) return;
    this.#mark = undefined;
    if (words !== undefined) takeSnapshot(words);
    this.#guarded(() => this.#apply([mark]));
    this.#schedule();
  }

  /** The program of the entry that waits is there: `adopt` makes it the one that this thread runs. */
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
        // Its program is asked for again.
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

  /** What the leader has done by an intent, done here: what its check says next must be so. */
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

  /** This node leads: what it knew for writes is of another time. */
  #lead(position: NotedPosition): void {
    this.#guarded(() => {
      while (this.#waiting.length > 0 && !this.#isHeld) this.#applySome();
      if (this.#waiting.length > 0) return this.parts.link.tell({ kind: 'resign' });
      this.parts.storage.invalidateWriter();
      this.parts.loads.forget();
      this.parts.link.lead(position);
      // Whoever led before did not live to compare.
      if (this.parts.link.needsTableCheck) appendTableHashes(this.parts.storage, this.parts.link);
    });
  }

  /** In order: what has been heard without changes need not be heard again. */
  close(): void {
    const { link, port } = this.parts;
    const { words, position } = link;
    clearTimeout(this.#again);
    if (!this.#isOver && words.durable < position.seq) this.#note(position);
    port.close();
  }
}

/** Entries that are no part of a transaction of several. */
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

/** What a newer version says, this one cannot follow. */
function checkKind(kind: number): void {
  if (!known.has(kind))
    fail('FORMAT_TOO_NEW', { found: `entry kind ${kind}`, known: `kinds up to ${newest}` });
}
