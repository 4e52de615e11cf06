// Nodes of a cluster in processes of their own, and how a test speaks to them. Invariant: none outlives the
// test; what a node was asked when it died has no answer, never a made-up one.
import { type ChildProcess, fork } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, root } from '../project.js';

const program = join(root, 'test/support/cluster/node-process.mjs');

export interface ProcessOptions {
  /** Address of the log, for each node by its number. */
  log: (node: number) => string;
  name: string;
  source: string;
  leaseMs: number;
  /** Where each keeps its data; one below a folder of the test's when absent. */
  folders?: readonly string[];
  /** The build that each runs, and the one that founds; the checkout's own when absent. */
  dist?: string;
  /** The servers of the log may forget what they have acknowledged. */
  allowLazy?: boolean;
}

/** A module that sets the wall clock of a process and of all its threads. */
const otherClock = (ms: number): string =>
  `data:text/javascript,${encodeURIComponent(`const real = Date.now; Date.now = () => real() + ${ms};`)}`;

export interface Answer<T> {
  value?: T;
  /** Code of the error. `GONE`: the node ended before its reply, `LATE`: it has not replied. */
  code?: string;
  text?: string;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class NodeProcesses {
  readonly #folder = makeFolder();
  readonly #children: (ChildProcess | undefined)[] = [];
  readonly #waiting = new Map<number, { node: number; done: (answer: Answer<never>) => void }>();
  #asked = 0;

  private constructor(
    readonly count: number,
    private readonly options: ProcessOptions,
  ) {}

  /** Founded, with a folder for each; none is started yet. */
  static async found(count: number, options: ProcessOptions): Promise<NodeProcesses> {
    const nodes = new NodeProcesses(count, options);
    // Not to be waited for by blocking: the relays of the log servers may be in this process.
    const [path, ...argv] = nodes.#argv(0, true);
    const child = fork(path!, argv, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const status = await new Promise((resolve) => child.once('exit', resolve));
    if (status !== 0) throw new Error(`no cluster was founded: exit ${status}`);
    for (let i = 1; i < count; i++)
      cpSync(nodes.folderOf(0), nodes.folderOf(i), { recursive: true });
    return nodes;
  }

  folderOf(node: number): string {
    return join(this.options.folders?.[node] ?? this.#folder, `node${node}`);
  }

  #argv(node: number, founds: boolean, failpoint?: string, dist = this.options.dist): string[] {
    const { log, name, source, leaseMs, allowLazy } = this.options;
    const cluster = { log: log(node), name, node: `n${node}`, advertise: `n${node}:1`, leaseMs };
    const sources = [{ path: 'app.hx', text: source }];
    const options = JSON.stringify({ cluster, sources, founds, failpoint, allowLazy });
    return [program, dist ?? join(root, 'dist'), this.folderOf(node), options];
  }

  isUp(node: number): boolean {
    return this.#children[node] !== undefined;
  }

  /**
   * `failpoint`: where it ends, or waits. `clockMs`: so much its wall clock goes ahead. `dist`: the build that it
   * runs.
   */
  async start(
    node: number,
    { failpoint, clockMs = 0, dist }: { failpoint?: string; clockMs?: number; dist?: string } = {},
  ): Promise<void> {
    const [path, ...argv] = this.#argv(node, false, failpoint, dist);
    const child = fork(path!, argv, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: clockMs === 0 ? [] : ['--import', otherClock(clockMs)],
    });
    running.add(child);
    this.#children[node] = child;
    const ready = new Promise<void>((resolve) => child.once('message', () => resolve()));
    child.on('message', ({ id, ...answer }: { id: number } & Answer<never>) => {
      const done = this.#waiting.get(id)?.done;
      this.#waiting.delete(id);
      done?.(answer);
    });
    const gone = new Promise<void>((resolve) =>
      child.once('exit', () => {
        running.delete(child);
        if (this.#children[node] === child) this.#children[node] = undefined;
        for (const [id, waiting] of this.#waiting)
          if (waiting.node === node) {
            this.#waiting.delete(id);
            waiting.done({ code: 'GONE' });
          }
        resolve();
      }),
    );
    await Promise.race([ready, gone]);
  }

  signal(node: number, signal: NodeJS.Signals): void {
    this.#children[node]?.kill(signal);
  }

  /** `LATE` after `ms`. */
  ask<T>(node: number, op: string, more: object = {}, ms = 10_000): Promise<Answer<T>> {
    const child = this.#children[node];
    if (child === undefined) return Promise.resolve({ code: 'DOWN' });
    const id = ++this.#asked;
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        this.#waiting.delete(id);
        resolve({ code: 'LATE' });
      }, ms);
      const done = (answer: Answer<never>): void => {
        clearTimeout(late);
        resolve(answer);
      };
      this.#waiting.set(id, { node, done });
      child.send({ id, op, ...more }, (error) => {
        if (error) done({ code: 'GONE' });
      });
    });
  }

  /** Ends one as a lost process, and waits until it is gone. */
  async kill(node: number): Promise<void> {
    const child = this.#children[node];
    if (child === undefined) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** Ends one in order. */
  async end(node: number): Promise<void> {
    const child = this.#children[node];
    if (child === undefined) return;
    child.kill('SIGCONT');
    await this.ask(node, 'close', {}, 20_000);
    await this.kill(node);
  }

  /** Ends all of them in order. */
  async stop(): Promise<void> {
    await Promise.all(this.#children.map((_, node) => this.end(node)));
  }
}
