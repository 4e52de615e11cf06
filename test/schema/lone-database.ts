// A whole database on one thread, without lanes: storage, keyword index and vector indexes as the
// writer lane keeps them, in a folder that outlives stops and kills. What a test changes and asks
// goes through the same functions as in the server.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Limits, defaultLimits } from '../../engine/base/limits.js';
import { type ExecutorServices, decodeCall, run } from '../../engine/database/call/run-request.js';
import { changeSchema, openSchema } from '../../engine/database/schema/migrate-store.js';
import {
  type VectorStore,
  type VectorStoreOptions,
  openVectorStore,
} from '../../engine/database/vectors/vector-store.js';
import { verifyStorage } from '../../engine/database/maintenance/verify.js';
import { compile } from '../../engine/lang/compile.js';
import type { Program } from '../../engine/plan/program.js';
import { metaKey } from '../../engine/storage/table/meta.js';
import { type Storage, openStorage } from '../../engine/storage/open-storage.js';
import type { ReadView, WriteView } from '../../engine/storage/table/view-types.js';
import { createTextIndex } from '../../engine/text/text-index.js';

export const dbUuid = '0190a1b2-0000-7000-8000-000000000001';

export interface LoneOptions {
  limits?: Partial<Limits>;
  types?: VectorStoreOptions['types'];
  textEnabled?: boolean;
}

/** The program of one text; throws what is wrong with it. */
function programOf(text: string): Program {
  const { program, diagnostics } = compile([{ path: 'main.hx', text }], { compat: false });
  if (program !== undefined) return program;
  throw new RangeError(`${JSON.stringify(diagnostics, undefined, 1)}\n${text}`);
}

export class LoneDatabase {
  readonly folder = mkdtempSync(join(tmpdir(), 'trellis-lone-'));
  storage!: Storage;
  vectors!: VectorStore;
  /** What the log said. */
  readonly log: string[] = [];
  options: LoneOptions = {};
  #program!: Program;
  #nowMs = 1_772_352_000_000;

  get limits(): Limits {
    return { ...defaultLimits, ...this.options.limits };
  }

  get #textEnabled(): boolean {
    return this.options.textEnabled ?? true;
  }

  get #equipment(): ExecutorServices {
    return {
      limits: this.limits,
      strict: false,
      text: this.#textEnabled ? createTextIndex(this.limits) : undefined,
      vectors: this.vectors.indexes,
    };
  }

  open(source: string, options: LoneOptions = this.options): this {
    const program = programOf(source);
    this.options = options;
    const types = options.types ?? {};
    const { limits } = this;
    const graph = join(this.folder, 'graph');
    mkdirSync(graph, { recursive: true });
    this.storage = openStorage(graph, { limits, mode: 'create', vectorTypes: types });
    this.storage.env.transact(() => {
      this.storage.env.meta.put(metaKey.databaseUuid, Buffer.from(dbUuid));
      return true;
    });
    const text = this.#textEnabled ? createTextIndex(limits) : undefined;
    const rules = { limits, textEnabled: this.#textEnabled, textLanguage: 'english' } as const;
    try {
      openSchema(this.storage, program, text, rules, this.#nowMs);
    } catch (error) {
      this.storage.close();
      throw error;
    }
    this.vectors = openVectorStore(this.storage, this.#vectorOptions(types), {
      progress: () => {},
      onIndex: () => {},
      onBuild: () => {},
      onRebuilt: () => {},
      onReplayed: () => {},
      onSnapshot: () => {},
      log: (_, message, fields) => this.log.push(`${message} ${JSON.stringify(fields)}`),
    });
    this.#program = program;
    return this;
  }

  #vectorOptions(types: VectorStoreOptions['types']): VectorStoreOptions {
    return {
      folder: join(this.folder, 'vec'),
      dbUuid,
      default: {
        metric: 'cosine',
        m: 16,
        efConstruction: 64,
        efSearch: 64,
        layout: 'auto',
        exact: false,
        memoryBytes: 2 ** 30,
      },
      types,
      snapshot: { intervalMs: 1e9, afterWrites: 1e9, keep: 2 },
    };
  }

  reload(source: string): void {
    const program = programOf(source);
    changeSchema(this.storage, this.vectors, program, this.#equipment.text, this.#nowMs, {
      bumpSchemaVersion: () => {},
    });
    this.#program = program;
  }

  /** As a snapshot does that nothing is written beside. */
  snapshot(): void {
    this.vectors.snapshots.finish();
  }

  /** A clean stop. */
  stop(): void {
    this.snapshot();
    this.kill();
  }

  /** What is committed is on disk, and nothing else. */
  kill(): void {
    this.storage.close();
  }

  // biome-ignore lint/suspicious/noExplicitAny: replies are as different as the queries.
  call(name: string, body: object = {}): any {
    const query = this.#program.queries.find((each) => each.name === name);
    if (query === undefined) throw new RangeError(`no query ${name}`);
    const equipment = this.#equipment;
    const args = decodeCall(query, Buffer.from(JSON.stringify(body)), equipment);
    const request = {
      plan: query.plan,
      args,
      nowMicros: ++this.#nowMs * 1000,
      deadline: Number.POSITIVE_INFINITY,
      budgetMs: 1e9,
      isCancelled: () => false,
    };
    const act = (view: ReadView | WriteView) => run(request, view, equipment).body;
    if (!query.plan.writes) return JSON.parse(Buffer.from(act(this.storage.reader())).toString());
    let reply: Uint8Array | undefined;
    let failure: { error: unknown } | undefined;
    const changes = this.storage.commitGroup((group) => {
      try {
        reply = group.request(this.#nowMs, act);
      } catch (error) {
        failure = { error };
      }
    });
    this.vectors.publish(changes);
    if (failure) throw failure.error;
    return JSON.parse(Buffer.from(reply!).toString());
  }

  verify(): string[] {
    const found = verifyStorage(this.storage, { dbUuid, dataDir: this.folder });
    return found.map(({ invariant, what }) => `${invariant} ${what}`);
  }

  dispose(): void {
    this.storage.close();
    rmSync(this.folder, { recursive: true });
  }
}
