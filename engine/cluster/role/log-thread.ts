// Entry point of the log thread. Each node has one, and only this thread uses the log. It opens the log when
// the writer has reported the position of the data, and passes messages between the election state, the
// writer thread and the main thread.
//
// Invariant: the writer gets a result for every append, whatever happens here.
import { setTimeout as pause } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { sharedMs } from '../../base/clock.js';
import { type ErrorCode, TrellisError, toErrorData, fail } from '../../base/errors.js';
import type { Entry } from '../entry/decode-entry.js';
import { EntryKeys } from '../entry/entry-keys.js';
import type {
  Ask,
  LogProbe,
  LogToServer,
  LogToWriter,
  NotedPosition,
  ServerToLog,
  WriterToLog,
} from '../ipc/message.js';
import { ClusterTally } from '../ipc/cluster-metrics.js';
import { ClusterState, appendState } from '../ipc/shared-state.js';
import { driverOf } from '../log/drivers.js';
import type { LogPlace, ReplicatedLog } from '../log/replicated-log.js';
import type { ClusterPosition } from '../node.js';
import { type KeepOptions, LogRetention } from './log-retention.js';
import { LogSigning } from './log-signing.js';
import { writeRefusal } from '../ipc/leader.js';
import type { ElectionEvents, ElectionOptions } from './election-types.js';
import { ElectionState } from './leader-election.js';
import { commonEpoch } from './common-epoch.js';

export interface LogThreadSetup {
  place: LogPlace;
  /** Secrets of the cluster, oldest first. */
  secrets: readonly string[] | undefined;
  words: SharedArrayBuffer;
  writer: MessagePort;
  member: ElectionOptions;
  keep: KeepOptions;
  tally: SharedArrayBuffer;
}

/** Milliseconds between two tries to reach the log. */
const retryMs = 500;

/**
 * Errors after which the log has another history than this node: it lost entries that the node has, or
 * deleted entries that the node needs.
 */
const isOfAnother = new Set<ErrorCode>(['LOG_LOST', 'LOG_TRUNCATED']);

class LogThread {
  readonly #words: ClusterState;
  readonly #tally: ClusterTally;
  #member: ElectionState | undefined;
  #log: ReplicatedLog | undefined;
  #isClosed = false;
  readonly #keeper: LogRetention;
  readonly #keeping: NodeJS.Timeout;
  readonly #keys: EntryKeys | undefined;
  readonly #signing: LogSigning | undefined;

  constructor(
    private readonly setup: LogThreadSetup,
    private readonly server: MessagePort,
  ) {
    this.#words = new ClusterState(setup.words);
    this.#tally = new ClusterTally(setup.tally);
    this.#keeper = new LogRetention(setup.keep);
    this.#keys = EntryKeys.of(setup.secrets, setup.place.name);
    this.#signing = this.#keys && new LogSigning(this.#keys, this.#keeper);
    this.#keeping = setInterval(() => void this.#keep(), this.#keeper.everyMs);
    setup.writer.on('message', (message: WriterToLog) => this.#hearWriter(message));
    server.on('message', (message: ServerToLog) => void this.#hearServer(message));
  }

  #tell(message: LogToServer): void {
    this.server.postMessage(message);
  }

  #tellWriter(message: LogToWriter): void {
    this.setup.writer.postMessage(message);
  }

  #hearWriter(message: WriterToLog): void {
    switch (message.kind) {
      case 'ready':
        return void this.#open(message.position);
      case 'append':
        return void this.#append(message);
      case 'applied':
        return this.#member?.applied(message.seq);
      case 'resign':
        return void this.#member?.resign();
      case 'failed':
        return this.#fail(new TrellisError(message.error));
      default:
    }
  }

  async #open(position: NotedPosition): Promise<void> {
    const { place } = this.setup;
    let isTold = false;
    while (!this.#isClosed) {
      try {
        const driver = await driverOf(place.url);
        this.#log = await driver.open(place);
        break;
      } catch (error) {
        const { error: data } = toErrorData(error);
        if (data.code !== 'LOG_UNAVAILABLE') return this.#fail(error);
        if (!isTold) this.#tell({ kind: 'fault', error: data });
        isTold = true;
        await pause(retryMs);
      }
    }
    if (this.#isClosed) return void this.#log?.close();
    if (isTold) this.#tell({ kind: 'fault', error: undefined });
    this.#member = this.#memberOf(this.#log!, position);
  }

  #memberOf(log: ReplicatedLog, position: NotedPosition): ElectionState {
    const events: ElectionEvents = {
      onEntry: (entry) => this.#pass(entry),
      onLead: (position) => {
        this.#signing?.begin(sharedMs());
        this.#tellWriter({ kind: 'lead', position });
        setImmediate(() => void this.#keep());
      },
      onFollow: () => this.#tellWriter({ kind: 'follow' }),
      onChange: (change) => {
        // The writer sets the role to leader itself, because it must be ready first.
        if (change.role !== 'leader') this.#words.role = change.role;
        this.#tell({ kind: 'change', change });
      },
      onHeard: (heardAt, isCaughtUp) => {
        this.#words.heardAt = heardAt;
        if (isCaughtUp) this.#words.caughtUpAt = heardAt;
      },
      onFault: (error) => {
        if (isOfAnother.has(error.code)) void this.#compareEpochs(log);
        this.#tell({ kind: 'fault', error });
      },
      log: (level, message, fields) => this.#tell({ kind: 'log', level, message, fields }),
    };
    const options = { ...this.setup.member, keys: this.#keys };
    return new ElectionState(log, position, options, events, this.#tally);
  }

  /**
   * The histories of the log and of these data differ from some position on. Finds the last common epoch.
   * Later epochs of the log may have the same numbers, but tokens of those epochs do not refer to these data.
   */
  async #compareEpochs(log: ReplicatedLog): Promise<void> {
    this.#words.shareEpochs(undefined);
    this.#words.shareEpochs(await commonEpoch(log, this.#words.epochs));
  }

  #pass({ kind, body, time, position }: Entry): void {
    // Copy into separate memory. The buffer of `body` may be much larger, and a transfer would take it from
    // other users. If a driver returns a Buffer, its `slice` would not copy.
    const own = new Uint8Array(body);
    const message: LogToWriter = { kind: 'entry', entry: { kind, body: own, time, position } };
    this.setup.writer.postMessage(message, [own.buffer]);
  }

  /** Leaves the cluster because of this error, before or after the log was opened. */
  #fail(error: unknown): void {
    if (this.#member !== undefined) return this.#member.fail(error);
    this.#words.role = 'lost';
    const { error: data } = toErrorData(error);
    this.#tell({ kind: 'fault', error: data });
  }

  async #append(order: WriterToLog & { kind: 'append' }): Promise<void> {
    const { entryKind, epoch, body, timeoutMs } = order;
    let state: number = appendState.behind;
    try {
      const at = await this.#member?.append(entryKind, body, { epoch, timeoutMs });
      if (typeof at === 'object') return this.#words.endAppend(appendState.ok, at);
      state = appendState[at ?? 'behind'];
    } catch {
      state = appendState.unknown;
    }
    this.#words.endAppend(state);
  }

  async #hearServer(message: ServerToLog): Promise<void> {
    if (message.kind === 'close') return this.#close();
    if (message.kind === 'fail') return this.#fail(new TrellisError(message.error));
    if (message.kind === 'keepFrom') return this.#keeper.keepFrom(message.marks);
    if (message.kind === 'claim')
      return this.#keeper.claim(message.node, message.seq, sharedMs(), message.keys);
    const { id } = message;
    try {
      this.#tell({ kind: 'done', id, result: await this.#answer(message.ask) });
    } catch (error) {
      this.#tell({ kind: 'done', id, error: toErrorData(error).error });
    }
  }

  async #answer(ask: Ask): Promise<ClusterPosition | LogProbe> {
    const [member, log] = [this.#member, this.#log];
    if (member === undefined || log === undefined)
      fail('LOG_UNAVAILABLE', { what: 'it was not reached yet' });
    switch (ask.what) {
      case 'beat':
        return plain(await member.beat());
      case 'leave':
        return plain(await member.leave());
      case 'handOver':
        return plain(await member.handOver(ask.to));
      case 'trim':
        return this.#trim(member, log, ask.upTo);
      case 'look': {
        const [first, last, bytes] = await Promise.all([log.first(), log.last(), log.size()]);
        return { first, last, bytes, claims: this.#keeper.claims(sharedMs()) };
      }
    }
  }

  /**
   * Deletes entries up to `upTo`. The entry at the end stays: a node that joins uses it to verify that the
   * log is its own.
   */
  async #trim(member: ElectionState, log: ReplicatedLog, upTo: number): Promise<ClusterPosition> {
    if (member.role !== 'leader') throw new TrellisError(writeRefusal(undefined));
    const last = Math.min(upTo, this.#words.durable);
    if (last > 0) await log.trim(last);
    return { epoch: member.head.epoch, seq: Math.max(0, last) };
  }

  /** Deletes entries that are no longer needed. */
  async #keep(): Promise<void> {
    await this.#forgetSome();
    this.#tally.kept(this.#keeper.seen);
    if (this.#member?.role !== 'leader') return;
    await this.#signing?.look(this.#member, sharedMs(), (level, message, fields) =>
      this.#tell({ kind: 'log', level, message, fields }),
    );
  }

  async #forgetSome(): Promise<void> {
    const [member, log] = [this.#member, this.#log];
    if (member?.role !== 'leader' || log === undefined) return this.#keeper.reset();
    try {
      const due = await this.#keeper.look(log, this.#words.durable, sharedMs());
      if (due === undefined) return;
      await this.#trim(member, log, due.upTo);
      if (!due.isFull) return;
      const message =
        'the log is larger than `cluster.log_retention_bytes`: its oldest entries are gone';
      const fields = { upTo: due.upTo, lost: due.dropped.join(', ') };
      this.#tell({ kind: 'log', level: 'warn', message, fields });
    } catch {
      // The log does not respond. The next check tries again.
    }
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#keeping);
    this.#member?.close();
    this.#words.endAppend(appendState.unknown);
    await this.#log?.close().catch(() => undefined);
    this.setup.writer.close();
    this.server.close();
  }
}

const plain = ({ epoch, seq }: ClusterPosition): ClusterPosition => ({ epoch, seq });

if (parentPort) new LogThread(workerData as LogThreadSetup, parentPort);
