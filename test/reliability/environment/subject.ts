// A server that lacks a resource: the test starts it under a command that sets a limit or a namespace, in a
// separate working directory, with its own streams.
import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigValue, makeFolder, root, writeProject } from '../../support/project.js';
import { Client } from '../../support/server/http.js';

const main = join(root, 'dist/bin/main.js');

/** Rows that a read looks through for longer than it may on the main thread. */
export const rowCount = 5_000;

/** More than what is compiled where it is. */
const padding = `// ${'x'.repeat(96)}\n`.repeat(200);

export const sourcesOf = (version: number): Record<string, string> => ({
  'main.hx': `// version ${version}
N::Row { INDEX x: U32, text: String }
QUERY addOne(x: U32) => row <- AddN<Row>({ x: x, text: "one" }) RETURN row::{x}
QUERY addMany(xs: [U32]) => FOR x IN xs { row <- AddN<Row>({ x: x, text: "many" }) } RETURN "done"
QUERY find(x: U32) => rows <- N<Row>({ x: x })::COUNT RETURN rows
QUERY heavy(text: String) => rows <- N<Row>::WHERE(_::{text}::CONTAINS(text))::COUNT RETURN rows
${padding}`,
});

export interface SubjectOptions {
  /** A program and its arguments, which runs what comes behind. */
  before?: readonly string[];
  env?: Record<string, string | undefined>;
  args?: readonly string[];
  config?: Record<string, ConfigValue>;
  stdio?: StdioOptions;
  /** Nothing of what it prints can be heard: its port is found in the file of its lock. */
  isDeaf?: boolean;
}

interface Noted {
  port: number | null;
}

export interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const subjects = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of subjects) child.kill('SIGKILL');
});

/** The environment without what configures a server. */
function environment(extra: SubjectOptions['env'] = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(TRELLIS|HELIX)_/.test(name));
  return { ...Object.fromEntries(inherited), ...extra };
}

export class Subject {
  readonly folder = makeFolder();
  readonly project = join(this.folder, 'project');
  readonly data = join(this.folder, 'data');
  readonly cwd: string;
  child!: ChildProcess;
  client!: Client;
  /** Connected from the start, as the first one is. */
  readonly others: Client[] = [];
  port = 0;
  output = '';
  ended!: Promise<End>;

  constructor(readonly options: SubjectOptions = {}) {
    mkdirSync(this.project);
    writeProject(this.project, { sources: sourcesOf(0), config: options.config ?? {} });
    this.cwd = mkdtempSync(join(this.folder, 'cwd-'));
  }

  get pid(): number {
    return this.child.pid!;
  }

  #argv(words: readonly string[], { before = [] }: SubjectOptions): [string, string[]] {
    const [program, ...args] = [...before, process.execPath, main, ...words];
    return [program!, args];
  }

  /** Resolves when it is ready, or has ended. */
  async start(change: SubjectOptions = {}): Promise<End | undefined> {
    const options = { ...this.options, ...change };
    const { args = [], stdio = ['ignore', 'pipe', 'pipe'], env } = options;
    const words = ['serve', this.project, '--data', this.data, '--port', '0', '--workers', '2'];
    const [program, argv] = this.#argv([...words, ...args], options);
    this.child = spawn(program, argv, { cwd: this.cwd, env: environment(env), stdio });
    subjects.add(this.child);
    this.output = '';
    const { stdout, stderr } = this.child;
    const ready = new Promise<undefined>((resolve) => {
      const hear = (text: string): void => {
        this.output += text;
        const port = /"msg":"serving","port":(\d+)|ready http:\S+:(\d+)/.exec(this.output);
        if (port === null) return;
        this.port = Number(port[1] ?? port[2]);
        resolve(undefined);
      };
      stdout?.setEncoding('utf8').on('data', hear);
      stderr?.setEncoding('utf8').on('data', hear);
    });
    this.ended = new Promise((resolve) => {
      this.child.once('error', () => resolve({ code: null, signal: null }));
      this.child.once('close', (code, signal) => {
        subjects.delete(this.child);
        resolve({ code, signal });
      });
    });
    const heard = options.isDeaf ? this.#found() : ready;
    const end = await Promise.race([heard, this.ended]);
    if (end === undefined) {
      this.client = new Client(this.port);
      for (const one of this.others.splice(0)) one.close();
      this.others.push(...Array.from({ length: 4 }, () => new Client(this.port)));
      for (const one of [this.client, ...this.others]) await one.open();
    }
    return end;
  }

  /** Of a server that cannot be heard: who holds the directory, and whether it is ready. */
  async #found(): Promise<undefined> {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      try {
        const { port } = JSON.parse(readFileSync(join(this.data, 'LOCK'), 'utf8')) as Noted;
        if (port === null) continue;
        this.port = port;
        const { status } = await new Client(port).request({ method: 'GET', path: 'readyz' });
        if (status === 200) return undefined;
      } catch {
        // It has not begun to serve.
      }
    }
  }

  /** Fills it with rows. */
  async fill(): Promise<void> {
    await this.client.post('addMany', { xs: Array.from({ length: rowCount }, (_, i) => i) });
  }

  /** One command of the command line, in the same surroundings. */
  command(words: readonly string[], timeoutMs = 30_000): End & { output: string } {
    const [program, argv] = this.#argv(words, this.options);
    const { status, signal, stdout, stderr } = spawnSync(program, argv, {
      cwd: this.cwd,
      env: environment(this.options.env),
      encoding: 'utf8',
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    return { code: status, signal, output: `${stdout}${stderr}` };
  }

  async stop(): Promise<End> {
    for (const one of [this.client, ...this.others]) one.close();
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 20_000);
    return this.ended.finally(() => clearTimeout(timer));
  }

  kill(): void {
    this.child?.kill('SIGKILL');
  }
}
