// Starts and stops real server processes on throw-away projects: sources and configuration as text,
// port 0, the ready line awaited. Owns the folders and processes it makes; none outlives the test
// file.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from './http.js';
import { makeFolder, type Project, removeFolder, root, writeProject } from '../project.js';

const mainOf = (dist?: string): string =>
  dist === undefined ? join(root, 'dist/bin/main.js') : join(dist, 'server/main.js');

export interface StartOptions extends Project {
  env?: Record<string, string>;
  /** `serve` by default. */
  command?: 'serve' | 'dev';
  /** More arguments of it. */
  args?: string[];
  workers?: number;
  /** Milliseconds until the ready line. */
  readyMs?: number;
  /** Puts the process into a control group, before it looks. */
  within?: (pid: number) => void;
  /** The data lie where a project has them of itself. */
  hasOwnData?: boolean;
  /** The build that it runs; the checkout's own when absent. */
  dist?: string | undefined;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const children = new Set<ChildProcess>();

/** Ends what still runs. */
export function killServers(): void {
  for (const child of children) child.kill('SIGKILL');
}

process.on('exit', killServers);

/** The environment without anything that configures a server. */
function cleanEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(TRELLIS|HELIX|OPENAI|AZURE_OPENAI|GEMINI|EMBEDDING)_/.test(name),
  );
  return { ...Object.fromEntries(inherited), ...extra };
}

function launch(
  argv: string[],
  env: Record<string, string> | undefined,
  cwd: string,
  dist?: string,
) {
  const main = mainOf(dist);
  if (!existsSync(main)) throw new Error(`${main} is missing: run \`npm run setup\``);
  const child = spawn(process.execPath, [main, ...argv], {
    cwd,
    env: cleanEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** The server ended instead of becoming ready. */
export class StartFailed extends Error {
  override readonly name = 'StartFailed';
  constructor(
    readonly exit: Exit,
    readonly output: string,
  ) {
    super(`the server ended with ${exit.code ?? exit.signal} before it was ready:\n${output}`);
  }
}

/** One running process of a project; `restart` keeps the data. */
export class Server {
  child!: ChildProcess;
  port = 0;
  readyLine = '';
  stdout = '';
  stderr = '';
  client!: Client;
  private exited!: Promise<Exit>;

  constructor(
    readonly folder: string,
    readonly options: Omit<StartOptions, 'sources'>,
  ) {}

  get data(): string {
    return join(this.folder, this.options.hasOwnData ? 'project/.trellis/data' : 'data');
  }
  get project(): string {
    return join(this.folder, 'project');
  }
  get pid(): number {
    return this.child.pid!;
  }

  async start(change: Omit<StartOptions, 'sources'> = {}): Promise<this> {
    const {
      workers = 1,
      args = [],
      env,
      readyMs = 60_000,
      command = 'serve',
      dist,
      within,
    } = {
      ...this.options,
      ...change,
    };
    const base = [command, this.project, '--data', this.data, '--port', '0'];
    const child = launch([...base, '--workers', String(workers), ...args], env, this.project, dist);
    this.child = child;
    within?.(child.pid!);
    this.stdout = '';
    this.stderr = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.exited = new Promise((resolve) =>
      child.once('close', (code, signal) => resolve({ code, signal })),
    );
    await this.ready(readyMs);
    this.client = new Client(this.port);
    return this;
  }

  private ready(readyMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.child.kill('SIGKILL');
        reject(new Error(`not ready within ${readyMs} ms:\n${this.stdout}${this.stderr}`));
      }, readyMs);
      this.child.stdout!.on('data', () => {
        const line = /^trellis ready https?:\/\/\S+:(\d+)$/m.exec(this.stdout);
        if (line === null) return;
        clearTimeout(timer);
        this.readyLine = line[0];
        this.port = Number(line[1]);
        resolve();
      });
      void this.exited.then((exit) => {
        clearTimeout(timer);
        reject(new StartFailed(exit, this.stdout + this.stderr));
      });
    });
  }

  /** Waits until the process has ended. */
  async exit(timeoutMs = 60_000): Promise<Exit> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`still running:\n${this.stderr}`)), timeoutMs);
    });
    return Promise.race([this.exited, late]).finally(() => clearTimeout(timer));
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    this.client?.close();
    this.child.kill(signal);
    try {
      return await this.exit();
    } catch (error) {
      this.child.kill('SIGKILL');
      throw error;
    }
  }

  async kill(): Promise<void> {
    this.client?.close();
    this.child.kill('SIGKILL');
    await this.exited;
  }

  async restart(change: Omit<StartOptions, 'sources'> = {}): Promise<this> {
    await this.stop();
    return this.start(change);
  }

  /** Ends the process the fast way and removes everything it wrote. */
  async dispose(): Promise<void> {
    if (this.child?.exitCode === null && this.child.signalCode === null) await this.kill();
    removeFolder(this.folder);
  }
}

export async function startServer(options: StartOptions): Promise<Server> {
  const folder = makeFolder();
  const project = join(folder, 'project');
  mkdirSync(project);
  writeProject(project, options);
  const server = new Server(folder, options);
  try {
    return await server.start();
  } catch (error) {
    removeFolder(folder);
    throw error;
  }
}

/** Runs the command line once to its end. */
export function runCli(
  argv: string[],
  options: {
    env?: Record<string, string>;
    cwd?: string;
    timeoutMs?: number;
    dist?: string | undefined;
  } = {},
): Promise<Exit & { stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = launch(argv, options.env, options.cwd ?? tmpdir(), options.dist);
    let stdout = '';
    let stderr = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? 60_000);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout, stderr });
    });
  });
}
