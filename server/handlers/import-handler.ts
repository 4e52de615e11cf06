// Handles `POST /_admin/import`: loads NDJSON rows into the database (README, "Bulk load"). A body is a whole
// import, or one part of a longer one with `?name=N&more=1`. The last part, without `more`, ends the import.
// With `again=1`, rows are loaded even if they were loaded under the same name before. Invariant: all rows
// counted in a response are on disk. An import holds no resources after it fails, or when its parts stop
// arriving.
import {
  type Database,
  type LoadName,
  type LoadedFile,
  TrellisError,
  excerpt,
  fail,
} from '../../engine/internal.js';
import type { ImportReply } from '../import/remote-import.js';
import { type Part, RunningImport, offsetOf } from './import-job.js';

/**
 * Milliseconds after which a load without a next part ends. A later import under the same name continues it.
 */
const idleMs = 600_000;

/** Maximum number of stored names of imports that ended between two parts. */
const endedMax = 1_000;

export class ImportHandler {
  readonly #running = new Map<string, RunningImport>();
  /**
   * Errors for the next part of such an import, which would otherwise be taken for the first part.
   */
  readonly #ended = new Map<string, TrellisError>();

  /** Source files of imports that begin soon, the latest last. */
  readonly #files = new Map<string, readonly LoadedFile[]>();

  constructor(private readonly database: () => Database | undefined) {}

  /**
   * Handles `POST /_admin/import-files`: stores the source files of the import whose first part comes next.
   */
  noteFiles(query: URLSearchParams, body: Uint8Array): object {
    const name = query.get('name');
    if (name === null) fail('PARAM_MISSING', { owner: 'import', param: 'name', type: 'String' });
    const files = filesIn(body);
    this.#files.delete(name);
    this.#files.set(name, files);
    const [oldest] = this.#files.keys();
    if (this.#files.size > endedMax) this.#files.delete(oldest!);
    return {};
  }

  /** Loads one part. `holder` is the caller whose share the import uses. */
  async handle(query: URLSearchParams, body: Uint8Array, holder?: string): Promise<ImportReply> {
    const name = query.get('name');
    const part = { at: offsetOf(query.get('at')), body, isMore: query.get('more') === '1' };
    const flag = (one: string): boolean => query.get(one) === '1';
    const isStrict = flag('strict');
    const how = { again: flag('again'), isStrict, replace: flag('replace'), holder };
    if (name === null && (part.isMore || (part.at ?? 0) > 0)) {
      fail('PARAM_MISSING', { owner: 'import', param: 'name', type: 'String' });
    }
    if (name === null) {
      const load = this.database()!.load(undefined, { isStrict, holder });
      return this.#load(new RunningImport(load), part);
    }
    const running = await this.#take(name, part, how);
    const answer = running.answerOf(part);
    if (answer) {
      if (running.load.progress.end) await this.#drop(name);
      return answer;
    }
    clearTimeout(running.timer);
    running.isBusy = true;
    try {
      const reply = await this.#load(running, part);
      if (part.isMore) running.timer = setTimeout(() => this.#giveUp(name), idleMs).unref();
      else this.#running.delete(name);
      return reply;
    } catch (error) {
      this.#running.delete(name);
      if (running.hasParts) this.#noteEnd(name);
      throw error;
    } finally {
      running.isBusy = false;
    }
  }

  async #load(running: RunningImport, part: Part): Promise<ImportReply> {
    try {
      return await running.take(part);
    } catch (error) {
      await running.load.close();
      throw error;
    }
  }

  /** Returns the import of that name. Starts or continues it if it is not running. */
  async #take(
    name: string,
    part: Part,
    how: Omit<LoadName, 'name' | 'files'>,
  ): Promise<RunningImport> {
    this.#sweep();
    const known = this.#running.get(name);
    if (known?.isBusy) fail('OVERLOADED', { queue: `The import ${excerpt(name)}` });
    if (known && !known.isRestart(part)) return known;
    if (known) await this.#drop(name);
    const error = this.#ended.get(name);
    this.#ended.delete(name);
    if (error && part.at !== 0) throw error;
    const files = this.#files.get(name);
    this.#files.delete(name);
    const running = new RunningImport(this.database()!.load(name, { ...how, files }));
    this.#running.set(name, running);
    return running;
  }

  async #drop(name: string): Promise<void> {
    const running = this.#running.get(name);
    this.#running.delete(name);
    clearTimeout(running?.timer);
    await running?.load.close();
  }

  /** Removes imports whose slots were given to others. */
  #sweep(): void {
    for (const [name, { load, isBusy, timer }] of this.#running) {
      if (!load.isOver || isBusy) continue;
      clearTimeout(timer);
      this.#running.delete(name);
      this.#noteEnd(name);
    }
  }

  #noteEnd(name: string): void {
    const hint = 'Send it again from its beginning: what was loaded is not loaded twice.';
    const args = { kind: 'running import', name: excerpt(name) };
    this.#ended.set(name, new TrellisError({ code: 'NOT_FOUND', args, hint }));
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > endedMax) this.#ended.delete(oldest!);
  }

  #giveUp(name: string): void {
    this.#noteEnd(name);
    void this.#drop(name);
  }
}

const rowsMax = 65_536;

/** Fails PARAM_TYPE. */
function filesIn(body: Uint8Array): LoadedFile[] {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString());
  } catch {
    value = undefined;
  }
  const isFile = (one: unknown): one is LoadedFile => {
    const { name, rows, isUpsert } = (one ?? {}) as Partial<LoadedFile>;
    const areRows = Array.isArray(rows) && rows.every(Number.isSafeInteger);
    return typeof name === 'string' && areRows && typeof isUpsert === 'boolean';
  };
  const files = Array.isArray(value) && value.every(isFile) ? value : undefined;
  if (files && files.reduce((sum, { rows }) => sum + rows.length, 0) <= rowsMax)
    return files.map(({ name, rows, isUpsert }) => ({ name: name.slice(0, 300), rows, isUpsert }));
  const type = '[{ name: String, rows: [U32], isUpsert: Boolean }]';
  return fail('PARAM_TYPE', { param: 'files', type, got: 'something else' });
}
