// Runs one node's part in a comparison of all nodes, on the main thread. A separate thread reads the tables
// from a snapshot that the writer takes at the mark, so that writes continue. The leader appends the hashes
// of its tables in a second mark, and every other node compares them with its own.
// Invariant: only snapshots at the same log position are compared.
import { randomUUID } from 'node:crypto';
import { type ErrorData, TrellisError } from '../../base/errors.js';
import type { ClusterMetrics } from '../../cluster/ipc/cluster-metrics.js';
import type { ClusterPosition, Compared } from '../../cluster/node.js';
import { tableNames } from '../../storage/table/table-name.js';
import type { CheckMark } from './check-mark.js';
import { giveUp, snapshotWords, untilReady } from './pinned-snapshot.js';
import type { TableHashes } from './table-check.js';

export interface ComparisonOptions {
  /**
   * Hashes the tables of the snapshot that this shared memory describes, on a separate thread. Resolves with
   * undefined when the snapshot was given up.
   */
  read: (words: SharedArrayBuffer) => Promise<TableHashes | undefined>;
  /** Makes the leader's writer append the mark and take a snapshot at it. */
  mark: (mark: CheckMark, words?: SharedArrayBuffer) => Promise<ClusterPosition>;
  /** Makes the writer continue after the mark at which it waits, with a snapshot or without. */
  pass: (words?: SharedArrayBuffer) => Promise<unknown>;
  clusterMetrics: Pick<ClusterMetrics, 'add'>;
  onCompared: (result: Compared) => void;
  /** Called when this node differs from the leader and leaves the cluster. */
  onDiverged: (error: ErrorData) => void;
}

interface Reading {
  check: string;
  position: ClusterPosition;
  tables: Promise<TableHashes | undefined>;
}

export class Comparison {
  #last: Promise<unknown> = Promise.resolve();
  /** The read of the tables at the newest mark at which this node has taken a snapshot. */
  #own: Reading | undefined;
  #isReading = false;

  constructor(private readonly options: ComparisonOptions) {}

  /**
   * Leader only: runs a comparison, one after another. Resolves when the second mark is in the log. Fails
   * with the error of a write.
   */
  lead(): Promise<Omit<Compared, 'other'>> {
    const result = this.#last.then(() => this.#lead());
    this.#last = result.then(undefined, () => undefined);
    return result;
  }

  async #lead(): Promise<Omit<Compared, 'other'>> {
    const check = randomUUID();
    const words = snapshotWords();
    const reading = this.#read(words);
    let position: ClusterPosition;
    try {
      await untilReady(words, reading);
      position = await this.options.mark({ check }, words);
    } catch (error) {
      giveUp(words);
      await reading.catch(() => undefined);
      throw error;
    }
    giveUp(words);
    const tables = await reading;
    if (tables === undefined)
      throw new TrellisError({ code: 'OVERLOADED', args: { queue: 'The comparison of tables' } });
    await this.options.mark({ check, tables });
    const result = { check, position };
    this.options.onCompared({ ...result, other: [] });
    return result;
  }

  async #read(words: SharedArrayBuffer): Promise<TableHashes | undefined> {
    this.#isReading = true;
    try {
      return await this.options.read(words);
    } finally {
      this.#isReading = false;
    }
  }

  /**
   * Follower only: the writer has met this mark. It waits there for `pass`, unless the mark contains hashes.
   */
  async onMark(mark: CheckMark, position: ClusterPosition): Promise<void> {
    const { check, tables } = mark;
    if (tables === undefined) await this.#begin(check, position);
    else await this.#compare(check, tables);
  }

  async #begin(check: string, position: ClusterPosition): Promise<void> {
    this.#own = undefined;
    // Otherwise the writer would have to wait until the tables of the earlier mark are read.
    if (this.#isReading) return void (await this.options.pass());
    const words = snapshotWords();
    const reading = this.#read(words);
    // The caller of `lead` receives the error.
    reading.catch(() => undefined);
    this.#own = { check, position, tables: reading };
    await untilReady(
      words,
      reading.catch(() => undefined),
    );
    await this.options.pass(words);
    giveUp(words);
  }

  async #compare(check: string, theirs: TableHashes): Promise<void> {
    const own = this.#own;
    if (own?.check !== check) return;
    const hashes = await own.tables;
    if (hashes === undefined) return;
    const other = tableNames.filter((name) => hashes[name] !== theirs[name]);
    const { clusterMetrics, onCompared, onDiverged } = this.options;
    clusterMetrics.add(other.length === 0 ? 'equal' : 'diverged');
    onCompared({ check, position: own.position, other });
    if (other.length === 0) return;
    onDiverged({ code: 'DIVERGED', args: { tables: other.join(', ') } });
  }
}
