// Counts entries in one pass and compares the counts that must agree: rows with uuids, label lists,
// embeddings and totals; edges with both directions of adjacency. This detects rows that a lost page took,
// even if the page that replaced it is sound.
import { headTotals } from '../graph/adjacency.js';
import { countIds } from '../graph/label-bitmap.js';
import { kindOf, labelOf } from '../record/record.js';
import { metaKey, readTotal } from '../table/meta.js';
import { getWord } from '../table/little-endian.js';
import type { PageEntry } from './page-entry.js';

interface LabelCounts {
  rows: number;
  listed: number;
  total: number;
}

/** Counts of one share of all entries. */
export interface CrossCheckPart {
  labels: (LabelCounts | undefined)[];
  counts: { uuids: number; rows: number; edges: number; vectors: number; embeddings: number };
  listed: { out: number; in: number };
  degrees: { out: number; in: number };
  /** Tables with unreadable entries: their counts are incomplete. */
  lost: string[];
}

export class CrossCheck {
  readonly #labels: (LabelCounts | undefined)[] = [];
  readonly #counts = { uuids: 0, rows: 0, edges: 0, vectors: 0, embeddings: 0 };
  readonly #listed = { out: 0, in: 0 };
  readonly #degrees = { out: 0, in: 0 };
  readonly #lost = new Set<string>();

  get part(): CrossCheckPart {
    return {
      labels: this.#labels,
      counts: this.#counts,
      listed: this.#listed,
      degrees: this.#degrees,
      lost: [...this.#lost],
    };
  }

  join({ labels, counts, listed, degrees, lost }: CrossCheckPart): void {
    // A message preserves the holes of an array.
    for (let label = 0; label < labels.length; label++) {
      const other = labels[label];
      if (other === undefined) continue;
      const own = this.#label(label);
      own.rows += other.rows;
      own.listed += other.listed;
      own.total += other.total;
    }
    const pairs: [Record<string, number>, Record<string, number>][] = [
      [this.#counts, counts],
      [this.#listed, listed],
      [this.#degrees, degrees],
    ];
    for (const [own, other] of pairs) {
      for (const [name, count] of Object.entries(other)) own[name]! += count;
    }
    for (const table of lost) this.#lost.add(table);
  }

  /** Notes an entry whose value, or also key, is unknown. */
  lose(table: string): void {
    this.#lost.add(table);
  }

  /** Returns a function that counts the sound entries of a table. */
  counter(table: string): (entry: PageEntry) => void {
    const counts = this.#counts;
    switch (table) {
      case 'records':
        return (entry) => this.#row(entry);
      case 'out':
      case 'in':
        return (entry) => this.#adjacency(table, entry);
      case 'uuid':
        return () => counts.uuids++;
      case 'vectors':
        return () => counts.embeddings++;
      case 'labels':
        return ({ key, content }) => {
          this.#label(key.readUInt16BE(0)).listed += countIds(content);
        };
      case 'meta':
        return ({ key, content }) => {
          // A load with exclusive access lists its edges later, so the lists are incomplete.
          if (key[0] === metaKey.unlisted[0]) for (const table of ['out', 'in']) this.lose(table);
          if (key[0] !== 3) return;
          const label = key.readUInt16BE(1);
          this.#label(label).total = readTotal({ peek: () => content }, label).count;
        };
      default:
        return () => undefined;
    }
  }

  #row({ bytes, valueAt }: PageEntry): void {
    this.#counts.rows++;
    this.#label(labelOf(bytes, valueAt)).rows++;
    const kind = kindOf(bytes, valueAt);
    if (kind === 'edge') this.#counts.edges++;
    else if (kind === 'vector') this.#counts.vectors++;
  }

  #adjacency(table: 'out' | 'in', { page, keyAt, bytes, valueAt, contentEnd }: PageEntry): void {
    const isHead = getWord(page, keyAt + 6) === 0;
    const { degree, entries } = headTotals(isHead, bytes, valueAt, contentEnd);
    this.#degrees[table] += degree;
    this.#listed[table] += entries;
  }

  #label(label: number): LabelCounts {
    return (this.#labels[label] ??= { rows: 0, listed: 0, total: 0 });
  }

  /** Yields one line per disagreement. */
  *violations(): Generator<string> {
    const { uuids, rows, edges, vectors, embeddings } = this.#counts;
    const areRowsKnown = !this.#lost.has('records');
    const differ = (table: string, found: number, wanted: number): boolean =>
      found !== wanted && areRowsKnown && !this.#lost.has(table);
    if (differ('uuid', uuids, rows)) yield `${uuids} uuids lead to ${rows} elements`;
    if (differ('vectors', embeddings, vectors)) {
      yield `there are ${embeddings} embeddings of ${vectors} vectors`;
    }
    for (const direction of ['out', 'in'] as const) {
      const [listed, degree] = [this.#listed[direction], this.#degrees[direction]];
      if (differ(direction, listed, edges) || differ(direction, degree, edges)) {
        yield `of ${edges} edges, ${listed} are listed ${direction} of their ends, which count ${degree}`;
      }
    }
    for (const [label, counts] of this.#labels.entries()) {
      if (counts === undefined) continue;
      const { rows: found, listed, total } = counts;
      const isTotalRight = this.#lost.has('meta') || this.#lost.has('labels') || listed === total;
      if (isTotalRight && !differ('labels', listed, found)) continue;
      yield `type ${label} has ${found} elements, ${listed} in its list, ${total} in its total`;
    }
  }
}
