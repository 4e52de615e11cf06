// One node's part in a comparison of all nodes, as the thread that serves has it: the tables are read in a thread of
// their own, from a snapshot that the writer takes at the mark, so that nothing stands still. Who leads tells what it
// holds by a second mark; every other node finds out by itself whether it holds the same. Invariant: only
// snapshots of one place in the log are compared.
import { randomUUID } from 'node:crypto';
import { type ErrorData, TrellisError } from '../../base/errors.js';
import type { ClusterTally } from '../../cluster/ipc/cluster-metrics.js';
import type { ClusterPosition, Compared } from '../../cluster/node.js';
import { tableNames } from '../../storage/table/table-name.js';
import type { CheckMark } from './check-mark.js';
import { giveUp, snapshotWords, untilReady } from './pinned-snapshot.js';
import type { TableHashes } from './table-check.js';

export interface ComparisonWays {
  /** Has a thread read the tables at the snapshot that these words are about; undefined: it was given up. */
  read: (words: SharedArrayBuffer) => Promise<TableHashes | undefined>;
  /** Has the leader's writer append that mark, and take a snapshot at it. */
  mark: (mark: CheckMark, words?: SharedArrayBuffer) => Promise<ClusterPosition>;
  /** Has the writer go on behind the mark at which it stands, with a snapshot or without. */
  pass: (words?: SharedArrayBuffer) => Promise<unknown>;
  tally: Pick<ClusterTally, 'add'>;
  onCompared: (result: Compared) => void;
  /** This node takes no part any more. */
  onDiverged: (error: ErrorData) => void;
}

interface Reading {
  check: string;
  position: ClusterPosition;
  tables: Promise<TableHashes | undefined>;
}

export class Comparison {
  #last: Promise<unknown> = Promise.resolve();
  /** At the newest mark at which this node has taken a snapshot. */
  #own: Reading | undefined;
  #isReading = false;

  constructor(private readonly ways: ComparisonWays) {}

  /** On the leader: one after another. Resolves when all nodes can know what it holds. Fails as writes do. */
  lead(): Promise<Omit<Compared, 'other'>> {
    const turn = this.#last.then(() => this.#lead());
    this.#last = turn.then(undefined, () => undefined);
    return turn;
  }

  async #lead(): Promise<Omit<Compared, 'other'>> {
    const check = randomUUID();
    const words = snapshotWords();
    const reading = this.#read(words);
    let position: ClusterPosition;
    try {
      await untilReady(words, reading);
      position = await this.ways.mark({ check }, words);
    } catch (error) {
      giveUp(words);
      await reading.catch(() => undefined);
      throw error;
    }
    giveUp(words);
    const tables = await reading;
    if (tables === undefined)
      throw new TrellisError({ code: 'OVERLOADED', args: { queue: 'The comparison of tables' } });
    await this.ways.mark({ check, tables });
    const result = { check, position };
    this.ways.onCompared({ ...result, other: [] });
    return result;
  }

  async #read(words: SharedArrayBuffer): Promise<TableHashes | undefined> {
    this.#isReading = true;
    try {
      return await this.ways.read(words);
    } finally {
      this.#isReading = false;
    }
  }

  /** On others: the writer has met this mark, and stands at it until it is told to go on, unless it tells tables. */
  async hear(mark: CheckMark, position: ClusterPosition): Promise<void> {
    const { check, tables } = mark;
    if (tables === undefined) await this.#begin(check, position);
    else await this.#compare(check, tables);
  }

  async #begin(check: string, position: ClusterPosition): Promise<void> {
    this.#own = undefined;
    // It would have to stand for as long as the tables of the mark before are read.
    if (this.#isReading) return void (await this.ways.pass());
    const words = snapshotWords();
    const reading = this.#read(words);
    // Who asks for it hears why there is none.
    reading.catch(() => undefined);
    this.#own = { check, position, tables: reading };
    await untilReady(
      words,
      reading.catch(() => undefined),
    );
    await this.ways.pass(words);
    giveUp(words);
  }

  async #compare(check: string, theirs: TableHashes): Promise<void> {
    const own = this.#own;
    if (own?.check !== check) return;
    const ours = await own.tables;
    if (ours === undefined) return;
    const other = tableNames.filter((name) => ours[name] !== theirs[name]);
    const { tally, onCompared, onDiverged } = this.ways;
    tally.add(other.length === 0 ? 'equal' : 'diverged');
    onCompared({ check, position: own.position, other });
    if (other.length === 0) return;
    onDiverged({ code: 'DIVERGED', args: { tables: other.join(', ') } });
  }
}
