// The engine on one thread, without lanes: real storage in a temporary folder, the executor, and an exact
// vector index, so that searches have one right result.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Instant } from '../../../engine/base/value.js';
import { printUuid } from '../../../engine/base/id.js';
import { defaultLimits } from '../../../engine/base/limits.js';
import type { Argument, ExecutionResult, ItemList } from '../../../engine/exec/runtime/execute.js';
import { execute } from '../../../engine/exec/run.js';
import type { Plan } from '../../../engine/plan/plan.js';
import type { Program } from '../../../engine/plan/program.js';
import { openStorage, type Storage } from '../../../engine/storage/open-storage.js';
import { uuidAt } from '../../../engine/storage/record/record.js';
import type { ReadView, WriteView } from '../../../engine/storage/table/view-types.js';
import { createTextIndex } from '../../../engine/text/text-index.js';
import { MemoryIndex } from '../memory-index.js';

export interface LoneCall {
  plan: Plan;
  args: readonly Argument[];
  items?: ItemList;
}

export class LoneEngine {
  readonly #folder = mkdtempSync(join(tmpdir(), 'trellis-lone-'));
  readonly storage: Storage;
  readonly #text = createTextIndex(defaultLimits);
  readonly #indexes = new Map<number, MemoryIndex>();

  constructor(
    program: Program,
    private readonly now: Instant,
  ) {
    this.storage = openStorage(this.#folder, { limits: defaultLimits, mode: 'create' });
    this.storage.applySchema(program, { text: this.#text, nowMs: this.#nowMs });
  }

  get #nowMs(): number {
    return this.now.seconds * 1000;
  }

  /** Runs calls in one durable transaction; each that fails is undone alone. */
  write(calls: readonly LoneCall[]): (ExecutionResult | { error: unknown })[] {
    const results: (ExecutionResult | { error: unknown })[] = [];
    const changes = this.storage.commitGroup((group) => {
      for (const call of calls) {
        try {
          results.push(group.request(this.#nowMs, (view) => this.#execute(call, view)));
        } catch (error) {
          results.push({ error });
        }
      }
    });
    for (const change of changes) {
      const index = this.#indexes.get(change.label) ?? new MemoryIndex(String(change.label));
      this.#indexes.set(change.label, index);
      if (change.kind === 'put') index.put(change.id, change.vector);
      else index.delete(change.id);
    }
    return results;
  }

  read(call: LoneCall): ExecutionResult {
    return this.#execute(call, this.storage.reader());
  }

  #execute({ plan, args, items }: LoneCall, view: ReadView | WriteView): ExecutionResult {
    return execute(plan, args, {
      view,
      vectors: (label) => this.#indexes.get(label),
      text: this.#text,
      now: this.now,
      limits: defaultLimits,
      cancelled: () => false,
      budgetMs: 1000,
      embeddings: new Map(),
      ...(items && { items }),
    });
  }

  /** Ids of all elements of a type, oldest first. */
  uuids(kind: 'node' | 'edge' | 'vector', name: string): string[] {
    const view = this.storage.reader();
    const label = view.catalog.find(kind, name)!;
    return [...view.scan(label.id)].flatMap((ids) =>
      Array.from(ids, (id) => printUuid(view.record(id)!, uuidAt.own)),
    );
  }

  uuidOf(id: number): string {
    const record = this.storage.reader().record(id);
    return record === undefined ? '' : printUuid(record, uuidAt.own);
  }

  close(): void {
    this.storage.close();
    rmSync(this.#folder, { recursive: true });
  }
}
