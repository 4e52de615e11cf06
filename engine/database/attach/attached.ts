// A database that another thread of this process has open, on a thread of one's own: reads run here, on
// this thread's snapshot of LMDB and its view of the shared vector memory, as in a reading lane but
// without the way there; writes, reads that need an embedding, and whatever falls into a reload go to the
// thread that opened it.
//
// Invariant: an answer is given in place only by the program that the shared words name as the present
// one, so that a reload swaps it on all threads at once; from a snapshot that holds every write
// acknowledged before the call.
import { wallMs } from '../../base/clock.js';
import { type ErrorData, TrellisError, fail } from '../../base/errors.js';
import { emptySchema, type Schema } from '../../base/schema.js';
import type { ReplyType } from '../../plan/output-type.js';
import type { Query } from '../../plan/plan.js';
import type { Program } from '../../plan/program.js';
import { type Storage, openStorage } from '../../storage/open-storage.js';
import { createTextIndex } from '../../text/text-index-lmdb.js';
import { Gate } from '../call/gate.js';
import { unpack } from '../call/pack.js';
import { type Equipment, decodeCall, run } from '../call/runner.js';
import type { Equip } from '../lane/message.js';
import { isSwap } from '../schema/reloads.js';
import { SchemaGuard } from '../schema/schema-guard.js';
import { AttachedIndexes } from '../vectors/attached-index.js';
import { type Attachment, type FromAttached, type ToAttached, readNumbers } from './attachment.js';

interface Waiting {
  resolve: (body: Uint8Array) => void;
  reject: (error: TrellisError) => void;
}

/** Reads whose cost is told at a time, and how late at most. */
const readsTold = 256;
const tellMs = 250;

export class Attached {
  /** Resolves when calls may be made. */
  readonly ready: Promise<void>;
  readonly #gate: Gate;
  readonly #storage: Storage;
  readonly #guard: SchemaGuard;
  readonly #indexes = new AttachedIndexes();
  readonly #equipment: Equipment;
  readonly #waiting = new Map<number, Waiting>();
  #queries = new Map<string, { query: Query; place: number }>();
  #declared: Schema = emptySchema;
  #names: string[] = [];
  #generation = -1;
  #schema = 0;
  #lastId = 0;
  /** Whether this thread has the data file open. */
  #holds = true;
  #isClosed = false;
  #onReady: () => void = () => undefined;
  readonly #reads = new Float64Array(readsTold * readNumbers);
  #readsEnd = 0;
  #teller: NodeJS.Timeout | undefined;

  constructor(private readonly attachment: Attachment) {
    const { gate, graphPath, limits, strict, textEnabled, port } = attachment;
    this.#gate = new Gate(gate);
    this.#storage = openStorage(graphPath, { limits, mode: 'read' });
    this.#guard = new SchemaGuard(this.#gate, this.#storage);
    this.#equipment = {
      limits,
      strict,
      text: textEnabled ? createTextIndex(limits) : undefined,
      vectors: this.#indexes.byLabel,
    };
    this.ready = new Promise((resolve) => {
      this.#onReady = resolve;
    });
    port.on('message', (message: ToAttached) => this.#receive(message));
    port.on('close', () => void this.#end());
  }

  #receive(message: ToAttached): void {
    switch (message.kind) {
      case 'equip':
        return this.#equip(message);
      case 'index':
        return this.#indexes.take(message);
      case 'release':
        return void this.#release().then(() => this.#send({ kind: 'released' }));
      case 'reopen':
        this.#storage.reopen();
        this.#holds = true;
        return;
      case 'answer':
        return this.#answered(message);
    }
  }

  #equip({ program, generation, schema, indexes }: Equip): void {
    const { queries, schema: declared } = unpack<Program>(program);
    this.#declared = declared;
    this.#tell();
    this.#names = queries.map(({ name }) => name);
    this.#queries = new Map(queries.map((query, place) => [query.name, { query, place }]));
    this.#generation = generation;
    this.#schema = schema;
    this.#guard.equip(schema);
    this.#indexes.takeAll(indexes);
    // Who waits for nothing may end.
    if (this.#waiting.size === 0) this.attachment.port.unref();
    this.#onReady();
  }

  #release(): Promise<void> {
    this.#holds = false;
    return this.#storage.close();
  }

  #send(message: FromAttached): void {
    this.attachment.port.postMessage(message);
  }

  #answered({ id, body, error }: { id: number; body?: Uint8Array; error?: ErrorData }): void {
    const call = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.attachment.port.unref();
    if (error !== undefined) call?.reject(new TrellisError(error));
    else call?.resolve(body!);
  }

  call(name: string, body: Uint8Array): Uint8Array | Promise<Uint8Array> {
    const entry = this.#queries.get(name);
    const isPresent = this.#holds && this.#gate.program() === this.#generation;
    if (entry !== undefined && isPresent && isReadable(entry.query)) {
      try {
        return this.#read(entry.query, entry.place, body);
      } catch (error) {
        // The other thread makes the call again when the reload is over.
        if (!isSwap(error)) throw error;
      }
    }
    return this.#forward(name, body);
  }

  /** The type of a query's reply. */
  replyOf(name: string): { schema: Schema; reply: ReplyType } | undefined {
    const entry = this.#queries.get(name);
    return entry && { schema: this.#declared, reply: entry.query.output };
  }

  #read(query: Query, place: number, body: Uint8Array): Uint8Array {
    const started = performance.now();
    const { plan } = query;
    const budgetMs = this.#equipment.limits.query_time;
    const request = {
      plan,
      args: decodeCall(query, body, this.#equipment),
      nowMicros: wallMs() * 1000,
      deadline: started + budgetMs,
      budgetMs,
      isCancelled: () => false,
    };
    const result = this.#guard.run(this.#schema, (view) => run(request, view, this.#equipment));
    const micros = (performance.now() - started) * 1000;
    this.#note(place, micros, result.rows ?? 0, result.visits ?? 0);
    return result.body;
  }

  #note(place: number, micros: number, rows: number, visits: number): void {
    const at = this.#readsEnd;
    this.#reads[at] = place;
    this.#reads[at + 1] = micros;
    this.#reads[at + 2] = rows;
    this.#reads[at + 3] = visits;
    this.#readsEnd = at + readNumbers;
    if (this.#readsEnd === this.#reads.length) this.#tell();
    else this.#teller ??= setTimeout(() => this.#tell(), tellMs).unref();
  }

  #tell(): void {
    clearTimeout(this.#teller);
    this.#teller = undefined;
    if (this.#readsEnd === 0) return;
    const reads = this.#reads.slice(0, this.#readsEnd);
    this.#readsEnd = 0;
    const names: string[] = [];
    const places = new Map<number, number>();
    for (let at = 0; at < reads.length; at += readNumbers) {
      const place = reads[at]!;
      const known = places.get(place) ?? names.push(this.#names[place]!) - 1;
      places.set(place, known);
      reads[at] = known;
    }
    this.#send({ kind: 'spent', names, reads });
  }

  #forward(name: string, body: Uint8Array): Promise<Uint8Array> {
    if (this.#isClosed) fail('SHUTTING_DOWN');
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.attachment.port.ref();
      this.#send({ kind: 'call', id, name, body });
    });
  }

  /** The other side is gone, or has closed the database. */
  async #end(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#teller);
    const error = new TrellisError({ code: 'SHUTTING_DOWN', args: {} });
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#onReady();
    if (this.#holds) await this.#release();
  }

  /** Lets go of the database; it goes on for all others. */
  async close(): Promise<void> {
    if (!this.#isClosed) this.#tell();
    await this.#end();
    this.attachment.port.close();
  }
}

const isReadable = ({ plan }: Query): boolean => !plan.writes && plan.embeds.length === 0;
