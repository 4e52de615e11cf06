// The writer's end of the log. On the leader it makes the changes of a transaction an entry before LMDB
// commits them, and waits for the log's answer; on others it lets no change pass.
//
// Invariant: a transaction is committed only when its entry is in the log behind all that this node has
// applied, and the position of that entry is part of it. What is in the log and found no room on this disk
// is set aside: this node leads no more, and applies it as a follower does, before anything behind it.
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
import { ClusterTally } from './cluster-metrics.js';
import { ClusterState, appendState } from './shared-state.js';

export interface LogLinkSetup {
  port: MessagePort;
  words: SharedArrayBuffer;
  tally: SharedArrayBuffer;
  restoreEpoch: string;
  appendTimeoutMs: number;
  /** Most bytes of changes in one entry. */
  entryBytes: number;
  /** A change of the schema that changes more is told as an intent. */
  schemaBytes: number;
}

/** How the next transactions are appended. */
interface AppendOptions {
  kind: number;
  timeoutMs: number;
  /** Of a change of the schema: what it is made from. */
  intent?: Intent;
}

export type LoggedEntry = (LogToWriter & { kind: 'entry' })['entry'];

/** Entry of the open transaction. The log has it already. */
interface Ahead {
  kind: number;
  intent: Intent | undefined;
  startedAt: number;
  /** Where the data are without it. */
  before: Pick<LogClient, 'position' | 'needsTableCheck'>;
}

const asideHint =
  'The disk of this node is full: the write is in the log, and is done here as soon as there is room.';

/** Of a bulk load, whose own deadline is judged before: the log may take its time with the parts. */
export const loadTimeoutMs = 600_000;

export class LogClient implements Replication {
  readonly recorder = new WriteSet();
  readonly words: ClusterState;
  readonly tally: ClusterTally;
  /** Of the last entry whose changes the data hold. */
  position: DataPosition = { epoch: 0, seq: 0, chain: 0n, leader: undefined, epochs: [] };
  #isLeading = false;
  #manner: AppendOptions;
  #ahead: Ahead | undefined;
  /** Takes the entry that found no room on this disk. */
  onAside: ((entry: LoggedEntry) => void) | undefined;
  /** Where a change that this node makes itself, of an intent that it has read, has its place. */
  #replayed: DataPosition | undefined;
  /** Whether what was changed last was told as an intent, and nobody has compared what came of it. */
  needsTableCheck = false;
  readonly #changes = new ChangeWriter();

  /** `onSlice` hears now and then that the writer waits, and is alive. */
  constructor(
    private readonly setup: LogLinkSetup,
    private readonly onSlice: () => void,
  ) {
    this.words = new ClusterState(setup.words);
    this.tally = new ClusterTally(setup.tally);
    this.#manner = { kind: entryKind.changes, timeoutMs: setup.appendTimeoutMs };
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  /** The data are open, and this far. Fails LOG_LOST. */
  start(stored: Uint8Array | undefined): void {
    this.position = readPosition(stored, this.setup.restoreEpoch);
    this.words.durable = this.position.seq;
    this.words.reach(this.position);
    this.tell({ kind: 'ready', position: this.position });
  }

  tell(message: WriterToLog, transfer: ArrayBuffer[] = []): void {
    this.setup.port.postMessage(message, transfer);
  }

  /** From now on transactions are entries. */
  lead(position: NotedPosition): void {
    this.position = { ...position, epochs: withEpoch(this.position.epochs, position) };
    this.#isLeading = true;
    this.words.reach(this.position);
    this.words.role = 'leader';
  }

  /** Somebody else may lead; who, an entry will say. */
  resign(): void {
    if (this.#isLeading) this.position = { ...this.position, leader: undefined };
    this.#isLeading = false;
  }

  /** What a write gets here. */
  get refusal(): TrellisError {
    const leader = reachable(this.position.leader);
    if (leader === undefined) return new TrellisError({ code: 'NO_LEADER', args: {} });
    return new TrellisError({ code: 'NOT_LEADER', args: { ...leader } });
  }

  /** Runs transactions that are entries of another kind, or that may take longer. */
  withAppendOptions<T>(manner: Partial<AppendOptions>, work: () => T): T {
    const before = this.#manner;
    this.#manner = { ...before, ...manner };
    try {
      return work();
    } finally {
      this.#manner = before;
    }
  }

  beforeCommit(meta: Table<Uint8Array>): void {
    if (this.recorder.isEmpty) return;
    if (this.#replayed !== undefined) return this.#put(meta, this.#replayed);
    if (!this.#isLeading) throw this.refusal;
    const { intent, kind } = this.#manner;
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

  setAside(): Error {
    const ahead = this.#ahead!;
    const body = this.#bodyOf(ahead);
    const { epoch, seq, chain, key } = this.position;
    const position = { epoch, seq, chain, ...(key !== undefined && { key }) };
    Object.assign(this, ahead.before);
    this.resign();
    this.onAside?.({ kind: ahead.kind, body, time: wallMs(), position });
    const args = { ms: Math.round(performance.now() - ahead.startedAt) };
    return new TrellisError({ code: 'OUTCOME_UNKNOWN', args, hint: asideHint });
  }

  ended(): void {
    this.#ahead = undefined;
    this.recorder.clear();
  }

  #bodyOf({ intent }: Ahead): Uint8Array<ArrayBuffer> {
    return intent === undefined ? this.#changesTaken() : packIntent(intent);
  }

  /** Fails TXN_TOO_LARGE. */
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

  /** Runs what an intent at `position` says; its changes are this node's own doing, and no entry. */
  replaying(position: DataPosition, work: () => void): void {
    this.#replayed = position;
    try {
      work();
    } finally {
      this.#replayed = undefined;
    }
    this.needsTableCheck = true;
  }

  /** As it stands in the data. */
  pack(position: DataPosition): Uint8Array {
    return packPosition(position, this.setup.restoreEpoch);
  }

  /** An entry of the leader that changes no data: of a check. */
  append(kind: number, body: Uint8Array<ArrayBuffer>): void {
    if (!this.#isLeading) throw this.refusal;
    this.withAppendOptions({ kind }, () => this.#append(body));
    this.reach(this.position, false);
  }

  #append(body: Uint8Array<ArrayBuffer>): void {
    const { kind: appended, timeoutMs } = this.#manner;
    const { epoch } = this.position;
    this.words.expectAppend();
    const order = { kind: 'append' as const, entryKind: appended, epoch, body, timeoutMs };
    this.tell(order, [body.buffer]);
    const { state, place } = this.words.waitForAppend(this.onSlice);
    if (state === appendState.ok) {
      this.position = { ...this.position, ...place };
      return;
    }
    if (state === appendState.full) fail('LOG_FULL', { what: 'it refused an entry' });
    this.resign();
    if (state === appendState.unknown) fail('OUTCOME_UNKNOWN', { ms: timeoutMs });
    if (state === appendState.lost) fail('LOG_LOST', { what: 'it refused an entry' });
    if (state === appendState.held) fail('LOG_UNAVAILABLE', { what: 'it does not answer' });
    throw this.refusal;
  }

  /** What was committed is published: every read sees it. */
  publish(): void {
    this.reach(this.position, true);
  }

  /** Every read sees all up to `position`; `isNoted`: and the disk has it. */
  reach(position: DataPosition, isNoted: boolean): void {
    this.position = position;
    if (isNoted) this.words.durable = position.seq;
    this.words.reach(position);
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

/** Whether the log has refused a transaction: nothing of it is on this disk, and nothing is wrong with it. */
export const isRefusal = (error: unknown): error is TrellisError =>
  error instanceof TrellisError && refusals.includes(error.code);
