// The random writes of cluster tests: nodes, edges, vectors, texts, updates, deletions and imports. Equal
// seeds do the same on any node that accepts writes.
import { Random } from '../../support/random.js';
import type { TestNode } from './nodes.js';

export const source = `
  N::Item { UNIQUE INDEX code: String, name: String, stock: I64 }
  E::Near { From: Item, To: Item }
  V::Note { text: String }

  QUERY add(code: String, stock: I64) =>
      item <- AddN<Item>({ code: code, name: code, stock: stock })
      RETURN item::{ code }
  QUERY all() =>
      items <- N<Item>
      RETURN items::{ code }
  QUERY link(from: String, to: String) =>
      a <- N<Item>({ code: from })
      b <- N<Item>({ code: to })
      edge <- AddE<Near>::From(a)::To(b)
      RETURN edge::COUNT
  QUERY change(code: String, name: String, stock: I64) =>
      item <- N<Item>({ code: code })::UPDATE({ name: name, stock: stock })
      RETURN item::COUNT
  QUERY drop(code: String) =>
      DROP N<Item>({ code: code })
      RETURN "done"
  QUERY note(vector: [F64], text: String) =>
      note <- AddV<Note>(vector, { text: text })
      RETURN note::COUNT
  QUERY unnote(vector: [F64]) =>
      DROP SearchV<Note>(vector, 1)
      RETURN "done"
  QUERY near(vector: [F64]) =>
      notes <- SearchV<Note>(vector, 10)
      RETURN notes::{ text }
  QUERY find(words: String) =>
      items <- SearchBM25<Item>(words, 10)
      RETURN items::{ code, stock }
`;

const words = ['heron', 'reed', 'pond', 'frog', 'lily', 'moss'];

export class Workload {
  readonly #random: Random;
  #next = 0;
  readonly #codes: string[] = [];
  /** Calls that were answered. */
  done = 0;

  constructor(private readonly seed: number) {
    this.#random = new Random(seed);
  }

  vector(): number[] {
    return Array.from({ length: 8 }, () => Math.round(this.#random.next() * 2e6 - 1e6) / 1e6);
  }

  #name(): string {
    return `${this.#random.pick(words)} ${this.#random.pick(words)} ${this.#next}`;
  }

  #call(): [name: string, body: Record<string, unknown>] {
    const random = this.#random;
    const kind = random.below(10);
    const code = this.#codes.length > 0 ? random.pick(this.#codes) : '';
    const stock = random.below(1000);
    if (kind < 4 || code === '') {
      this.#codes.push(`i${this.#next++}`);
      return ['add', { code: this.#codes.at(-1)!, stock }];
    }
    if (kind === 4) return ['link', { from: code, to: random.pick(this.#codes) }];
    if (kind < 7) return ['change', { code, name: this.#name(), stock }];
    if (kind === 7) {
      if (this.#codes.length > 30) this.#codes.splice(this.#codes.indexOf(code), 1);
      return this.#codes.includes(code) ? ['find', { words: code }] : ['drop', { code }];
    }
    return random.chance(0.8)
      ? ['note', { vector: this.vector(), text: this.#name() }]
      : ['unnote', { vector: this.vector() }];
  }

  /** Makes several calls in parallel, as many clients would. */
  async burst(node: TestNode, count: number): Promise<void> {
    const calls = Array.from({ length: count }, () => node.db.call(...this.#call()));
    for (const { status } of await Promise.allSettled(calls))
      if (status === 'fulfilled') this.done++;
  }

  async import(node: TestNode, rows: number): Promise<void> {
    const lines = Array.from({ length: rows }, () => {
      const code = `i${this.#next++}`;
      this.#codes.push(code);
      const stock = this.#random.below(1000);
      return JSON.stringify({ node: 'Item', properties: { code, name: this.#name(), stock } });
    });
    const text = new TextEncoder().encode(`${lines.join('\n')}\n`);
    const { length } = text;
    const load = node.db.database.load(`rows of ${this.seed} from ${this.#next}`);
    await load.rows(text, 1, { offset: length, line: rows + 1 });
    await load.finish();
  }
}
