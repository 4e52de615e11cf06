// Connects the writer thread to the log. On the leader, it encodes the changes of a transaction as an entry
// before LMDB commits them, and waits for the acknowledgement of the log. On other nodes, it refuses every
// change.
//
// What beforeCommit does with the changes of a transaction:
//
//   none recorded      nothing, for example when a follower applies an entry with the recorder off
//   replaying()        stores the position of the intent that is replayed; appends nothing
//   not leading        fails NOT_LEADER or NO_LEADER
//   leading            appends one entry. A schema change above `schemaBytes` is appended as its intent.
//
// Between the acknowledgement of the log and the commit the entry is ahead of the data (`#ahead`). If the
// commit fails, leaveInLog() keeps the entry.
//
// Invariant: a transaction is committed only when its entry is in the log, directly after everything that
// this node has applied. The position of that entry is part of the transaction. An entry that is in the log
// but does not fit on this disk is kept aside. The node then stops leading, and applies this entry as a
// follower before any later one.
import type { MessagePort } from 'node:worker_threads';
import { wallMs } from '../../base/clock.js';
import { TrellisError, fail } from '../../base/errors.js';
import { failpoint } from '../../base/failpoint.js';
import type { Replication } from '../../storage/table/env-options.js';
import { WriteSet } from '../../storage/table/write-set.js';
import type { Table } from '../../storage/table/env.js';
import { metaKey } from '../../storage/table/meta.js';
import { ChangeWriter } from '../entry/changes.js';
import { type Intent, packIntent } from '../entry/intent.js';
import { entryKind } from '../entry/kind.js';
import { withEpoch } from './epochs.js';
import { reachable } from './leader.js';
import type { DataPosition, LogToWriter, NotedPosition, WriterToLog } from './message.js';
import { packPosition, readPosition } from './position.js';
import { ClusterMetrics } from './cluster-metrics.js';
import { ClusterState, appendState } from './shared-state.js';

export interface LogClientSetup {
  port: MessagePort;
  words: SharedArrayBuffer;
  clusterMetrics: SharedArrayBuffer;
  restoreEpoch: string;
  appendTimeoutMs: number;
  /** Maximum bytes of changes in one entry. */
  entryBytes: number;
  /** A schema change with more bytes of changes is sent as an intent. */
  schemaBytes: number;
}

/** How the next transactions are appended. */
interface AppendOptions {
  kind: number;
  timeoutMs: number;
  /** Inputs of the schema change that is running. */
  intent?: Intent;
}

export type LoggedEntry = (LogToWriter & { kind: 'entry' })['entry'];

/** Entry of the open transaction that the log already has. */
interface Ahead {
  kind: number;
  intent: Intent | undefined;
  startedAt: number;
  /** State of the data without the entry. */
  before: Pick<LogClient, 'position' | 'needsTableCheck'>;
}

const leftInLogHint =
  'The disk of this node is full: the write is in the log, and is done here as soon as there is room.';

/**
 * Timeout for the entries of a bulk load, in milliseconds. The load checks its own deadline before. The log
 * may take long to store all parts.
 */
export const loadTimeoutMs = 600_000;

export class LogClient implements Replication {
  readonly recorder = new WriteSet();
  readonly words: ClusterState;
  readonly clusterMetrics: ClusterMetrics;
  /** Position of the last entry whose changes the data hold. */
  position: DataPosition = { epoch: 0, seq: 0, chain: 0n, leader: undefined, epochs: [] };
  #isLeading = false;
  #options: AppendOptions;
  #ahead: Ahead | undefined;
  /** Takes the entry for which this disk had no space. */
  onDeferred: ((entry: LoggedEntry) => void) | undefined;
  /** Position of the intent that this node is executing. Its changes belong to that position. */
  #replayed: DataPosition | undefined;
  /** True when the last schema change was sent as an intent and no table check has followed yet. */
  needsTableCheck = false;
  readonly #changes = new ChangeWriter();

  /** Calls `onSlice` regularly while the writer waits, as a sign of life. */
  constructor(
    private readonly setup: LogClientSetup,
    private readonly onSlice: () => void,
  ) {
    this.words = new ClusterState(setup.words);
    this.clusterMetrics = new ClusterMetrics(setup.clusterMetrics);
    this.#options = { kind: entryKind.changes, timeoutMs: setup.appendTimeoutMs };
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  /** Starts at the stored position, when the data are open. Fails LOG_LOST. */
  start(stored: Uint8Array | undefined): void {
    this.position = readPosition(stored, this.setup.restoreEpoch);
    this.words.durable = this.position.seq;
    this.words.publishPosition(this.position);
    this.send({ kind: 'ready', position: this.position });
  }

  send(message: WriterToLog, transfer: ArrayBuffer[] = []): void {
    this.setup.port.postMessage(message, transfer);
  }

  /** From now on, transactions are appended as entries. */
  lead(position: NotedPosition): void {
    this.position = { ...position, epochs: withEpoch(this.position.epochs, position) };
    this.#isLeading = true;
    this.words.publishPosition(this.position);
    this.words.role = 'leader';
  }

  /** Stops leading. A later entry names the new leader. */
  resign(): void {
    if (this.#isLeading) this.position = { ...this.position, leader: undefined };
    this.#isLeading = false;
  }

  /** The error of a write on this node. */
  get refusal(): TrellisError {
    const leader = reachable(this.position.leader);
    if (leader === undefined) return new TrellisError({ code: 'NO_LEADER', args: {} });
    return new TrellisError({ code: 'NOT_LEADER', args: { ...leader } });
  }

  /** Runs transactions that are entries of another kind, or that may take longer. */
  withAppendOptions<T>(options: Partial<AppendOptions>, work: () => T): T {
    const before = this.#options;
    this.#options = { ...before, ...options };
    try {
      return work();
    } finally {
      this.#options = before;
    }
  }

  beforeCommit(meta: Table<Uint8Array>): void {
    if (this.recorder.isEmpty) return;
    if (this.#replayed !== undefined) return this.#put(meta, this.#replayed);
    if (!this.#isLeading) throw this.refusal;
    const { intent, kind } = this.#options;
    const isIntent = intent !== undefined && this.recorder.bytes > this.setup.schemaBytes;
    const ahead = {
      kind: isIntent ? entryKind.intent : kind,
      intent: isIntent ? intent : undefined,
      startedAt: performance.now(),
      before: { position: this.position, needsTableCheck: this.needsTableCheck },
    };
    const body = this.#bodyOf(ahead);
    failpoint('C6');
    this.withAppendOptions({ kind: ahead.kind }, () => this.#append(body));
    this.#ahead = ahead;
    failpoint('C7');
    this.needsTableCheck = isIntent;
    this.#put(meta, this.position);
  }

  get isAhead(): boolean {
    return this.#ahead !== undefined;
  }

  leaveInLog(): Error {
    const ahead = this.#ahead!;
    const body = this.#bodyOf(ahead);
    const { epoch, seq, chain, key } = this.position;
    const position = { epoch, seq, chain, ...(key !== undefined && { key }) };
    Object.assign(this, ahead.before);
    this.resign();
    this.onDeferred?.({ kind: ahead.kind, body, time: wallMs(), position });
    const args = { ms: Math.round(performance.now() - ahead.startedAt) };
    return new TrellisError({ code: 'OUTCOME_UNKNOWN', args, hint: leftInLogHint });
  }

  ended(): void {
    this.#ahead = undefined;
    this.recorder.clear();
  }

  #bodyOf({ intent }: Ahead): Uint8Array<ArrayBuffer> {
    return intent === undefined ? this.#changesTaken() : packIntent(intent);
  }

  /** Returns the changes of the open transaction and resets the recorder. Fails TXN_TOO_LARGE. */
  #changesTaken(): Uint8Array<ArrayBuffer> {
    this.recorder.each((table, key, value) => this.#changes.put(table, key, value));
    const body = this.#changes.take();
    const { entryBytes: max } = this.setup;
    if (body.length > max) fail('TXN_TOO_LARGE', { max, unit: 'bytes' });
    return body;
  }

  #put(meta: Table<Uint8Array>, position: DataPosition): void {
    const bytes = this.pack(position);
    this.recorder.unrecorded(() => meta.put(metaKey.position, bytes));
  }

  /** Runs the intent at `position`. The node makes its changes locally and appends no entry. */
  replaying(position: DataPosition, work: () => void): void {
    this.#replayed = position;
    try {
      work();
    } finally {
      this.#replayed = undefined;
    }
    this.needsTableCheck = true;
  }

  /** Returns the position in its stored form. */
  pack(position: DataPosition): Uint8Array {
    return packPosition(position, this.setup.restoreEpoch);
  }

  /** Appends an entry that changes no data, such as a check. Leader only. */
  append(kind: number, body: Uint8Array<ArrayBuffer>): void {
    if (!this.#isLeading) throw this.refusal;
    this.withAppendOptions({ kind }, () => this.#append(body));
    this.advanceTo(this.position, false);
  }

  #append(body: Uint8Array<ArrayBuffer>): void {
    const { kind: entryKind, timeoutMs } = this.#options;
    const { epoch } = this.position;
    this.words.expectAppend();
    const message = { kind: 'append' as const, entryKind, epoch, body, timeoutMs };
    this.send(message, [body.buffer]);
    const { state, appended: entry } = this.words.waitForAppend(this.onSlice);
    if (state === appendState.ok) {
      this.position = { ...this.position, ...entry };
      return;
    }
    if (state === appendState.full) fail('LOG_FULL', { what: 'it refused an entry' });
    this.resign();
    if (state === appendState.unknown) fail('OUTCOME_UNKNOWN', { ms: timeoutMs });
    if (state === appendState.lost) fail('LOG_LOST', { what: 'it refused an entry' });
    if (state === appendState.held) fail('LOG_UNAVAILABLE', { what: 'it does not answer' });
    throw this.refusal;
  }

  /** Publishes the committed position, so that every read sees the commit. */
  publish(): void {
    this.advanceTo(this.position, true);
  }

  /** Makes every read see all entries up to `position`. `isNoted` is true when they are also on disk. */
  advanceTo(position: DataPosition, isNoted: boolean): void {
    this.position = position;
    if (isNoted) this.words.durable = position.seq;
    this.words.publishPosition(position);
  }
}

const refusals = [
  'NOT_LEADER',
  'NO_LEADER',
  'OUTCOME_UNKNOWN',
  'LOG_FULL',
  'LOG_LOST',
  'LOG_UNAVAILABLE',
];

/**
 * Returns true if the log refused the transaction. Then this disk holds nothing of the transaction, and the
 * data are sound.
 */
export const isRefusal = (error: unknown): error is TrellisError =>
  error instanceof TrellisError && refusals.includes(error.code);
