// One node's part in its cluster: it follows the log, tries to lead when nobody does, and leads until the log
// refuses one of its entries. Runs in the log thread.
//
// Invariant: whoever leads has the log's word for it, an epoch entry of its own behind all that it has
// applied; the first append that is refused ends it. Clocks decide only when somebody tries.
import { randomBytes } from 'node:crypto';
import { sharedMs, wallMs } from '../../base/clock.js';
import {
  type ErrorData,
  TrellisError,
  errorDataOf,
  errorMessage,
  fail,
} from '../../base/errors.js';
import { EntryDecoder, type Entry } from '../entry/decode-entry.js';
import type { Position } from '../entry/chain.js';
import { type EntryKeys, printKey } from '../entry/entry-keys.js';
import { entryKind } from '../entry/kind.js';
import { type SealedEntry, encodeEntry } from '../entry/encode-entry.js';
import type { NotedPosition } from '../ipc/message.js';
import { ClusterTally } from '../ipc/cluster-metrics.js';
import type { Heard, ReplicatedLog } from '../log/replicated-log.js';
import type { ClusterLeader, ClusterRole, RoleChange } from '../node.js';
import { type PreviousEntry, type Outcome, appendEntry, hasEntry } from './appender.js';
import { leaderOf, packLeader, reachable } from '../ipc/leader.js';
import { LeaseTimer } from './lease-timer.js';

export interface MemberOptions {
  self: ClusterLeader;
  mayLead: boolean;
  leaseMs: number;
  appendTimeoutMs: number;
  /** Of those who may write to the log; without any, entries are not signed. */
  keys?: EntryKeys | undefined;
}

export interface MemberEvents {
  /** To be applied, in order; answered by `applied`. */
  onEntry: (entry: Entry) => void;
  onLead: (position: NotedPosition) => void;
  onFollow: () => void;
  onChange: (change: RoleChange) => void;
  /** Of what is heard and applied, for whoever asks how far behind this node is. */
  onHeard: (heardAt: number, isCaughtUp: boolean) => void;
  onFault: (error: ErrorData) => void;
  log: (level: 'info' | 'warn' | 'error', message: string, fields: Record<string, unknown>) => void;
}

/** What an entry says. */
interface Written {
  kind: number;
  body: Uint8Array;
  /** By which it is signed; absent: by that of the entry before it. */
  key?: number;
}

/** Bytes of entries that wait to be applied. */
const waitingMax = 64 * 1024 * 1024;

/** Shares of the lease: between looks, and after which the leader breaks its silence. */
const looksPerLease = 20;
const beatsPerLease = 3;

/** How much of the lease a node waits at most before it tries at once, by why it may. */
const electionDelay = {
  /** The last leader named it: nobody else is to be feared. */
  named: 0,
  /** The last leader named nobody: a moment, in which two seldom ask for the lead together. */
  anybody: 0.01,
  /** It led, and does not know its last entry's outcome: that is to be read first. */
  unknown: 0.1,
};

export class ElectionState {
  #role: ClusterRole = 'joining';
  #leader: ClusterLeader | undefined;
  /** Of the last entry: read, or appended. */
  #head: Position;
  #assembler: EntryDecoder;
  #applied: number;
  /** Counted up whenever reading begins anew or is over; what an older one still brings is not looked at. */
  #reading = 0;
  #waitingBytes = 0;
  readonly #waiting: { seq: number; bytes: number }[] = [];
  #onDrained: (() => void) | undefined;
  readonly #watch: LeaseTimer;
  #threshold = 0;
  /** Of `haste`, where this node may try at once. */
  #electionDelay: number | undefined;
  #holdUntil = 0;
  #isTrying = false;
  /** Whether the log is known as the one that the data are of. */
  #isProven = false;
  #isProving = false;
  /** Whether the log holds more than was read of it, or may. */
  #hasMore = true;
  /** When the log last had what this node followed or appended last. */
  #provenAt = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #queued = 0;
  #lastAppend = 0;
  #sharedBeat: Promise<Position> | undefined;
  /** When the log last heard from this leader who it is. */
  #namedAt = 0;
  readonly #timer: NodeJS.Timeout;
  /** The next look is not waited for by who may try at once. */
  #soon: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: ReplicatedLog,
    position: NotedPosition,
    private readonly options: MemberOptions,
    private readonly events: MemberEvents,
    private readonly tally = new ClusterTally(),
  ) {
    this.#head = position;
    this.#applied = position.seq;
    this.#leader = reachable(position.leader);
    this.#assembler = new EntryDecoder(position, options.keys);
    const { leaseMs } = options;
    const tickMs = Math.max(10, leaseMs / looksPerLease);
    this.#watch = new LeaseTimer(leaseMs / 2, tickMs, sharedMs());
    this.#draw();
    this.#timer = setInterval(() => this.#tick(), tickMs);
    if (position.key === undefined || options.keys?.ids.includes(position.key)) void this.#read();
    else this.#cannotSign(position.key);
  }

  /** What it appends here, all others would refuse. */
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

  /** The writer has applied all up to `seq`. */
  applied(seq: number): void {
    this.#applied = Math.max(seq, this.#applied);
    while (this.#waiting.length > 0 && this.#waiting[0]!.seq <= seq) {
      this.#waitingBytes -= this.#waiting.shift()!.bytes;
    }
    if (this.#waitingBytes < waitingMax) this.#onDrained?.();
    this.#tellHeard();
    if (this.#electionDelay !== undefined) this.#tick();
  }

  #tellHeard(): void {
    const hasAll = !this.#hasMore && this.#applied >= this.#head.seq;
    this.events.onHeard(this.#watch.heardAt, hasAll);
  }

  /** Takes no part any more. */
  fail(error: unknown): void {
    if (this.#role === 'lost') return;
    const { error: data, stack } = errorDataOf(error);
    if (data.code === 'LOG_LOST' || data.code === 'LOG_UNTRUSTED') this.tally.add('chainErrors');
    this.#reading++;
    const wasLeading = this.#role === 'leader';
    // Who has left asks nobody to do its writes.
    if (wasLeading || data.code === 'NODE_LEFT') this.#leader = undefined;
    this.events.onFault(data);
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

  /** Reads the log from behind the last entry on, for as long as this node follows. */
  async #read(): Promise<void> {
    const reading = ++this.#reading;
    const isCurrent = (): boolean => reading === this.#reading;
    const assembler = this.#assembler;
    const hear = (hasMore = false): void => {
      if (!isCurrent()) return;
      this.#watch.hear(sharedMs());
      this.#hasMore = hasMore;
      if (!this.#isProven) return void this.#prove(hear);
      if (this.#role === 'joining') this.#become('follower', 'opened');
      this.#tellHeard();
    };
    if (!this.#isProven) void this.#prove(hear);
    try {
      for await (const message of this.log.read(assembler.end + 1, hear)) {
        if (!isCurrent()) return;
        const entry = assembler.push(message);
        // A whole one continues the one before it, which the log may have forgotten.
        this.#isProven ||= entry !== undefined;
        this.#provenAt = sharedMs();
        hear(true);
        this.#watch.reset();
        if (entry === undefined) continue;
        this.#take(entry);
        if (this.#waitingBytes >= waitingMax) await this.#drained();
        if (!isCurrent()) return;
      }
    } catch (error) {
      if (isCurrent()) this.fail(error);
    }
  }

  /** The log is the one that the data are of when it has the entry at which they are; `hear`: then it is heard. */
  async #prove(hear: Heard): Promise<void> {
    if (this.#isProving || this.#isProven) return;
    this.#isProving = true;
    const reading = this.#reading;
    try {
      const isThere = await hasEntry(this.log, this.#head);
      if (reading !== this.#reading || !isThere) return;
      this.#isProven = true;
      this.#provenAt = sharedMs();
      hear(this.#hasMore);
    } catch (error) {
      if (reading === this.#reading) this.fail(error);
    } finally {
      this.#isProving = false;
    }
  }

  /**
   * What the next entry goes behind. After half a lease of silence it is looked whether that is still there: somebody
   * may have led meanwhile, on a log that had lost it.
   */
  #before(place: { seq: number; chain: bigint }): PreviousEntry {
    const isSure = sharedMs() - this.#provenAt < this.options.leaseMs / 2;
    return { seq: place.seq, chain: place.chain, isSure };
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
    this.#onDrained = undefined;
  }

  #take(entry: Entry): void {
    this.#head = entry.position;
    this.tally.entry(entry.kind, entry.position.seq);
    this.#waitingBytes += entry.body.length;
    this.#waiting.push({ seq: entry.position.seq, bytes: entry.body.length });
    this.events.onEntry(entry);
    if (entry.kind === entryKind.epoch) this.#findLeader(leaderOf(entry.body));
  }

  #findLeader(leader: ClusterLeader): void {
    // Who was only named by another says itself where it is, when it leads.
    this.#leader = reachable(leader);
    // Somebody has led since this node gave the lead away: it is like any other again.
    this.#holdUntil = 0;
    this.#electionDelay = undefined;
    if (leader.node === this.options.self.node) this.#electionDelay = electionDelay.named;
    else if (leader.node === '') this.#electionDelay = electionDelay.anybody;
    this.#draw();
    this.#become(this.#role, 'heard');
  }

  /** How long this node waits before it tries: two seldom try at the same moment. */
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
    this.#watch.tick(now);
    if (this.#role === 'leader') {
      const { leaseMs } = this.options;
      const isSilent = this.#queued === 0 && now - this.#lastAppend >= leaseMs / beatsPerLease;
      if (isSilent || now - this.#namedAt >= leaseMs) this.beat().catch(() => undefined);
      return;
    }
    const hasAll = this.#applied >= this.#head.seq && this.#role === 'follower';
    const isDue = this.#watch.silence >= this.#threshold && this.#watch.isHeard(now);
    if (!this.options.mayLead || !hasAll || !isDue || this.#isTrying || now < this.#holdUntil)
      return;
    void this.#try();
  }

  /** Asks the log for the lead, with an entry behind everything that is known. */
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
      // What came behind our own entry already is of somebody who leads instead.
      if (outcome === 'ok' && this.#head.seq <= sealed.position.seq) this.#lead(sealed.position);
      this.#watch.reset();
      if (outcome !== 'unknown' && outcome !== 'held') this.#electionDelay = undefined;
      this.#draw();
    } finally {
      this.#isTrying = false;
    }
  }

  #lead(position: Position): void {
    this.#reading++;
    if (position.seq > this.#head.seq) this.tally.entry(entryKind.epoch, position.seq);
    this.#head = position;
    this.#leader = this.options.self;
    this.#lastAppend = sharedMs();
    this.#provenAt = this.#lastAppend;
    this.#namedAt = this.#lastAppend;
    this.events.onLead({ ...position, leader: this.#leader });
    this.#become('leader', 'promoted');
  }

  /** Signed as the entry before it is, unless `key` is a newer one. */
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
   * Appends an entry of the leader of this epoch, after those before it. Gives where it is, or why it is
   * nowhere: `behind` and `unknown` end the lead.
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
    this.#watch.hear(this.#lastAppend);
    if (outcome === 'ok') {
      this.#provenAt = this.#lastAppend;
      this.#head = sealed.position;
      this.tally.entry(kind, sealed.position.seq);
      return sealed.position;
    }
    if (outcome !== 'full') this.#step(outcome === 'behind' ? 'deposed' : 'unknown_append');
    return outcome;
  }

  #send(sealed: SealedEntry, before: PreviousEntry, timeoutMs: number): Promise<Outcome> {
    const { tally } = this;
    const onFault = (error: unknown): void => this.fail(error);
    return appendEntry(this.log, sealed, before, { timeoutMs, tally, onFault });
  }

  /** One append at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#queued++;
    const turn = this.#tail.then(work).finally(() => this.#queued--);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  /** Leads no more: follows from behind its last entry on, and finds there what became of everything. */
  #step(reason: RoleChange['reason']): void {
    if (this.#role !== 'leader') return;
    this.#leader = undefined;
    this.#electionDelay = reason === 'unknown_append' ? electionDelay.unknown : undefined;
    this.#assembler = new EntryDecoder(this.#head, this.options.keys);
    this.#hasMore = true;
    this.#watch.reset();
    this.#draw();
    this.events.onFollow();
    this.#become('follower', reason);
    void this.#read();
  }

  /** Where the log was at some moment after the call. Fails NOT_LEADER. */
  beat(): Promise<Position> {
    // All who ask before it leaves share one: it is behind every answer that they can have seen.
    this.#sharedBeat ??= this.#inTurn(async () => {
      this.#sharedBeat = undefined;
      this.#namedAt = sharedMs();
      // Who joins without data finds a node that has them by it.
      return this.#control({ kind: entryKind.beat, body: packLeader(this.options.self) });
    });
    return this.#sharedBeat;
  }

  /** From an entry of its own on, the leader signs by that key: all who read the log know it. Fails NOT_LEADER. */
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

  /** The writer is told like of an entry that was read: it may still be committing the one before. */
  #pass(kind: number, body: Uint8Array, position: Position): void {
    const [time, first] = [wallMs(), position.seq];
    this.events.onEntry({ kind, id: new Uint8Array(16), time, body, first, position });
  }

  /** The writer cannot lead: whoever can shall, and this node again when it has applied all. */
  resign(): Promise<unknown> {
    // Where the log does not take the word for it, the lease of a node that is silent ends all the same.
    return this.handOver(undefined).catch(() => this.#step('stepped_down'));
  }

  #checkLeads(): void {
    if (this.#role !== 'leader') this.#refuse('behind');
  }

  #refuse(outcome: Exclude<Outcome, 'ok'>): never {
    if (outcome === 'full') fail('LOG_FULL', { what: 'it refused an entry' });
    if (outcome === 'lost') fail('LOG_LOST', { what: 'it refused an entry' });
    if (outcome !== 'behind') fail('LOG_UNAVAILABLE', { what: 'it does not answer' });
    throw new TrellisError(refusalOf(this.#leader));
  }

  /** Takes no part any more: what is applied stays, and is served. */
  async leave(): Promise<Position> {
    if (this.#role === 'leader') await this.handOver(undefined);
    this.fail(new TrellisError({ code: 'NODE_LEFT', args: { node: this.options.self.node } }));
    return this.#head;
  }

  /** Hands over to `to`, or to whoever is first. */
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
      // What it does not read again: without it this node would never have applied all, and never lead again.
      this.#pass(entryKind.epoch, body, at);
      this.#leader = reachable(to);
      this.#become('follower', 'heard');
      return at;
    });
  }
}

/** What a write gets where this is known of the leader. */
export function refusalOf(leader: ClusterLeader | undefined): ErrorData {
  if (leader === undefined) return { code: 'NO_LEADER', args: {} };
  return { code: 'NOT_LEADER', args: { node: leader.node, address: leader.address } };
}
