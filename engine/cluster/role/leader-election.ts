// Runs the part of one node in its cluster: it follows the log, tries to lead when no node does, and leads
// until the log refuses one of its entries. Runs on the log thread.
//
//   joining -> follower <-> leader      `#role` holds these, and `lost`, which ends every one of them
//
//   joining    reads the log. #prove verifies that the log has the entry at the position of the data.
//   follower   applies entries. #tick calls #try when the lease has expired and everything is applied.
//              `#electionDelay` is set while the node may try early: the last leader named it, or no node.
//              `#holdUntil` forbids a try for two leases after this node has handed over.
//   (trying)   a follower with `#isTrying`: its epoch entry is being appended. `ok` makes it the leader.
//   leader     appends entries one at a time (#inTurn). A refused or unknown append makes it a follower
//              (#step).
//   lost       fail() was called: the node reads and appends no more.
//
// `#reading` counts the loops that read the log. A loop whose number is no longer current has no effect.
//
// Invariant: a leader has its own epoch entry in the log, directly after everything that it has applied. The
// first refused append ends its lead. Clocks decide only when a node tries to lead.
import { randomBytes } from 'node:crypto';
import { sharedMs, wallMs } from '../../base/clock.js';
import { TrellisError, toErrorData, errorMessage, fail } from '../../base/errors.js';
import { EntryDecoder, type Entry } from '../entry/decode-entry.js';
import type { Position } from '../entry/chain.js';
import { printKey } from '../entry/entry-keys.js';
import { entryKind } from '../entry/kind.js';
import { type SealedEntry, encodeEntry } from '../entry/encode-entry.js';
import type { NotedPosition } from '../ipc/message.js';
import { ClusterMetrics } from '../ipc/cluster-metrics.js';
import type { OnContact, ReplicatedLog } from '../log/replicated-log.js';
import type { ClusterLeader, ClusterRole, RoleChange } from '../node.js';
import { type PreviousEntry, type Outcome, appendEntry, hasEntry } from './appender.js';
import { leaderOf, packLeader, reachable, writeRefusal } from '../ipc/leader.js';
import type { ElectionEvents, ElectionOptions } from './election-types.js';
import { LeaseTimer } from './lease-timer.js';

/** Content of an entry. */
interface Written {
  kind: number;
  body: Uint8Array;
  /** Id of the signing key. Default: the key of the entry before it. */
  key?: number;
}

/** Maximum bytes of entries that wait to be applied. */
const waitingMax = 64 * 1024 * 1024;

/** Ticks per lease, and beats per lease by which the leader breaks its silence. */
const ticksPerLease = 20;
const beatsPerLease = 3;

/** Maximum delay before a node tries to lead early, as a share of the lease, for each reason. */
const electionDelay = {
  /** The last leader named this node, so no other node competes. */
  named: 0,
  /** The last leader named no node. A short random delay makes it rare that two nodes try together. */
  anybody: 0.01,
  /** This node led and does not know the result of its last entry. It must read that first. */
  unknown: 0.1,
};

export class ElectionState {
  #role: ClusterRole = 'joining';
  #leader: ClusterLeader | undefined;
  /** Position of the last entry that was read or appended. */
  #head: Position;
  #assembler: EntryDecoder;
  #applied: number;
  /** Incremented when reading restarts or ends. Messages of an older reading are ignored. */
  #reading = 0;
  #waitingBytes = 0;
  readonly #waiting: { seq: number; bytes: number }[] = [];
  #onDrained: (() => void) | undefined;
  readonly #leaseTimer: LeaseTimer;
  #threshold = 0;
  /** One of `electionDelay` while this node may try early. */
  #electionDelay: number | undefined;
  #holdUntil = 0;
  #isTrying = false;
  /** True when the log is verified as the log to which the data belong. */
  #isProven = false;
  #isProving = false;
  /** True if the log holds, or may hold, more than was read of it. */
  #hasMore = true;
  /** Time when the log last had the entry that this node followed or appended last. */
  #provenAt = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #queued = 0;
  #lastAppend = 0;
  #sharedBeat: Promise<Position> | undefined;
  /** Time when this leader last named itself in the log. */
  #namedAt = 0;
  readonly #timer: NodeJS.Timeout;
  /** Fires before the next tick, when this node may try early. */
  #soon: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: ReplicatedLog,
    position: NotedPosition,
    private readonly options: ElectionOptions,
    private readonly events: ElectionEvents,
    private readonly clusterMetrics = new ClusterMetrics(),
  ) {
    this.#head = position;
    this.#applied = position.seq;
    this.#leader = reachable(position.leader);
    this.#assembler = new EntryDecoder(position, options.keys);
    const { leaseMs } = options;
    const tickMs = Math.max(10, leaseMs / ticksPerLease);
    this.#leaseTimer = new LeaseTimer(leaseMs / 2, tickMs, sharedMs());
    this.#draw();
    this.#timer = setInterval(() => this.#tick(), tickMs);
    if (position.key === undefined || options.keys?.ids.includes(position.key)) void this.#read();
    else this.#cannotSign(position.key);
  }

  /** This node cannot sign with this key, so all other nodes would refuse its entries. */
  #cannotSign(key: number): void {
    const what = `it is signed by the key ${printKey(key)}, which \`cluster.secret_file\` of this node does not hold`;
    this.fail(new TrellisError({ code: 'LOG_UNTRUSTED', args: { what } }));
  }

  get role(): ClusterRole {
    return this.#role;
  }

  get head(): Position {
    return this.#head;
  }

  close(): void {
    this.#reading++;
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
  }

  /** Records that the writer has applied everything up to `seq`. */
  applied(seq: number): void {
    this.#applied = Math.max(seq, this.#applied);
    while (this.#waiting.length > 0 && this.#waiting[0]!.seq <= seq) {
      this.#waitingBytes -= this.#waiting.shift()!.bytes;
    }
    if (this.#waitingBytes < waitingMax) this.#onDrained?.();
    this.#reportProgress();
    if (this.#electionDelay !== undefined) this.#tick();
  }

  #reportProgress(): void {
    const hasAll = !this.#hasMore && this.#applied >= this.#head.seq;
    this.events.onProgress(this.#leaseTimer.contactAt, hasAll);
  }

  /** Leaves the cluster because of this error. */
  fail(error: unknown): void {
    if (this.#role === 'lost') return;
    const { error: data, stack } = toErrorData(error);
    if (data.code === 'LOG_LOST' || data.code === 'LOG_UNTRUSTED')
      this.clusterMetrics.add('chainErrors');
    this.#reading++;
    const wasLeading = this.#role === 'leader';
    // A node that has left must not forward writes.
    if (wasLeading || data.code === 'NODE_LEFT') this.#leader = undefined;
    this.events.onError(data);
    this.#become('lost', 'fault');
    if (wasLeading) this.events.onFollow();
    const reason = errorMessage(data);
    this.events.log('error', 'left the cluster', { code: data.code, reason, stack });
  }

  #become(role: ClusterRole, reason: RoleChange['reason']): void {
    this.#role = role;
    const { epoch, seq } = this.#head;
    this.events.onChange({ role, leader: this.#leader, position: { epoch, seq }, reason });
    if (reason === 'heard' || reason === 'opened') return;
    const fields = { role, reason, head: `${epoch}.${seq}`, applied: this.#applied };
    this.events.log('info', 'changed its role', { ...fields, leader: this.#leader?.node });
  }

  /** Reads the log after the last entry, for as long as this node follows. */
  async #read(): Promise<void> {
    const reading = ++this.#reading;
    const isCurrent = (): boolean => reading === this.#reading;
    const assembler = this.#assembler;
    const onContact = (hasMore = false): void => {
      if (!isCurrent()) return;
      this.#leaseTimer.contact(sharedMs());
      this.#hasMore = hasMore;
      if (!this.#isProven) return void this.#prove(onContact);
      if (this.#role === 'joining') this.#become('follower', 'opened');
      this.#reportProgress();
    };
    if (!this.#isProven) void this.#prove(onContact);
    try {
      for await (const message of this.log.read(assembler.end + 1, onContact)) {
        if (!isCurrent()) return;
        const entry = assembler.push(message);
        // A complete entry proves that no entry is missing before it, even if the log has trimmed those.
        this.#isProven ||= entry !== undefined;
        this.#provenAt = sharedMs();
        onContact(true);
        this.#leaseTimer.reset();
        if (entry === undefined) continue;
        this.#take(entry);
        if (this.#waitingBytes >= waitingMax) await this.#drained();
        if (!isCurrent()) return;
      }
    } catch (error) {
      if (isCurrent()) this.fail(error);
    }
  }

  /**
   * Verifies the log: it belongs to the data when it has the entry at the position of the data. Calls `hear`
   * when it does.
   */
  async #prove(onContact: OnContact): Promise<void> {
    if (this.#isProving || this.#isProven) return;
    this.#isProving = true;
    const reading = this.#reading;
    try {
      const hasHead = await hasEntry(this.log, this.#head);
      if (reading !== this.#reading || !hasHead) return;
      this.#isProven = true;
      this.#provenAt = sharedMs();
      onContact(this.#hasMore);
    } catch (error) {
      if (reading === this.#reading) this.fail(error);
    } finally {
      this.#isProving = false;
    }
  }

  /**
   * Returns the message after which the next entry goes. After half a lease of silence, the append first
   * verifies that message, because another node may have led meanwhile, on a log that had lost it.
   */
  #before(previous: { seq: number; chain: bigint }): PreviousEntry {
    const isVerified = sharedMs() - this.#provenAt < this.options.leaseMs / 2;
    return { seq: previous.seq, chain: previous.chain, isVerified };
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
    this.#onDrained = undefined;
  }

  #take(entry: Entry): void {
    this.#head = entry.position;
    this.clusterMetrics.entry(entry.kind, entry.position.seq);
    this.#waitingBytes += entry.body.length;
    this.#waiting.push({ seq: entry.position.seq, bytes: entry.body.length });
    this.events.onEntry(entry);
    if (entry.kind === entryKind.epoch) this.#findLeader(leaderOf(entry.body));
  }

  #findLeader(leader: ClusterLeader): void {
    // A leader that another node named announces its own address when it leads.
    this.#leader = reachable(leader);
    // Another node has led since this node handed over, so this node may try again.
    this.#holdUntil = 0;
    this.#electionDelay = undefined;
    if (leader.node === this.options.self.node) this.#electionDelay = electionDelay.named;
    else if (leader.node === '') this.#electionDelay = electionDelay.anybody;
    this.#draw();
    this.#become(this.#role, 'heard');
  }

  /** Draws a random delay before this node tries to lead, so that two nodes rarely try at the same moment. */
  #draw(): void {
    const { leaseMs } = this.options;
    clearTimeout(this.#soon);
    if (this.#electionDelay === undefined) {
      this.#threshold = leaseMs * (1 + Math.random());
      return;
    }
    this.#threshold = leaseMs * this.#electionDelay * Math.random();
    this.#soon = setTimeout(() => this.#tick(), this.#threshold + 1);
  }

  #tick(): void {
    const now = sharedMs();
    this.#leaseTimer.tick(now);
    if (this.#role === 'leader') {
      const { leaseMs } = this.options;
      const isSilent = this.#queued === 0 && now - this.#lastAppend >= leaseMs / beatsPerLease;
      if (isSilent || now - this.#namedAt >= leaseMs) this.beat().catch(() => undefined);
      return;
    }
    const hasAll = this.#applied >= this.#head.seq && this.#role === 'follower';
    const isDue = this.#leaseTimer.silence >= this.#threshold && this.#leaseTimer.isAlive(now);
    if (!this.options.mayLead || !hasAll || !isDue || this.#isTrying || now < this.#holdUntil)
      return;
    void this.#try();
  }

  /** Tries to lead by appending an epoch entry after everything that is known. */
  async #try(): Promise<void> {
    this.#isTrying = true;
    const reading = this.#reading;
    const { self, appendTimeoutMs } = this.options;
    const epoch = this.#head.epoch + 1;
    const { end, endChain } = this.#assembler;
    const entry = { kind: entryKind.epoch, epoch, body: packLeader(self) };
    const sealed = this.#seal(end, entry);
    try {
      const before = this.#before({ seq: end, chain: endChain });
      const outcome = await this.#send(sealed, before, appendTimeoutMs);
      if (reading !== this.#reading) return;
      // Entries after our own entry mean that another node leads.
      if (outcome === 'ok' && this.#head.seq <= sealed.position.seq) this.#lead(sealed.position);
      this.#leaseTimer.reset();
      if (outcome !== 'unknown' && outcome !== 'held') this.#electionDelay = undefined;
      this.#draw();
    } finally {
      this.#isTrying = false;
    }
  }

  #lead(position: Position): void {
    this.#reading++;
    if (position.seq > this.#head.seq) this.clusterMetrics.entry(entryKind.epoch, position.seq);
    this.#head = position;
    this.#leader = this.options.self;
    this.#lastAppend = sharedMs();
    this.#provenAt = this.#lastAppend;
    this.#namedAt = this.#lastAppend;
    this.events.onLead({ ...position, leader: this.#leader });
    this.#become('leader', 'promoted');
  }

  /** Encodes an entry. It is signed as the entry before it, unless `key` is a newer key. */
  #seal(
    after: number,
    { kind, epoch, body, key = this.#head.key }: Written & { epoch: number },
  ): SealedEntry {
    const { keys } = this.options;
    const signer = keys && key !== undefined ? { keys, id: key } : undefined;
    const source = { kind, epoch, id: randomBytes(16), time: wallMs(), body };
    return encodeEntry(this.#head, after, source, signer);
  }

  /**
   * Appends an entry of the leader of this epoch, after all queued entries. Returns its position, or the
   * reason why it was not appended. `behind` and `unknown` end the lead.
   */
  append(
    kind: number,
    body: Uint8Array,
    { epoch = this.#head.epoch, timeoutMs = this.options.appendTimeoutMs } = {},
  ): Promise<Position | Exclude<Outcome, 'ok'>> {
    return this.#inTurn(async () => {
      if (this.#role !== 'leader' || epoch !== this.#head.epoch) return 'behind';
      return this.#appendAs({ kind, body }, { epoch, timeoutMs });
    });
  }

  async #appendAs(
    written: Written,
    { epoch, timeoutMs }: { epoch: number; timeoutMs: number },
  ): Promise<Position | Exclude<Outcome, 'ok'>> {
    const { kind } = written;
    const before = this.#before(this.#head);
    const sealed = this.#seal(before.seq, { ...written, epoch });
    const outcome = await this.#send(sealed, before, timeoutMs);
    this.#lastAppend = sharedMs();
    this.#leaseTimer.contact(this.#lastAppend);
    if (outcome === 'ok') {
      this.#provenAt = this.#lastAppend;
      this.#head = sealed.position;
      this.clusterMetrics.entry(kind, sealed.position.seq);
      return sealed.position;
    }
    if (outcome !== 'full') this.#step(outcome === 'behind' ? 'deposed' : 'unknown_append');
    return outcome;
  }

  #send(sealed: SealedEntry, before: PreviousEntry, timeoutMs: number): Promise<Outcome> {
    const { clusterMetrics } = this;
    const onError = (error: unknown): void => this.fail(error);
    return appendEntry(this.log, sealed, before, { timeoutMs, clusterMetrics, onError });
  }

  /** Runs one append at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#queued++;
    const result = this.#tail.then(work).finally(() => this.#queued--);
    this.#tail = result.catch(() => undefined);
    return result;
  }

  /**
   * Stops leading. The node follows after its last entry, and reads the outcome of its unconfirmed entries
   * there.
   */
  #step(reason: RoleChange['reason']): void {
    if (this.#role !== 'leader') return;
    this.#leader = undefined;
    this.#electionDelay = reason === 'unknown_append' ? electionDelay.unknown : undefined;
    this.#assembler = new EntryDecoder(this.#head, this.options.keys);
    this.#hasMore = true;
    this.#leaseTimer.reset();
    this.#draw();
    this.events.onFollow();
    this.#become('follower', reason);
    void this.#read();
  }

  /**
   * Appends a beat entry. Returns a position that the log had reached at some moment after the call. Fails
   * NOT_LEADER.
   */
  beat(): Promise<Position> {
    // All callers that come before the beat is sent share it. It is after every response that these callers
    // can have received.
    this.#sharedBeat ??= this.#inTurn(async () => {
      this.#sharedBeat = undefined;
      this.#namedAt = sharedMs();
      // A node that joins without data finds the leader by this entry.
      return this.#control({ kind: entryKind.beat, body: packLeader(this.options.self) });
    });
    return this.#sharedBeat;
  }

  /**
   * Signs with that key from now on, beginning with a beat entry. All nodes that read the log know the key.
   * Fails NOT_LEADER.
   */
  signBy(key: number): Promise<Position> {
    return this.#inTurn(async () => {
      const body = packLeader(this.options.self);
      return this.#control({ kind: entryKind.beat, body, key });
    });
  }

  async #control(written: Written): Promise<Position> {
    this.#checkLeads();
    const { appendTimeoutMs: timeoutMs } = this.options;
    const { kind, body } = written;
    const at = await this.#appendAs(written, { epoch: this.#head.epoch, timeoutMs });
    if (typeof at === 'string') return this.#refuse(at);
    this.#pass(kind, body, at);
    return at;
  }

  /**
   * Sends the entry to the writer like an entry that was read. The writer may still be committing the one
   * before.
   */
  #pass(kind: number, body: Uint8Array, position: Position): void {
    const [time, first] = [wallMs(), position.seq];
    this.events.onEntry({ kind, id: new Uint8Array(16), time, body, first, position });
  }

  /** Hands over because the writer cannot lead. This node may lead again when it has applied everything. */
  resign(): Promise<unknown> {
    // If the log does not accept the handover, the silence of this node ends its lease.
    return this.handOver(undefined).catch(() => this.#step('stepped_down'));
  }

  #checkLeads(): void {
    if (this.#role !== 'leader') this.#refuse('behind');
  }

  #refuse(outcome: Exclude<Outcome, 'ok'>): never {
    if (outcome === 'full') fail('LOG_FULL', { what: 'it refused an entry' });
    if (outcome === 'lost') fail('LOG_LOST', { what: 'it refused an entry' });
    if (outcome !== 'behind') fail('LOG_UNAVAILABLE', { what: 'it does not answer' });
    throw new TrellisError(writeRefusal(this.#leader));
  }

  /** Leaves the cluster. Applied data stay and are served. */
  async leave(): Promise<Position> {
    if (this.#role === 'leader') await this.handOver(undefined);
    this.fail(new TrellisError({ code: 'NODE_LEFT', args: { node: this.options.self.node } }));
    return this.#head;
  }

  /** Hands over to `to`, or to the first node that claims the lead. */
  handOver(to: ClusterLeader | undefined): Promise<Position> {
    return this.#inTurn(async () => {
      this.#checkLeads();
      const { leaseMs, appendTimeoutMs: timeoutMs } = this.options;
      const body = packLeader(to ?? { node: '', address: '' });
      const epoch = this.#head.epoch + 1;
      const at = await this.#appendAs({ kind: entryKind.epoch, body }, { epoch, timeoutMs });
      if (typeof at === 'string') return this.#refuse(at);
      this.#holdUntil = sharedMs() + 2 * leaseMs;
      this.#step('stepped_down');
      // The node does not read its own entry back. Without this call, it would never count as having applied
      // everything, and never lead again.
      this.#pass(entryKind.epoch, body, at);
      this.#leader = reachable(to);
      this.#become('follower', 'heard');
      return at;
    });
  }
}
