// Real log servers for tests: processes of nats-server that sync what they acknowledge, a proxy on
// every way between them and to them. Invariant: none of them outlives the test run.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { jetstreamManager } from '@nats-io/jetstream';
import type { LogAddress } from '../../../engine/cluster/log/replicated-log.js';
import { makeFolder } from '../project.js';
import { Relay, type Wire } from './relay.js';

const binary = process.env.TRELLIS_NATS_SERVER ?? 'nats-server';

export interface ServerOptions {
  count?: number;
  /** Value of `sync_interval`; the default of the server when absent. */
  sync?: string | undefined;
  /** More lines of the configuration of each server. */
  extra?: string;
  /** Where each keeps its data. */
  folders?: string[];
}

/**
 * Returns a free port. Ports that the kernel assigns to connections are excluded, because one could be
 * taken before the server listens.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

export class NatsServers {
  readonly #processes: (ChildProcess | undefined)[] = [];
  /** By the server that connects and the one that is reached. */
  readonly #routes: Relay[][] = [];

  private constructor(
    readonly folder: string,
    readonly ports: number[],
    readonly monitors: number[],
    private readonly clusterPorts: number[],
    private readonly options: ServerOptions,
  ) {}

  static async start(options: ServerOptions = { sync: 'always' }): Promise<NatsServers> {
    const count = options.count ?? 3;
    const ports = async (): Promise<number[]> =>
      await Promise.all(Array.from({ length: count }, freePort));
    const all = [await ports(), await ports(), await ports()] as const;
    const servers = new NatsServers(makeFolder(), ...all, options);
    await servers.#configure(count);
    for (let i = 0; i < count; i++) servers.start(i);
    await servers.ready();
    return servers;
  }

  get count(): number {
    return this.ports.length;
  }

  async #configure(count: number): Promise<void> {
    const all = Array.from({ length: count }, (_, i) => i);
    for (const i of all) {
      this.#routes[i] = await Promise.all(all.map((k) => Relay.open(() => this.clusterPorts[k]!)));
      const data = this.options.folders?.[i] ?? join(this.folder, `n${i + 1}`);
      mkdirSync(data, { recursive: true });
      const routes = all.filter((k) => k !== i).map((k) => this.#routes[i]![k]!.port);
      const sync = this.options.sync === undefined ? '' : `sync_interval: ${this.options.sync}`;
      // Servers tell each other where they are; that way past the proxies must lead nowhere.
      const cluster = `cluster { name: lab, listen: 127.0.0.1:${this.clusterPorts[i]},
  advertise: "127.0.0.1:1", no_advertise: true, pool_size: -1,
  routes: [${routes.map((port) => `nats://127.0.0.1:${port}`).join(', ')}] }`;
      writeFileSync(
        join(this.folder, `n${i + 1}.conf`),
        `server_name: n${i + 1}
listen: 127.0.0.1:${this.ports[i]}
http: 127.0.0.1:${this.monitors[i]}
ping_interval: 2s
jetstream { store_dir: "${data}", max_mem: 256M, max_file: 1T, ${sync} }
${count > 1 ? cluster : ''}
${this.options.extra ?? ''}
`,
      );
    }
  }

  start(i: number): void {
    const log = openSync(join(this.folder, `n${i + 1}.log`), 'a');
    const child = spawn(binary, ['-c', join(this.folder, `n${i + 1}.conf`)], {
      stdio: ['ignore', log, log],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    this.#processes[i] = child;
  }

  /** Ends it, by default as a lost process does. */
  async kill(i: number, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#processes[i];
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    if (signal === 'SIGKILL') child.kill('SIGCONT');
    await ended;
  }

  pause(i: number): void {
    this.#processes[i]?.kill('SIGSTOP');
  }

  resume(i: number): void {
    this.#processes[i]?.kill('SIGCONT');
  }

  /** Both ways between two of them. */
  between(i: number, k: number, wire: Wire): void {
    this.#routes[i]![k]!.wire = wire;
    this.#routes[k]![i]!.wire = wire;
  }

  /** From one of them to all others, both ways. */
  isolate(i: number, wire: Wire): void {
    for (let k = 0; k < this.count; k++) if (k !== i) this.between(i, k, wire);
  }

  /** A proxy to each, for one client. */
  proxies(): Promise<Relay[]> {
    return Promise.all(this.ports.map((port) => Relay.open(() => port)));
  }

  /** Resolves when a majority can be asked for streams, and makes one that every server holds. */
  async ready(): Promise<void> {
    const end = performance.now() + 60_000;
    for (;;) {
      try {
        const connection = await connect({ servers: this.addresses(), timeout: 1_000 });
        try {
          const manager = await jetstreamManager(connection, { timeout: 2_000, checkAPI: false });
          await manager.getAccountInfo();
          const name = 'PROBE';
          await manager.streams.add({ name, subjects: ['probe'], num_replicas: this.count });
          await manager.streams.delete(name);
          return;
        } finally {
          await connection.close();
        }
      } catch (error) {
        // Servers that ask for credentials are up.
        if (/authorization|certificate|TLS/i.test(String(error))) return;
        if (performance.now() > end) throw error;
        await sleep(200);
      }
    }
  }

  addresses(ports: readonly number[] = this.ports): string[] {
    return ports.map((port) => `127.0.0.1:${port}`);
  }

  /** Address of a log on these servers. `ports`: ports of proxies. */
  place(name: string, ports: readonly number[] = this.ports, more = ''): LogAddress {
    const monitors = this.monitors.map((port) => `http://127.0.0.1:${port}`).join(',');
    const url = `nats://${this.addresses(ports).join(',')}?monitor=${monitors}${more}`;
    return { url, name, keepBytes: 1 << 30 };
  }

  async stop(): Promise<void> {
    await Promise.all(this.ports.map((_, i) => this.kill(i)));
    await Promise.all(this.#routes.flat().map((proxy) => proxy.close()));
  }
}
