// The process of a peer that is no package of Node: it reads a request from each line of its standard input and
// writes a response to each line of its standard output, over two named pipes. Each is a JSON object.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** What a response has instead of its fields when the request failed. */
interface Failure {
  error?: string;
}

/** Runs a program to its end. Returns the last line that it printed if it fails, undefined if it succeeds. */
export function failureOf(command: string, args: readonly string[]): string | undefined {
  const { HNSWLIB_NO_NATIVE: _, ...env } = process.env;
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env });
  if (status === 0) return undefined;
  const lines = `${stdout ?? ''}\n${stderr ?? ''}`.trim().split('\n');
  return error?.message ?? lines.at(-1) ?? `it ended with ${status}`;
}

/** The process of one peer. Requests block this thread, so that nothing else is measured meanwhile. */
export class PeerProcess {
  readonly #child: ChildProcess;
  readonly #requests: number;
  readonly #responses: number;
  #rest = Buffer.alloc(0);

  constructor(program: string, args: readonly string[], folder: string) {
    const [requests, responses] = ['requests', 'responses'].map((name) => join(folder, name));
    spawnSync('mkfifo', [requests!, responses!]);
    // The shell opens both pipes before the program starts. If it is absent or fails, the pipes close, and
    // `read` sees the end. Without the shell, opening a pipe here would wait forever for a process that never
    // comes.
    const script = 'exec "$0" "$@" <"$PEER_REQUESTS" >"$PEER_RESPONSES"';
    const env = { ...process.env, PEER_REQUESTS: requests, PEER_RESPONSES: responses };
    this.#child = spawn('sh', ['-c', script, program, ...args], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.#child.unref();
    this.#requests = openSync(requests!, 'w');
    this.#responses = openSync(responses!, 'r');
  }

  /** The next response. A process that has ended gives an error. */
  read<T extends object>(): T & Failure {
    const parts: Buffer[] = [];
    let next = this.#rest;
    while (!next.includes(10)) {
      parts.push(next);
      next = Buffer.alloc(65_536);
      const count = readSync(this.#responses, next, 0, next.length, null);
      if (count === 0) return { error: 'the process has ended' } as T & Failure;
      next = next.subarray(0, count);
    }
    const end = next.indexOf(10);
    this.#rest = Buffer.from(next.subarray(end + 1));
    const line = Buffer.concat([...parts, next.subarray(0, end)]).toString();
    return JSON.parse(line) as T & Failure;
  }

  /** Throws an error with the text of the peer when a request fails. */
  request<T extends object>(body: object): T {
    writeSync(this.#requests, `${JSON.stringify(body)}\n`);
    const response = this.read<T>();
    if (response.error !== undefined) throw new Error(response.error);
    return response;
  }

  /** Resolves when the process has ended. */
  async end(): Promise<void> {
    this.#child.ref();
    const ended = new Promise((done) => this.#child.once('exit', done));
    closeSync(this.#requests);
    closeSync(this.#responses);
    if (this.#child.exitCode === null && this.#child.signalCode === null) await ended;
  }
}
