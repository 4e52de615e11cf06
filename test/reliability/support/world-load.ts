// Random clients of the world: each owns some units and changes them, one more imports, takes
// snapshots and backups, and reloads the sources with a migration. All of them keep the beliefs.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '../../support/server/http.js';
import type { Random } from '../../support/random.js';
import type { Server } from '../../support/server/server.js';
import { type Belief, markKeys, moveOf, rowsOf, worldSources } from './world.js';

/** Units of one owner: above these it rather changes what there is. */
const unitsMax = 40;
/** Units of imports: of more the oldest ones go, or a long run would look at nothing else. */
const importedMax = 60;

/** Answers that ask for another try are no fault when a server stops; nothing has happened then. */
const isExcused = (text: string): boolean =>
  text.includes('"retryable":true') && !text.includes('READ_ONLY');

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class World {
  readonly beliefs = new Map<string, Belief>();
  /** Calls answered with success, by path. */
  readonly done = new Map<string, number>();
  /** Answers that should not be. */
  readonly faults: string[] = [];
  /** Version of the sources on the disk. */
  version = 1;
  #next = 0;
  #orders = 0;
  readonly #imported: string[] = [];

  constructor(private readonly random: Random) {}

  get acknowledged(): number {
    return [...this.done.values()].reduce((a, b) => a + b, 0);
  }

  #count(path: string): void {
    this.done.set(path, (this.done.get(path) ?? 0) + 1);
  }

  /** The marks, which never change. */
  async found(client: Client): Promise<void> {
    await client.post('found', { keys: markKeys });
  }

  /** Lets clients work until the server is gone or `stop` resolves. */
  async load(server: Server, clients: number, stop: Promise<unknown>): Promise<void> {
    let going = true;
    void stop.then(() => (going = false));
    const work = async (step: (client: Client) => Promise<void>): Promise<void> => {
      const client = new Client(server.port);
      try {
        while (going) await step(client);
      } catch {
        // The connection broke: running calls have an unknown outcome.
      } finally {
        client.close();
      }
    };
    const owners = Array.from({ length: clients }, (_, i) => {
      const own = [...this.beliefs.keys()].filter((key) => key.startsWith(`c${i}-`));
      return work((client) => this.#move(client, own, `c${i}`));
    });
    await Promise.all([...owners, work((client) => this.#administer(client, server))]);
  }

  async #move(client: Client, own: string[], name: string): Promise<void> {
    const { random } = this;
    const alive = own.filter((key) => this.beliefs.get(key)?.state !== undefined);
    let key = random.pick(alive.length > 0 && random.chance(0.7) ? alive : own);
    if (key === undefined || (alive.length < unitsMax && random.chance(0.3))) {
      key = `${name}-${this.#next++}`;
      own.push(key);
    }
    const belief: Belief = this.beliefs.get(key) ?? { state: undefined };
    this.beliefs.set(key, belief);
    const fresh = `${name}-${this.#next++}`;
    const move = moveOf(key, belief.state, fresh, random);
    const isDone = await this.#make(client, move);
    // Alone a unit that was taken away twice would be looked at for ever.
    if (isDone && move.after === undefined) own.splice(own.indexOf(key), 1);
  }

  /** Whether the call was answered with success. */
  async #make(
    client: Client,
    { path, key, body, after }: ReturnType<typeof moveOf>,
  ): Promise<boolean> {
    const belief = this.beliefs.get(key)!;
    belief.maybe = { state: after };
    const { status, text } = await client.request({ path, body: JSON.stringify(body) });
    delete belief.maybe;
    if (status === 200) {
      belief.state = after;
      this.#count(path);
    }
    const wanted = path === 'clash' ? 409 : 200;
    if (status !== wanted && !isExcused(text)) this.#fault(path, status, text);
    return status === 200;
  }

  #fault(path: string, status: number, text: string): void {
    this.faults.push(`${path}: ${status} ${text}`);
  }

  async #administer(client: Client, server: Server): Promise<void> {
    const orders = [
      () => this.#import(client),
      () => this.#order(client, 'snapshot'),
      () => this.#reload(client, server),
      () => this.#import(client),
      () => this.#backup(client, server),
    ];
    await orders[this.#orders++ % orders.length]!();
    await pause(this.random.below(40));
  }

  async #import(client: Client): Promise<void> {
    const keys = Array.from({ length: 1 + this.random.below(12) }, () => `i-${this.#next++}`);
    const after = { n: 0, marks: [] };
    for (const key of keys) this.beliefs.set(key, { state: undefined, maybe: { state: after } });
    const { status, text } = await client.request({
      path: '_admin/import',
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: rowsOf(keys, this.version),
    });
    const rejected = status === 200 ? (JSON.parse(text) as { rejected: number }).rejected : 0;
    for (const key of keys) {
      const belief = this.beliefs.get(key)!;
      delete belief.maybe;
      if (status === 200) belief.state = after;
    }
    if (status === 200) this.#count('import');
    this.#imported.push(...keys.filter((key) => this.beliefs.get(key)!.state !== undefined));
    if ((status !== 200 && !isExcused(text)) || rejected > 0) this.#fault('import', status, text);
    while (this.#imported.length > importedMax) await this.#remove(client, this.#imported.shift()!);
  }

  async #remove(client: Client, key: string): Promise<void> {
    if (this.beliefs.get(key)?.state === undefined) return;
    await this.#make(client, { path: 'remove', key, body: { key }, after: undefined });
  }

  async #order(client: Client, path: string, body: object = {}): Promise<boolean> {
    const reply = await client.request({ path: `_admin/${path}`, body: JSON.stringify(body) });
    const { status, text } = reply;
    if (status === 200) this.#count(path);
    else if (!isExcused(text)) this.#fault(path, status, text);
    return status === 200;
  }

  async #reload(client: Client, server: Server): Promise<void> {
    this.version++;
    this.writeSources(server);
    if (await this.#order(client, 'reload')) return;
    // Turned away by a server that stops: the next reload must migrate from the version that the data
    // have, as sources that leave one out migrate nothing (helixql.md 2.6).
    this.version--;
    this.writeSources(server);
  }

  async #backup(client: Client, server: Server): Promise<void> {
    const name = `b${this.#next++}`;
    await this.#order(client, 'backup', { name });
    rmSync(join(server.data, 'backups', name), { recursive: true, force: true });
  }

  writeSources(server: Server): void {
    mkdirSync(server.project, { recursive: true });
    writeFileSync(join(server.project, 'main.hx'), worldSources(this.version));
  }
}
