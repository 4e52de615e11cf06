// A database without storage for tests of the server: a handful of queries with known behaviour,
// all in memory. Stands behind the same face as the real one, so that transports, checks and errors
// can be tested alone.
import { type ErrorData, TrellisError, fail } from '../../engine/base/errors.js';
import type { Database, DatabaseStatus } from '../../engine/database/database.js';
import { ReembedJobs } from '../../engine/database/reembed/reembed-jobs.js';
import type { DatabaseSample } from '../../engine/database/metrics/definitions.js';
import type { CallOptions } from '../../engine/database/call/options.js';
import type { Plan, Query } from '../../engine/plan/plan.js';
import type { Program } from '../../engine/plan/program.js';
import type { ReadView } from '../../engine/storage/table/view-types.js';

type Behaviour = (body: Uint8Array, options: CallOptions) => Uint8Array | Promise<Uint8Array>;

function plan(name: string, writes: boolean): Plan {
  return {
    name,
    parameters: [],
    slotCount: 0,
    statements: [],
    output: { kind: 'object', members: [] },
    writes,
    cost: writes ? 'W' : 'A',
    embeds: [],
    compat: false,
  };
}

const query = (name: string, writes = false): Query => ({
  name,
  plan: plan(name, writes),
  returns: [],
  output: { members: [] },
  doc: '',
  written: '',
  file: '',
  mcp: false,
  elements: false,
});

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const failure = (data: ErrorData): TrellisError => new TrellisError(data);

const numberIn = (body: Uint8Array): number => Number(/\d+/.exec(Buffer.from(body).toString()));

const emptyView = {
  catalog: { labels: () => [], find: () => undefined, label: () => undefined },
  idOf: () => 0,
  count: () => 0,
} as unknown as ReadView;

export class FakeDatabase implements Database {
  program: Program;
  embedAhead = (): undefined => undefined;
  /** No model is configured, so no job begins. */
  readonly reembeds = new ReembedJobs({
    view: (read) => read(emptyView),
    execute: () => Promise.reject(failure({ code: 'INTERNAL', args: {} })),
    embed: async () => [],
    log: () => {},
    modelOf: () => undefined,
  });
  current: DatabaseStatus = { phase: 'serving', progress: 100, writes: true };
  /** Bodies of the writes that were carried out, in order. */
  readonly written: string[] = [];
  cancelled = 0;
  /** No more calls of `later` are taken. */
  full = false;
  closed = false;
  readonly #behaviours = new Map<string, Behaviour>();

  constructor() {
    const add = (name: string, behaviour: Behaviour, writes = false): Query => {
      this.#behaviours.set(name, behaviour);
      return query(name, writes);
    };
    const pong = Buffer.from('{"pong":true}');
    const queries = [
      add('ping', () => pong),
      add('echo', (body) => (body.length === 0 ? Buffer.from('{}') : Buffer.from(body))),
      add('metrics', () => pong),
      add('size', (body) => Buffer.from(`{"size":${body.length}}`)),
      add('big', (body) => Buffer.alloc(numberIn(body), 0x20)),
      add('later', (body) => later(numberIn(body)).then(() => Buffer.from(body))),
      add('visit', (body, options) => {
        options.onWork?.({ micros: 5, rows: 1, visits: numberIn(body) });
        return pong;
      }),
      add('put', (body) => this.#put(body), true),
      add('hang', (_, options) => this.#hang(options)),
      add('defect', () => {
        throw new RangeError('a planted secret in a message');
      }),
      add('late', () => Promise.reject(new RangeError('a planted secret, later'))),
      add('missing', () => {
        throw failure({ code: 'NO_VALUE_FOUND', args: { what: 'User 1' } });
      }),
      add('full', () =>
        Promise.reject(failure({ code: 'OVERLOADED', args: { queue: 'The read queue' } })),
      ),
      add('faults', () => {
        const type = {
          code: 'PARAM_TYPE',
          args: { param: 'name', type: 'String', got: 'a number' },
        };
        const missing = {
          code: 'PARAM_MISSING',
          args: { owner: 'faults', param: 'age', type: 'U8' },
        };
        const errors = [
          { ...type, path: '/name' },
          { ...missing, path: '/age' },
        ] as ErrorData[];
        throw failure({ ...errors[0]!, errors });
      }),
    ];
    this.program = {
      schema: { version: 1, nodes: [], edges: [], vectors: [] },
      olderSchemas: [],
      migrations: [],
      queries,
      compat: false,
    };
  }

  /** Adds writes of these names: nothing but the door keeps them from a caller. */
  addWrites(...names: string[]): void {
    for (const name of names) this.#behaviours.set(name, (body) => this.#put(body));
    const queries = [...this.program.queries, ...names.map((name) => query(name, true))];
    this.program = { ...this.program, queries };
  }

  async #put(body: Uint8Array): Promise<Uint8Array> {
    const text = Buffer.from(body).toString();
    await later(1);
    this.written.push(text);
    return Buffer.from(text);
  }

  /** Never ends, even if it is cancelled. */
  #hang({ onCancellable }: CallOptions): Promise<Uint8Array> {
    onCancellable?.(() => this.cancelled++);
    return new Promise(() => undefined);
  }

  call(name: string, body: Uint8Array, options: CallOptions = {}) {
    return this.#behaviours.get(name)!(body, options);
  }

  refusal(name: string): ErrorData | undefined {
    const isRefused = this.full && name === 'later';
    return isRefused ? { code: 'OVERLOADED', args: { queue: 'The read queue' } } : undefined;
  }

  /** Looks of the explorer see nothing; nothing else has a plan here. */
  run(plan: Plan) {
    if (plan.output.kind === 'inspection') return { body: Buffer.from('[]') };
    throw failure({ code: 'READ_ONLY', args: { reason: 'this database is a fake' } });
  }

  embed(): Promise<Float64Array[]> {
    return Promise.resolve([]);
  }

  view<T>(look: (view: ReadView) => T): T {
    return look(emptyView);
  }

  async preview(): Promise<never> {
    throw new Error('there are no data');
  }
  async reload(program: Program): Promise<void> {
    this.program = program;
  }

  backUp(): never {
    return fail('FEATURE_DISABLED', { feature: 'Backup' });
  }

  load(): never {
    return fail('FEATURE_DISABLED', { feature: 'Bulk load' });
  }

  async snapshot(): Promise<void> {
    return undefined;
  }

  notePort(): void {}
  attachment(): never {
    throw new Error('nobody attaches to it');
  }

  indexes() {
    return [];
  }
  async recall() {
    return [];
  }

  status(): DatabaseStatus {
    return this.current;
  }

  metrics(): DatabaseSample[] {
    return [{ name: 'commit_errors_total', labels: { errno: 'EIO' }, value: 0 }];
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}
