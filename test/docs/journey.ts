// A page that is worked through from its first block to its last, in one empty folder. Besides the blocks of block.ts:
//
//   `file: PATH`     the text of the block becomes that file; `append: PATH`: the end of that file
//   sh `background`  a server that runs while the page continues. It replaces the one that ran before
//
// Invariant: after a change of a source file, the next block runs when the server has reloaded or refused it.
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { type Block, blocksOf, type Page } from '../support/page.js';
import { checkBlock, reasonNotToRun, type Task } from './block.js';
import { PageDatabase } from './page-database.js';
import { type Done, Workplace } from './workplace.js';

const patience = 30_000;

/** A page that starts a server is worked through as a whole; block.test.ts leaves it out. */
export const isTutorial = (page: Page): boolean =>
  blocksOf(page).some(({ info }) => info === 'background');

/** A port on this machine that no process listens on. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

export class Journey {
  readonly place: Workplace;
  #server: ChildProcess | undefined;
  #log = '';

  private constructor(private readonly port: number) {
    this.place = new Workplace({ port });
  }

  static async begin(): Promise<Journey> {
    return new Journey(await freePort());
  }

  /** Throws what is wrong with a block; the result is false if the block says why it does not run. */
  async check(task: Task): Promise<boolean> {
    const { block } = task;
    if (reasonNotToRun(block) !== undefined) return false;
    if (!(await this.take(block))) await checkBlock(task, this.place, new PageDatabase([], []));
    return true;
  }

  /** Whether the block writes a file or starts a server, which is done then. */
  async take(block: Block): Promise<boolean> {
    const { info } = block;
    const text = this.place.textOf(block.text);
    const [, how, path] = /^(file|append): (\S+)$/.exec(info) ?? [];
    if (path !== undefined) {
      const file = join(this.place.folder, path);
      mkdirSync(dirname(file), { recursive: true });
      const reloads = this.#reloads();
      if (how === 'file') writeFileSync(file, `${text}\n`);
      else appendFileSync(file, `\n${text}\n`);
      if (this.#server !== undefined && path.endsWith('.hx'))
        await this.#until(() => this.#reloads() > reloads, `a reload of ${path}`);
      return true;
    }
    if (info !== 'background') return false;
    await this.#stop();
    this.#log = '';
    const { program, args, options } = this.place.command(block);
    const server = spawn(program, args, {
      ...options,
      env: { ...options.env, TRELLIS_SERVER_PORT: String(this.port) },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const note = (part: string): void => void (this.#log += part);
    server.stdout.setEncoding('utf8').on('data', note);
    server.stderr.setEncoding('utf8').on('data', note);
    this.#server = server;
    await this.#until(() => this.#log.includes('trellis ready'), 'the ready line');
    return true;
  }

  run(block: Block): Promise<Done> {
    return this.place.run(block);
  }

  async end(): Promise<void> {
    await this.#stop();
  }

  #reloads(): number {
    return this.#log.match(/sources reloaded|reload failed/g)?.length ?? 0;
  }

  async #until(isThere: () => boolean, what: string): Promise<void> {
    for (const end = Date.now() + patience; !isThere(); ) {
      if (Date.now() > end) throw new Error(`${what} did not come\n${this.#log}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Ends the server and the shell that started it, as Ctrl-C does. */
  async #stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server?.pid === undefined || server.exitCode !== null) return;
    const ended = new Promise((resolve) => server.once('close', resolve));
    process.kill(-server.pid, 'SIGTERM');
    await ended;
  }
}
