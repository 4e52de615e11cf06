// Nodes of a cluster as real processes behind HTTP, over a log in the test's own process.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect } from 'vitest';
import { TcpLog } from '../../support/cluster/tcp-log.js';
import { makeFolder, writeProject } from '../../support/project.js';
import type { Client } from '../../support/server/http.js';
import { Server, runCli } from '../../support/server/server.js';

/** What is waited for comes late on a busy machine. */
export const patient = { timeout: 30_000 };

/** A program of one type, for tests that are about its nodes. */
export const people = {
  'main.hx': `N::P { name: String }
QUERY add(name: String) => p <- AddN<P>({name: name}) RETURN p::{name}
QUERY all() => p <- N<P> RETURN p::COUNT
`,
};

/** Settings of all nodes. */
export const secret = 'known to all nodes alone';

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

type Config = Record<string, string | number | boolean>;

/** Servers that a test has started and not closed yet. */
const open = new Set<Servers>();

// What a node has said of a test that failed is seldom to be had again.
afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return;
  for (const { nodes } of open)
    for (const [name, { stdout, stderr }] of nodes)
      console.error(`--- ${name} of "${task.name}"\n${stdout}${stderr}`);
});

export class Servers {
  readonly nodes = new Map<string, Server>();

  private constructor(
    readonly log: TcpLog,
    private readonly sources: Record<string, string>,
  ) {}

  static async over(sources: Record<string, string>): Promise<Servers> {
    const servers = new Servers(await TcpLog.start(), sources);
    open.add(servers);
    return servers;
  }

  /** A node of that name, which is not started. */
  async place(name: string, more: Config = {}, env: Record<string, string> = {}): Promise<Server> {
    const folder = makeFolder();
    mkdirSync(join(folder, 'project'));
    const port = await freePort();
    const secretFile = join(folder, 'secret');
    writeFileSync(secretFile, secret, { mode: 0o600 });
    // A project must not name its own driver, or credentials outside its folder.
    const {
      'cluster.log': log = this.log.urlOf(name),
      'cluster.token_file': token,
      ...others
    } = more;
    const whole = {
      TRELLIS_CLUSTER_LOG: String(log),
      ...(token !== undefined && { TRELLIS_CLUSTER_TOKEN_FILE: String(token) }),
      ...env,
    };
    const config = {
      'cluster.name': 'people',
      'cluster.node': name,
      'cluster.advertise_address': `127.0.0.1:${port}`,
      'cluster.lease': '500ms',
      'cluster.wait_timeout': '15s',
      'cluster.secret_file': secretFile,
      'limits.auth_failures': 1_000_000,
      'storage.min_free': 0,
      'storage.ballast': 0,
      'server.port': port,
      ...others,
    };
    writeProject(join(folder, 'project'), { sources: this.sources, config });
    const server = new Server(folder, {
      config,
      env: whole,
      args: ['--port', String(port)],
    });
    this.nodes.set(name, server);
    return server;
  }

  get(name: string): Server {
    return this.nodes.get(name)!;
  }

  async statusOf(name: string) {
    const reply = await this.get(name).client.request({ method: 'GET', path: 'readyz' });
    return JSON.parse(reply.text).cluster as {
      role: string;
      position: string;
      leader: { node: string };
      signed_by: string | null;
      fault?: { code: string };
    };
  }

  command(word: string, server: Server, ...more: string[]) {
    const { env = {} } = server.options;
    return runCli(['cluster', word, server.project, '--data', server.data, ...more], { env });
  }

  /** Makes the log by the data of one, and gives them to the other. */
  async found(first: string, second: string): Promise<void> {
    const { stdout, stderr } = await this.command('init', this.get(first));
    expect(stdout + stderr).toContain('created the log');
    cpSync(this.get(first).data, this.get(second).data, { recursive: true });
  }

  /** Starts one, which leads, and then the other. */
  async begin(first: string, second: string): Promise<void> {
    await this.get(first).start();
    await this.leads(first);
    await this.get(second).start();
    await this.takesRole(second, 'follower');
  }

  leads(name: string): Promise<void> {
    return this.takesRole(name, 'leader');
  }

  async takesRole(name: string, wanted: string): Promise<void> {
    for (const end = performance.now() + patient.timeout; ; await pause(20)) {
      const status = await this.statusOf(name);
      if (status?.role === wanted) return;
      if (performance.now() > end) throw new RangeError(`${name}: ${JSON.stringify(status)}`);
    }
  }

  /** A client sends one request after another; use another client for parallel requests. */
  async call(
    name: string,
    path: string,
    body: object | string,
    headers: object = {},
    { client }: { client: Client } = this.get(name),
  ) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const reply = await client.request({
      path,
      body: text,
      headers: headers as Record<string, string>,
    });
    const position = reply.headers.get('trellis-position');
    return { status: reply.status, body: JSON.parse(reply.text), position: String(position) };
  }

  async close(): Promise<void> {
    open.delete(this);
    for (const server of this.nodes.values()) await server.dispose();
    await this.log.close();
  }
}
