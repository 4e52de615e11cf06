// The garden of the worked examples, compiled from source, on real storage in a temporary folder. Vectors are
// searched exactly.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDate } from '../../../engine/base/date.js';
import { TrellisError } from '../../../engine/base/errors.js';
import { printUuid } from '../../../engine/base/id.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import type { ExecutionContext } from '../../../engine/exec/runtime/execute.js';
import { collectTexts, execute } from '../../../engine/exec/run.js';
import { decodeParameters } from '../../../engine/json/decode.js';
import type { Query } from '../../../engine/plan/plan.js';
import type { Program } from '../../../engine/plan/program.js';
import { openStorage, type Storage } from '../../../engine/storage/open-storage.js';
import { uuidAt } from '../../../engine/storage/record/record.js';
import type { ReadView, WriteView } from '../../../engine/storage/table/view-types.js';
import { createTextIndex } from '../../../engine/text/text-index.js';
import { keyedEmbeddings } from '../../support/keyed-embeddings.js';
import { MemoryIndex } from '../../support/memory-index.js';
import { fillGarden } from './garden.js';

const nowMs = Date.UTC(2026, 2, 2, 9, 30);
const now = parseDate('2026-03-02T09:30:00.123456Z')!;
const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

export class Garden {
  readonly #folder = mkdtempSync(join(tmpdir(), 'trellis-exec-'));
  readonly #storage: Storage;
  readonly #text = createTextIndex(defaultLimits);
  readonly #indexes = new Map<number, MemoryIndex>();
  readonly #names = new Map<string, string>();

  constructor(
    private readonly program: Program,
    private readonly onReply: (query: Query, reply: string) => void = () => {},
  ) {
    this.#storage = openStorage(this.#folder, { limits: defaultLimits, mode: 'create' });
    this.#storage.applySchema(program, { text: this.#text, nowMs });
    this.#write((view) => {
      for (const [alias, id] of fillGarden(view, this.#text))
        this.#names.set(printUuid(view.record(id)!, uuidAt.own), alias);
    });
  }

  #write<T>(work: (view: WriteView) => T): T {
    let outcome: { value: T } | { error: unknown } | undefined;
    const changes = this.#storage.commitGroup((group) => {
      try {
        outcome = { value: group.request(nowMs, work) };
      } catch (error) {
        outcome = { error };
      }
    });
    if ('error' in outcome!) throw outcome.error;
    for (const change of changes) {
      const index = this.#indexes.get(change.label) ?? new MemoryIndex(String(change.label));
      this.#indexes.set(change.label, index);
      if (change.kind === 'put') index.put(change.id, change.vector);
      else index.delete(change.id);
    }
    return outcome!.value;
  }

  #execute(query: Query, body: string, view: ReadView | WriteView): string {
    const args = decodeParameters(
      Buffer.from(body),
      query.plan.parameters,
      query.name,
      defaultLimits,
    );
    const texts = collectTexts(query.plan, args);
    const context: ExecutionContext = {
      view,
      vectors: (label) => this.#indexes.get(label),
      text: this.#text,
      now,
      limits: defaultLimits,
      cancelled: () => false,
      budgetMs: 1000,
      embeddings: keyedEmbeddings(
        query.plan,
        texts,
        texts.map((text) => Float64Array.of(text.length, 1)),
      ),
    };
    const text = Buffer.from(execute(query.plan, args, context).body).toString();
    this.onReply(query, text);
    return text;
  }

  /** The answer of a call, or code and message of its error, with the ids of the garden by name. */
  call(name: string, body: string): string {
    const query = this.program.queries.find((each) => each.name === name)!;
    const ids = new Map([...this.#names].map(([id, alias]) => [alias, id]));
    const sent = body.replace(/"([a-z]\d)"/g, (text, alias: string) =>
      ids.has(alias) ? `"${ids.get(alias)}"` : text,
    );
    try {
      const run = (view: ReadView | WriteView) => this.#execute(query, sent, view);
      return this.#named(query.plan.writes ? this.#write(run) : run(this.#storage.reader()));
    } catch (error) {
      if (error instanceof TrellisError) return this.#named(`${error.code} ${error.message}`);
      throw error;
    }
  }

  #named(text: string): string {
    return text
      .replace(uuidPattern, (id) => this.#names.get(id) ?? 'NEW')
      .replaceAll('2026-03-01T08:00:00+00:00', 'J')
      .replaceAll('2026-03-02T09:30:00.123456+00:00', 'NOW')
      .replace(/-?\d+\.\d{7,}(e-?\d+)?/g, (number) => String(Number(Number(number).toFixed(6))));
  }

  close(): void {
    this.#storage.close();
    rmSync(this.#folder, { recursive: true });
  }
}
