// Makes the vectors of a type again from a property: reads texts, embeds them, and sends the vectors to the
// writer until it can swap. Runs on the main thread, next to all other work.
// Invariant: after a failure or a crash, the same call continues where this one stopped.
import { type ErrorData, fail } from '../../base/errors.js';
import type { ModelIdentity } from '../../embed/model-identity.js';
import type { Label, ReadView } from '../../storage/table/view-types.js';
import type { ReembedCommand } from './reembed-writer.js';
import { hasShadow, markBytes, markOf, textOf } from './shadow-vector.js';

export interface ReembedParts {
  view: <T>(read: (view: ReadView) => T) => T;
  execute: (command: ReembedCommand) => Promise<unknown>;
  embed: (type: string, texts: readonly string[]) => Promise<(Float64Array | ErrorData)[]>;
  log: (level: 'info' | 'warn', message: string, fields: Record<string, unknown>) => void;
}

export interface ReembedRequest {
  type: string;
  from: string;
  model: ModelIdentity;
}

export interface ReembedProgress {
  done: number;
  total: number;
}

interface Row {
  id: number;
  text: string;
}

/** Elements that one step reads and embeds. */
const batchRows = 256;
/** Batches at a time. */
const batches = 8;

export class ReembedJob {
  readonly progress: ReembedProgress = { done: 0, total: 0 };
  readonly #refused = new Map<number, ErrorData>();
  #withoutText = 0;

  constructor(
    readonly request: ReembedRequest,
    private readonly parts: ReembedParts,
  ) {}

  /** Fails with the error that stopped it. */
  async run(): Promise<void> {
    const { type, from, model } = this.request;
    this.#checkProperty();
    const all = this.#read((view, label) => {
      const ids = [...view.scan(label.id)].map((part) => part.slice());
      this.progress.total = view.count(label.id);
      return ids;
    });
    if (this.progress.total === 0)
      return void (await this.parts.execute({ step: 'record', type, model, isForced: true }));
    while (!(await this.parts.execute({ step: 'begin', type, state: { from, model } }))) {
      // Older vectors are dropped a part at a time.
    }
    let after: unknown = 0;
    while (typeof after === 'number')
      after = await this.parts.execute({ step: 'build', type, after });
    for (let stale: readonly Uint32Array[] = all; stale.length > 0; ) {
      await this.#embedAll(stale);
      this.#failIncomplete();
      const left = await this.parts.execute({ step: 'swap', type });
      stale = left === undefined ? [] : [left as Uint32Array];
    }
  }

  #read<T>(read: (view: ReadView, label: Label) => T): T {
    const { type } = this.request;
    return this.parts.view((view) => {
      const label = view.catalog.find('vector', type);
      return read(view, label ?? fail('UNKNOWN_TYPE', { kind: 'vector', type }));
    });
  }

  #checkProperty(): void {
    const { type, from } = this.request;
    const property = this.#read((_, label) => label.properties.find(({ name }) => name === from));
    if (property === undefined) fail('UNKNOWN_PROPERTY', { type, property: from });
    const isText = property.type.kind === 'scalar' && property.type.name === 'String';
    if (!isText) fail('CONFIG_INVALID', { what: `${type}.${from} is not a String.` });
  }

  async #embedAll(parts: readonly Uint32Array[]): Promise<void> {
    const lists = batchesOf(parts);
    let next = 0;
    const runner = async (): Promise<void> => {
      while (next < lists.length) {
        const ids = lists[next++]!;
        try {
          await this.#embedSome(ids);
        } catch (error) {
          next = lists.length;
          throw error;
        }
        this.progress.done = Math.min(this.progress.total, this.progress.done + ids.length);
      }
    };
    await Promise.all(Array.from({ length: Math.min(batches, lists.length) }, runner));
  }

  async #embedSome(ids: Uint32Array): Promise<void> {
    const { type } = this.request;
    const rows = this.#rowsOf(ids);
    if (rows.length === 0) return;
    const found = await this.parts.embed(
      type,
      rows.map(({ text }) => text),
    );
    const made: { row: Row; vector: Float64Array }[] = [];
    for (const [i, row] of rows.entries()) {
      const one = found[i]!;
      if (one instanceof Float64Array) made.push({ row, vector: one });
      else this.#refused.set(row.id, one);
    }
    if (made.length === 0) return;
    const dimension = made[0]!.vector.length;
    const marks = new Uint8Array(made.length * markBytes);
    const numbers = new Float64Array(made.length * dimension);
    for (const [i, { row, vector }] of made.entries()) {
      if (vector.length !== dimension)
        fail('VECTOR_DIMENSION', { type, expected: dimension, got: vector.length });
      marks.set(markOf(row.text), i * markBytes);
      numbers.set(vector, i * dimension);
    }
    const written = Uint32Array.from(made, ({ row }) => row.id);
    await this.parts.execute({ step: 'rows', type, ids: written, marks, numbers });
  }

  /** Returns the elements whose new vector is missing, with their texts. */
  #rowsOf(ids: Uint32Array): Row[] {
    const { from } = this.request;
    return this.#read((view, label) => {
      const rows: Row[] = [];
      for (const id of ids) {
        if (view.recordShared(id) === undefined) continue;
        const text = textOf(view, label, from, id);
        if (text === undefined) this.#withoutText++;
        else if (!hasShadow(view, label.id, id, text)) rows.push({ id, text });
      }
      return rows;
    });
  }

  /** The old vectors stay until every element has a new one. */
  #failIncomplete(): void {
    const { type, from } = this.request;
    const [first] = this.#refused.values();
    if (first !== undefined) {
      const which = `${this.#refused.size} texts of ${type}, among them ${first.args.which}`;
      fail('EMBEDDING_REFUSED', { provider: type, status: 'wrongly', ...first.args, which });
    }
    if (this.#withoutText === 0) return;
    const what = `${this.#withoutText} vectors of ${type} have no text in \`${from}\`.`;
    const hint = 'Set it, or drop these vectors. Then repeat the command: it continues.';
    fail('CONFIG_INVALID', { what }, { hint });
  }
}

function batchesOf(parts: readonly Uint32Array[]): Uint32Array[] {
  const lists: Uint32Array[] = [];
  for (const ids of parts)
    for (let at = 0; at < ids.length; at += batchRows) lists.push(ids.subarray(at, at + batchRows));
  return lists;
}
