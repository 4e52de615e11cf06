// `POST /_admin/import`: NDJSON rows into the database (README, "Bulk load"). A body is a whole
// import, or with `?name=N&more=1` one part of a longer one, which the last part, without `more`,
// ends. Invariant: what is answered is on disk.
import {
  type Database,
  type FedRow,
  LoadFeed,
  errorMessage,
  excerpt,
  fail,
} from '../engine/index.js';
import type { BulkLoad } from '../engine/index.js';
import type { ImportReply } from './remote-import.js';

/** A load whose next part does not come ends here; the same name goes on with it later. */
const idleMs = 600_000;
const rejectsMax = 1_000;

type Counts = Pick<LoadFeed, 'nodes' | 'edges' | 'vectors' | 'rejected'>;

const nothing: Counts = { nodes: 0, edges: 0, vectors: 0, rejected: 0 };

interface Running {
  load: BulkLoad;
  feed: LoadFeed;
  rejects: FedRow[];
  /** What replies have counted: pieces may end between two parts. */
  told: Counts;
  isBusy: boolean;
  timer: NodeJS.Timeout | undefined;
}

export class ImportHandler {
  readonly #running = new Map<string, Running>();
  #unnamed = 0;

  constructor(private readonly database: () => Database | undefined) {}

  async handle(query: URLSearchParams, body: Uint8Array): Promise<unknown> {
    const given = query.get('name');
    const isMore = query.get('more') === '1';
    if (given === null && isMore) {
      fail('PARAM_MISSING', { owner: 'import', param: 'name', type: 'String' });
    }
    const name = given ?? `unnamed ${this.#unnamed++} ${performance.timeOrigin}`;
    const running = this.#take(name);
    try {
      return await this.#part(name, running, body, isMore);
    } catch (error) {
      this.#running.delete(name);
      await running.load.close();
      throw error;
    }
  }

  #take(name: string): Running {
    let running = this.#running.get(name);
    if (running?.isBusy) fail('OVERLOADED', { queue: `The import ${excerpt(name)}` });
    if (running === undefined) {
      const load = this.database()!.load(name);
      const rejects: FedRow[] = [];
      const onRejects = (rows: readonly FedRow[]): void => {
        rejects.push(...rows.slice(0, rejectsMax - rejects.length));
      };
      const feed = new LoadFeed(load, { onRejects });
      running = { load, feed, rejects, told: nothing, isBusy: false, timer: undefined };
      this.#running.set(name, running);
    }
    clearTimeout(running.timer);
    running.isBusy = true;
    return running;
  }

  async #part(
    name: string,
    running: Running,
    body: Uint8Array,
    isMore: boolean,
  ): Promise<ImportReply> {
    const { load, feed, rejects, told } = running;
    await feed.write(body);
    if (!isMore) {
      await feed.end();
      await load.finish();
      this.#running.delete(name);
    } else {
      running.timer = setTimeout(() => this.#giveUp(name), idleMs).unref();
    }
    running.isBusy = false;
    const { nodes, edges, vectors, rejected } = feed;
    running.told = { nodes, edges, vectors, rejected };
    return {
      nodes: nodes - told.nodes,
      edges: edges - told.edges,
      vectors: vectors - told.vectors,
      rejected: rejected - told.rejected,
      resumed: feed.resumed,
      rejects: rejects.splice(0).map((row) => ({ ...row, message: errorMessage(row.error) })),
    };
  }

  #giveUp(name: string): void {
    const running = this.#running.get(name);
    this.#running.delete(name);
    void running?.load.close();
  }
}
