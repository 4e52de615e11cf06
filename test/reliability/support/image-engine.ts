// Opens data directories in a child process, without lanes or sockets, and queries them. It is fast enough
// for hundreds of images of a disk, and detects a process that is ended by a signal.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type Oracle, crashSources } from '../crash/oracle.js';
import { bundled } from '../../support/run/bundled.js';
import type { Order } from './image-child.js';

let child: string | undefined;

/** The data directory ended the process that read it. */
class EngineDied extends Error {
  override readonly name = 'EngineDied';
}

export class ImageEngine {
  #process: ChildProcess | undefined;
  #answers: AsyncIterator<string> | undefined;
  #end: string | undefined;
  /** As far as checks use a server. */
  readonly client = {
    post: (name: string, args: unknown = {}): Promise<never> =>
      this.#ask({ kind: 'call', name, body: JSON.stringify(args) }) as Promise<never>,
  };

  #start(): void {
    child ??= bundled('test/reliability/support/image-child.ts');
    const started = spawn(process.execPath, [child], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#process = started;
    this.#end = undefined;
    started.stdin!.on('error', () => undefined);
    started.once('exit', (code, signal) => {
      this.#end = signal ?? `exit ${code}`;
      if (this.#process === started) this.#process = undefined;
    });
    this.#answers = createInterface({ input: started.stdout! })[Symbol.asyncIterator]();
  }

  async #ask(order: Order): Promise<unknown> {
    if (this.#process === undefined) this.#start();
    this.#process!.stdin!.write(`${JSON.stringify(order)}\n`);
    const { value, done } = await this.#answers!.next();
    if (done) {
      // The end of its output may come before word of its end.
      for (let i = 0; i < 100 && this.#end === undefined; i++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new EngineDied(`the process died: ${this.#end}`);
    }
    const answer = JSON.parse(value) as { ok?: unknown; error?: unknown };
    if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error));
    return answer.ok;
  }

  async open(path: string, sources: Record<string, string>): Promise<void> {
    const texts = Object.entries(sources).map(([name, text]) => ({ path: name, text }));
    await this.#ask({ kind: 'open', path, sources: texts });
  }

  /** What the check of everything stored finds. */
  async verify(): Promise<string[]> {
    const found = (await this.#ask({ kind: 'verify' })) as { invariant: string; what: string }[];
    return found.map(({ invariant, what }) => `${invariant} ${what}`);
  }

  /** What is wrong with data that `past` has written, or why they cannot be opened. */
  async faultsIn(data: string, past: Oracle): Promise<string[]> {
    try {
      await this.open(data, crashSources);
      return [...(await past.check(this, 10)), ...(await this.verify())];
    } catch (error) {
      return [`${past.acknowledged} acknowledged: ${(error as Error).message}`];
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    if (this.#process !== undefined) await this.#ask({ kind: 'close' }).catch(() => undefined);
  }

  end(): void {
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
  }
}
