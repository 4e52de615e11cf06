// The main thread's handle of a cluster node. It starts the log thread, receives its messages and sends it
// requests.
// Invariant: nothing here blocks, and nothing here decides who leads.
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads';
import { sharedMs } from '../../base/clock.js';
import { unreachable } from '../../base/assert.js';
import { type ErrorData, TrellisError, errorMessage, fail } from '../../base/errors.js';
import type { ClusterSample } from '../families.js';
import { keyIdsOf } from '../entry/entry-keys.js';
import { isBefore } from '../ipc/epochs.js';
import type { LogRequest, LogProbe, LogToServer, ServerToLog } from '../ipc/message.js';
import { reachable } from '../ipc/leader.js';
import { ClusterMetrics } from '../ipc/cluster-metrics.js';
import { ClusterState, appendState } from '../ipc/shared-state.js';
import {
  type ClusterLeader,
  type ClusterNode,
  type ClusterPosition,
  type ClusterRole,
  type Compared,
  type RoleChange,
  printPosition,
} from '../node.js';
import type { ClusterOptions } from '../options.js';
import { startFailure, startThread } from '../../system/thread.js';
import { logAddressOf } from '../log/log-address.js';
import type { LogThreadSetup } from './log-thread.js';
import { writeRefusal } from '../ipc/leader.js';

type Logger = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Record<string, unknown>,
) => void;

/** Functions of the database that the node calls. */
interface NodeData {
  /** Leader only: appends an entry with these settings. */
  sendSettings: (settings: Uint8Array) => Promise<ClusterPosition>;
  /** Leader only: makes all nodes compare their tables. */
  check: () => Promise<Omit<Compared, 'other'>>;
  settings: () => Uint8Array | undefined;
}

interface Waiter {
  resolve: (result: ClusterPosition | LogProbe) => void;
  reject: (error: TrellisError) => void;
}

/** Number of leases of silence after which the log counts as unreachable. */
const silentLeases = 3;
const closeMs = 5000;

export class NodeHandle implements ClusterNode {
  readonly words = new ClusterState();
  readonly clusterMetrics = new ClusterMetrics();
  /** The writer's port to the log thread. */
  readonly writerPort: MessagePort;
  readonly keys: readonly number[];
  readonly #worker: Worker;
  readonly #listeners = new Set<(change: RoleChange) => void>();
  readonly #waiting = new Map<number, Waiter>();
  #lastId = 0;
  #leader: ClusterLeader | undefined;
  #error: ErrorData | undefined;
  #changes: Record<string, number> = {};
  readonly #openedAt = sharedMs();
  readonly #ended: Promise<unknown>;

  /**
   * Rejects when the log thread cannot start. Without the log thread, this node cannot take part in the
   * cluster.
   */
  readonly begun: Promise<void>;

  constructor(
    private readonly options: ClusterOptions,
    readonly name: string,
    private readonly log: Logger,
  ) {
    this.keys = keyIdsOf(options.secrets ?? []);
    const { port1, port2 } = new MessageChannel();
    this.writerPort = port2;
    const { node, advertise, leaseMs, appendTimeoutMs, keepMs, keepBytes } = options;
    const setup: LogThreadSetup = {
      address: logAddressOf(options, name),
      secrets: options.secrets,
      keep: { keepMs, keepBytes },
      words: this.words.buffer,
      writer: port1,
      clusterMetrics: this.clusterMetrics.buffer,
      election: {
        self: { node, address: advertise },
        mayLead: options.role === 'member',
        leaseMs,
        appendTimeoutMs,
      },
    };
    this.#worker = startThread(new URL('./log-thread.js', import.meta.url), {
      workerData: setup,
      transferList: [port1],
    });
    this.#worker.unref();
    this.#worker.on('message', (message: LogToServer) => this.#onMessage(message));
    this.#worker.on('error', (error) => this.#lose(error));
    this.begun = new Promise((resolve, reject) => {
      this.#worker.once('online', resolve);
      this.#worker.once('error', (error) => reject(startFailure(error)));
    });
    // The code that opens the database handles the rejection, if it gets that far.
    this.begun.catch(() => undefined);
    this.#ended = new Promise((resolve) => this.#worker.once('exit', resolve));
  }

  get node(): string {
    return this.options.node;
  }

  get role(): ClusterRole {
    return this.words.role;
  }

  get leader(): ClusterLeader | undefined {
    return this.#leader;
  }

  get position(): ClusterPosition {
    return this.words.position;
  }

  get lagMs(): number {
    if (this.role === 'leader') return 0;
    return Math.max(0, sharedMs() - (this.words.caughtUpAt || this.#openedAt));
  }

  get hasCaughtUp(): boolean {
    return this.role === 'leader' || this.words.caughtUpAt > 0;
  }

  get silenceMs(): number {
    return Math.max(0, sharedMs() - (this.words.contactAt || this.#openedAt));
  }

  get fault(): ErrorData | undefined {
    return this.#error;
  }

  /** Sets an error of this node that does not concern the log, or clears it with undefined. */
  setFault(error: ErrorData | undefined): void {
    this.#error = error;
    if (error) this.log('error', 'this node is not in order', { reason: errorMessage(error) });
  }

  get isReady(): boolean {
    const isPart = this.role === 'leader' || this.role === 'follower';
    const isClose = this.hasCaughtUp && this.lagMs <= this.options.maxLagMs;
    return isPart && this.#error === undefined && isClose;
  }

  get refusal(): ErrorData | undefined {
    if (this.role === 'leader') return undefined;
    if (this.#error !== undefined) return this.#error;
    if (this.silenceMs > silentLeases * this.options.leaseMs)
      return { code: 'LOG_UNAVAILABLE', args: { what: 'it is silent' } };
    return writeRefusal(this.#leader);
  }

  #onMessage(message: LogToServer): void {
    switch (message.kind) {
      case 'change':
        return this.#change(message.change);
      case 'fault':
        return this.setFault(message.error);
      case 'log':
        return this.log(message.level, message.message, message.fields);
      case 'done': {
        const waiter = this.#waiting.get(message.id);
        this.#waiting.delete(message.id);
        if (message.error) return waiter?.reject(new TrellisError(message.error));
        return waiter?.resolve(message.result!);
      }
      default:
        return unreachable(message);
    }
  }

  #change(change: RoleChange): void {
    this.#leader = change.leader;
    if (change.reason !== 'heard')
      this.#changes[change.reason] = (this.#changes[change.reason] ?? 0) + 1;
    for (const listener of this.#listeners) listener(change);
  }

  /** The log thread ended by a defect. Rejects all waiting requests. */
  #lose(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.log('error', 'the log thread has ended', { reason });
    this.words.role = 'lost';
    this.words.endAppend(appendState.unknown);
    this.setFault({ code: 'LOG_UNAVAILABLE', args: { what: 'its thread has ended' } });
    for (const { reject } of this.#waiting.values()) reject(new TrellisError(this.#error!));
    this.#waiting.clear();
  }

  /** Starts at the position of the opened data. */
  begin(leader: ClusterLeader | undefined): void {
    this.#leader ??= reachable(leader);
  }

  #request(request: LogRequest): Promise<ClusterPosition | LogProbe> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ kind: 'ask', id, ask: request } satisfies ServerToLog);
    });
  }

  hasApplied(wanted: ClusterPosition): boolean {
    return this.role !== 'joining' && this.words.hasApplied(wanted);
  }

  async waitFor(wanted: ClusterPosition, ms: number): Promise<void> {
    if (await this.words.until(() => this.hasApplied(wanted), ms)) return;
    const position = printPosition(this.position);
    fail('REPLICA_BEHIND', { position, wanted: printPosition(wanted) });
  }

  #answered: ClusterPosition | undefined;

  noteAnswered(position: ClusterPosition): void {
    if (this.#answered === undefined || isBefore(this.#answered, position))
      this.#answered = position;
  }

  get owed(): ClusterPosition | undefined {
    const answered = this.#answered;
    return answered === undefined || this.hasApplied(answered) ? undefined : answered;
  }

  async waitForLeader(ms: number): Promise<ClusterLeader | undefined> {
    if (this.#leader === undefined) {
      let stop = (): void => {};
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
        stop = this.onChange(({ leader }) => leader && resolve());
      });
      clearTimeout(timer);
      stop();
    }
    return this.#leader;
  }

  async readBarrier(ms: number): Promise<ClusterPosition> {
    this.#checkLeads();
    const position = (await this.#request({ what: 'beat' })) as ClusterPosition;
    await this.waitFor(position, ms);
    return position;
  }

  #checkLeads(): void {
    const { refusal } = this;
    if (refusal !== undefined) throw new TrellisError(refusal);
  }

  async stepDown(to?: ClusterLeader): Promise<ClusterPosition> {
    this.#checkLeads();
    return (await this.#request({ what: 'handOver', to })) as ClusterPosition;
  }

  program = '';

  /** Callbacks of the database, set when it is open. */
  data: NodeData = {
    sendSettings: () => Promise.resolve(this.position),
    check: () => Promise.resolve({ check: '', position: this.position }),
    settings: () => undefined,
  };

  async check(): Promise<Omit<Compared, 'other'>> {
    this.#checkLeads();
    return this.data.check();
  }

  readonly #comparing = new Set<(result: Compared) => void>();

  onCompared(listener: (result: Compared) => void): () => void {
    this.#comparing.add(listener);
    return () => void this.#comparing.delete(listener);
  }

  compared(result: Compared): void {
    for (const listener of this.#comparing) listener(result);
  }

  /** Leaves the cluster, because the data differ from what the log says. */
  fail(error: ErrorData): void {
    this.#worker.postMessage({ kind: 'fail', error } satisfies ServerToLog);
  }

  settings(): Uint8Array | undefined {
    return this.data.settings();
  }

  async setSettings(settings: Uint8Array): Promise<ClusterPosition> {
    this.#checkLeads();
    return this.data.sendSettings(settings);
  }

  get durable(): ClusterPosition {
    return { epoch: this.words.epoch, seq: this.words.durable };
  }

  get signedBy(): number | undefined {
    return this.words.key;
  }

  claim(node: string, seq: number | undefined, keys: readonly number[] = []): void {
    this.#worker.postMessage({ kind: 'claim', node, seq, keys } satisfies ServerToLog);
  }

  keepFrom(marks: readonly number[]): void {
    this.#worker.postMessage({ kind: 'keepFrom', marks } satisfies ServerToLog);
  }

  async leave(): Promise<void> {
    await this.#request({ what: 'leave' });
  }

  async trim(upTo: number): Promise<void> {
    this.#checkLeads();
    await this.#request({ what: 'trim', upTo });
  }

  async look(): Promise<LogProbe> {
    return (await this.#request({ what: 'look' })) as LogProbe;
  }

  onChange(listener: (change: RoleChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  metrics(): ClusterSample[] {
    const roles: ClusterRole[] = ['joining', 'follower', 'leader', 'lost'];
    return [
      ...roles.map((role): ClusterSample => {
        return { name: 'cluster_role', labels: { role }, value: role === this.role ? 1 : 0 };
      }),
      { name: 'cluster_epoch', value: this.words.epoch },
      { name: 'cluster_position', value: this.words.seq },
      { name: 'cluster_lag_seconds', value: this.lagMs / 1000 },
      ...Object.entries(this.#changes).map(([reason, value]): ClusterSample => {
        return { name: 'cluster_leader_changes_total', labels: { reason }, value };
      }),
      ...this.clusterMetrics.samples(this.words.seq),
    ];
  }

  /** Hands over the lead if this node has it, so that the next leader need not wait for the lease. */
  async #handOver(): Promise<void> {
    if (this.role !== 'leader') return;
    const late = new Promise((resolve) => setTimeout(resolve, closeMs / 5).unref());
    await Promise.race([this.#request({ what: 'handOver', to: undefined }), late]).catch(() => {});
  }

  /** Resolves when the log thread has ended. */
  async close(): Promise<void> {
    this.#worker.ref();
    await this.#handOver();
    this.#worker.postMessage({ kind: 'close' } satisfies ServerToLog);
    const late = setTimeout(() => void this.#worker.terminate(), closeMs);
    await this.#ended;
    clearTimeout(late);
  }
}
