// Counts of one pass over all entries that must match each other: rows against uuids, label lists,
// embeddings and totals, edges against both directions of adjacency. What a lost page took shows here
// even where the page that replaced it is sound in itself.
import { headTotals } from '../graph/adjacency.js';
import { listedIn } from '../graph/label-list.js';
import { readTotal } from '../table/meta.js';
import { kindOf, labelOf } from '../record/record.js';

interface LabelCounts {
  rows: number;
  listed: number;
  total: number;
}

export class DataTally {
  readonly #labels = new Map<number, LabelCounts>();
  readonly #counts = { uuids: 0, rows: 0, edges: 0, vectors: 0, embeddings: 0 };
  readonly #listed = { out: 0, in: 0 };
  readonly #degrees = { out: 0, in: 0 };
  /** Tables with entries whose value is unknown: their counts say nothing. */
  readonly #lost = new Set<string>();

  /** An entry of which only the key, if anything, is known. */
  lose(table: string): void {
    this.#lost.add(table);
  }

  add(table: string, key: Buffer, value: Buffer): void {
    const counts = this.#counts;
    if (table === 'records') {
      counts.rows++;
      this.#label(labelOf(value)).rows++;
      const kind = kindOf(value);
      if (kind === 'edge') counts.edges++;
      else if (kind === 'vector') counts.vectors++;
    } else if (table === 'out' || table === 'in') {
      const { degree, entries } = headTotals(key.readUInt32BE(6), value);
      this.#degrees[table] += degree;
      this.#listed[table] += entries;
    } else if (table === 'uuid') counts.uuids++;
    else if (table === 'vectors') counts.embeddings++;
    else if (table === 'labels') this.#label(key.readUInt16BE(0)).listed += listedIn(value);
    else if (table === 'meta' && key[0] === 3) {
      const label = key.readUInt16BE(1);
      this.#label(label).total = readTotal({ peek: () => value }, label).count;
    }
  }

  #label(label: number): LabelCounts {
    let counts = this.#labels.get(label);
    if (counts === undefined) this.#labels.set(label, (counts = { rows: 0, listed: 0, total: 0 }));
    return counts;
  }

  /** One line per disagreement. */
  *faults(): Generator<string> {
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
    for (const [label, { rows: found, listed, total }] of this.#labels) {
      const isTotalRight = this.#lost.has('meta') || this.#lost.has('labels') || listed === total;
      if (isTotalRight && !differ('labels', listed, found)) continue;
      yield `type ${label} has ${found} elements, ${listed} in its list, ${total} in its total`;
    }
  }
}
