// Entry point of the log thread. Each node has one, and only this thread uses the log. It opens the log when
// the writer has reported the position of the data, and passes messages between the election state, the
// writer thread and the main thread.
//
// Invariant: the writer gets a result for every append, whatever happens here.
import { setTimeout as pause } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { sharedMs } from '../../base/clock.js';
import { unreachable } from '../../base/assert.js';
import { type ErrorCode, TrellisError, toErrorData, fail } from '../../base/errors.js';
import type { Entry } from '../entry/decode-entry.js';
import { EntryKeys } from '../entry/entry-keys.js';
import type {
  LogRequest,
  LogProbe,
  LogToServer,
  LogToWriter,
  NotedPosition,
  ServerToLog,
  WriterToLog,
} from '../ipc/message.js';
import { ClusterMetrics } from '../ipc/cluster-metrics.js';
import { ClusterState, appendState } from '../ipc/shared-state.js';
import { driverOf } from '../log/drivers.js';
import type { LogAddress, ReplicatedLog } from '../log/replicated-log.js';
import type { ClusterPosition } from '../node.js';
import { type KeepOptions, LogRetention } from './log-retention.js';
import { LogSigning } from './log-signing.js';
import { writeRefusal } from '../ipc/leader.js';
import type { ElectionEvents, ElectionOptions } from './election-types.js';
import { ElectionState } from './leader-election.js';
import { commonEpoch } from './common-epoch.js';

export interface LogThreadSetup {
  address: LogAddress;
  /** Secrets of the cluster, oldest first. */
  secrets: readonly string[] | undefined;
  words: SharedArrayBuffer;
  writer: MessagePort;
  election: ElectionOptions;
  keep: KeepOptions;
  clusterMetrics: SharedArrayBuffer;
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
  readonly #clusterMetrics: ClusterMetrics;
  #election: ElectionState | undefined;
  #log: ReplicatedLog | undefined;
  #isClosed = false;
  readonly #retention: LogRetention;
  readonly #keeping: NodeJS.Timeout;
  readonly #keys: EntryKeys | undefined;
  readonly #signing: LogSigning | undefined;

  constructor(
    private readonly setup: LogThreadSetup,
    private readonly server: MessagePort,
  ) {
    this.#words = new ClusterState(setup.words);
    this.#clusterMetrics = new ClusterMetrics(setup.clusterMetrics);
    this.#retention = new LogRetention(setup.keep);
    this.#keys = EntryKeys.of(setup.secrets, setup.address.name);
    this.#signing = this.#keys && new LogSigning(this.#keys, this.#retention);
    this.#keeping = setInterval(() => void this.#runRetention(), this.#retention.everyMs);
    setup.writer.on('message', (message: WriterToLog) => this.#onWriterMessage(message));
    server.on('message', (message: ServerToLog) => void this.#onServerMessage(message));
  }

  #send(message: LogToServer): void {
    this.server.postMessage(message);
  }

  #sendToWriter(message: LogToWriter): void {
    this.setup.writer.postMessage(message);
  }

  #onWriterMessage(message: WriterToLog): void {
    switch (message.kind) {
      case 'ready':
        return void this.#open(message.position);
      case 'append':
        return void this.#append(message);
      case 'applied':
        return this.#election?.applied(message.seq);
      case 'resign':
        return void this.#election?.resign();
      case 'failed':
        return this.#fail(new TrellisError(message.error));
      default:
        return unreachable(message);
    }
  }

  async #open(position: NotedPosition): Promise<void> {
    const { address } = this.setup;
    let isReported = false;
    while (!this.#isClosed) {
      try {
        const driver = await driverOf(address.url);
        this.#log = await driver.open(address);
        break;
      } catch (error) {
        const { error: data } = toErrorData(error);
        if (data.code !== 'LOG_UNAVAILABLE') return this.#fail(error);
        if (!isReported) this.#send({ kind: 'fault', error: data });
        isReported = true;
        await pause(retryMs);
      }
    }
    if (this.#isClosed) return void this.#log?.close();
    if (isReported) this.#send({ kind: 'fault', error: undefined });
    this.#election = this.#createElection(this.#log!, position);
  }

  #createElection(log: ReplicatedLog, position: NotedPosition): ElectionState {
    const events: ElectionEvents = {
      onEntry: (entry) => this.#pass(entry),
      onLead: (position) => {
        this.#signing?.begin(sharedMs());
        this.#sendToWriter({ kind: 'lead', position });
        setImmediate(() => void this.#runRetention());
      },
      onFollow: () => this.#sendToWriter({ kind: 'follow' }),
      onChange: (change) => {
        // The writer sets the role to leader itself, because it must be ready first.
        if (change.role !== 'leader') this.#words.role = change.role;
        this.#send({ kind: 'change', change });
      },
      onProgress: (contactAt, isCaughtUp) => {
        this.#words.contactAt = contactAt;
        if (isCaughtUp) this.#words.caughtUpAt = contactAt;
      },
      onError: (error) => {
        if (isOfAnother.has(error.code)) void this.#compareEpochs(log);
        this.#send({ kind: 'fault', error });
      },
      log: (level, message, fields) => this.#send({ kind: 'log', level, message, fields }),
    };
    const options = { ...this.setup.election, keys: this.#keys };
    return new ElectionState(log, position, options, events, this.#clusterMetrics);
  }

  /**
   * The histories of the log and of these data differ from some position on. Finds the last common epoch.
   * Later epochs of the log may have the same numbers, but tokens of those epochs do not refer to these data.
   */
  async #compareEpochs(log: ReplicatedLog): Promise<void> {
    this.#words.publishEpochs(undefined);
    this.#words.publishEpochs(await commonEpoch(log, this.#words.epochs));
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
    if (this.#election !== undefined) return this.#election.fail(error);
    this.#words.role = 'lost';
    const { error: data } = toErrorData(error);
    this.#send({ kind: 'fault', error: data });
  }

  async #append(request: WriterToLog & { kind: 'append' }): Promise<void> {
    const { entryKind, epoch, body, timeoutMs } = request;
    let state: number = appendState.behind;
    try {
      const at = await this.#election?.append(entryKind, body, { epoch, timeoutMs });
      if (typeof at === 'object') return this.#words.endAppend(appendState.ok, at);
      state = appendState[at ?? 'behind'];
    } catch {
      state = appendState.unknown;
    }
    this.#words.endAppend(state);
  }

  async #onServerMessage(message: ServerToLog): Promise<void> {
    if (message.kind === 'close') return this.#close();
    if (message.kind === 'fail') return this.#fail(new TrellisError(message.error));
    if (message.kind === 'keepFrom') return this.#retention.setMarks(message.marks);
    if (message.kind === 'claim')
      return this.#retention.claim(message.node, message.seq, sharedMs(), message.keys);
    const { id } = message;
    try {
      this.#send({ kind: 'done', id, result: await this.#execute(message.ask) });
    } catch (error) {
      this.#send({ kind: 'done', id, error: toErrorData(error).error });
    }
  }

  async #execute(request: LogRequest): Promise<ClusterPosition | LogProbe> {
    const [election, log] = [this.#election, this.#log];
    if (election === undefined || log === undefined)
      fail('LOG_UNAVAILABLE', { what: 'it was not reached yet' });
    switch (request.what) {
      case 'beat':
        return plain(await election.beat());
      case 'leave':
        return plain(await election.leave());
      case 'handOver':
        return plain(await election.handOver(request.to));
      case 'trim':
        return this.#trim(election, log, request.upTo);
      case 'look': {
        const [first, last, bytes] = await Promise.all([log.first(), log.last(), log.size()]);
        return { first, last, bytes, claims: this.#retention.claims(sharedMs()) };
      }
    }
  }

  /**
   * Deletes entries up to `upTo`. The entry at the end stays: a node that joins uses it to verify that the
   * log is its own.
   */
  async #trim(election: ElectionState, log: ReplicatedLog, upTo: number): Promise<ClusterPosition> {
    if (election.role !== 'leader') throw new TrellisError(writeRefusal(undefined));
    const last = Math.min(upTo, this.#words.durable);
    if (last > 0) await log.trim(last);
    return { epoch: election.head.epoch, seq: Math.max(0, last) };
  }

  /** Deletes entries that are no longer needed. */
  async #runRetention(): Promise<void> {
    await this.#trimOld();
    this.#clusterMetrics.logStatus(this.#retention.seen);
    if (this.#election?.role !== 'leader') return;
    await this.#signing?.check(this.#election, sharedMs(), (level, message, fields) =>
      this.#send({ kind: 'log', level, message, fields }),
    );
  }

  async #trimOld(): Promise<void> {
    const [election, log] = [this.#election, this.#log];
    if (election?.role !== 'leader' || log === undefined) return this.#retention.reset();
    try {
      const due = await this.#retention.check(log, this.#words.durable, sharedMs());
      if (due === undefined) return;
      await this.#trim(election, log, due.upTo);
      if (!due.isFull) return;
      const message =
        'the log is larger than `cluster.log_retention_bytes`: its oldest entries are gone';
      const fields = { upTo: due.upTo, lost: due.dropped.join(', ') };
      this.#send({ kind: 'log', level: 'warn', message, fields });
    } catch {
      // The log does not respond. The next check tries again.
    }
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#keeping);
    this.#election?.close();
    this.#words.endAppend(appendState.unknown);
    await this.#log?.close().catch(() => undefined);
    this.setup.writer.close();
    this.server.close();
  }
}

const plain = ({ epoch, seq }: ClusterPosition): ClusterPosition => ({ epoch, seq });

if (parentPort) new LogThread(workerData as LogThreadSetup, parentPort);
