// Clusters in one process for tests: databases that share a log in the test's memory. The folder of each
// began as a copy of the first one's.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type EmbeddedDatabase, open } from '../../../engine/database/embedded.js';
import { completeOptions } from '../../../engine/database/embedded-options.js';
import { createCluster } from '../../../engine/database/create-cluster.js';
import { hashTables } from '../../../engine/database/replication/table-check.js';
import type { ClusterNode } from '../../../engine/cluster/node.js';
import { compile } from '../../../engine/lang/compile.js';
import { openEnv } from '../../../engine/storage/table/env.js';
import { TcpLog } from '../../support/cluster/tcp-log.js';

export interface TestNode {
  name: string;
  folder: string;
  db: EmbeddedDatabase;
  cluster: ClusterNode;
}

type OpenMore = Partial<Parameters<typeof open>[0]>;

/** Longer than any answer of the log takes here. */
const leaseMs = 600;

export class TestCluster {
  readonly root = mkdtempSync(join(tmpdir(), 'trellis-cluster-'));
  readonly nodes = new Map<string, TestNode>();
  /** For nodes whose data are on a separate disk. */
  readonly #places = new Map<string, string>();

  private constructor(
    readonly log: TcpLog,
    readonly sources: { path: string; text: string }[],
    private readonly more: OpenMore,
    private readonly settings: {
      keepBytes?: number;
      keepMs?: number;
      leaseMs?: number;
      appendTimeoutMs?: number;
    },
  ) {}

  /** Founded, with one folder per name; no node is open yet. */
  static async found(
    names: string[],
    source: string,
    more: OpenMore = {},
    settings = {},
  ): Promise<TestCluster> {
    const log = await TcpLog.start();
    const cluster = new TestCluster(log, [{ path: 'app.hx', text: source }], more, settings);
    const [first] = names;
    await cluster.makeLog(first!);
    for (const name of names.slice(1))
      cpSync(cluster.folderOf(first!), cluster.folderOf(name), { recursive: true });
    return cluster;
  }

  async makeLog(name: string): Promise<void> {
    const { sources } = this;
    const { program } = compile(sources, { compat: false });
    const complete = completeOptions(this.#optionsOf(name));
    await createCluster(
      { ...complete, cluster: complete.cluster!, program: program! },
      { compat: false, sources },
    );
  }

  folderOf(name: string): string {
    return this.#places.get(name) ?? join(this.root, name);
  }

  #optionsOf(name: string, more: OpenMore = {}): Parameters<typeof open>[0] {
    const { sources } = this;
    const cluster = {
      log: this.log.urlOf(name),
      node: name,
      advertise: `${name}:1`,
      leaseMs,
      appendTimeoutMs: 1000,
      ...this.settings,
    };
    const dataDir = this.folderOf(name);
    const merged = { ...this.more, ...more };
    return {
      dataDir,
      sources,
      minFreeBytes: 0,
      ...merged,
      cluster: { ...cluster, ...merged.cluster },
    };
  }

  async open(name: string, more: OpenMore = {}): Promise<TestNode> {
    const db = await open(this.#optionsOf(name, more));
    const node = { name, folder: this.folderOf(name), db, cluster: db.database.cluster! };
    this.nodes.set(name, node);
    return node;
  }

  /** Opens a node whose data are in that folder from now on. */
  move(name: string, folder: string, more: OpenMore = {}): Promise<TestNode> {
    cpSync(this.folderOf(name), folder, { recursive: true });
    this.#places.set(name, folder);
    return this.open(name, more);
  }

  /** The node that leads, once one does and takes writes. */
  async leader(except?: TestNode): Promise<TestNode> {
    const found = await this.until(() =>
      [...this.nodes.values()].find((node) => node !== except && node.cluster.role === 'leader'),
    );
    return found;
  }

  /** What `look` gives, once it gives something. */
  async until<T>(look: () => T | undefined | false, ms = 40_000): Promise<T> {
    for (const end = performance.now() + ms; ; await pause(5)) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      if (performance.now() > end) {
        const nodes = [...this.nodes.values()].map(
          ({ name, cluster: { role, position, fault } }) => ({
            name,
            role,
            position,
            fault,
          }),
        );
        throw new RangeError(`waited in vain: ${JSON.stringify(nodes)}, log ${this.log.last}`);
      }
    }
  }

  /** Another program, from a text of sources. */
  reload(node: TestNode, text: string): Promise<void> {
    const sources = [{ path: 'app.hx', text }];
    const { program, diagnostics } = compile(sources, { compat: false });
    if (program === undefined) throw new RangeError(JSON.stringify(diagnostics));
    return node.db.database.reload(program, { compat: false, sources });
  }

  /** Every node has what the leader has. */
  async settle(): Promise<void> {
    const leader = await this.leader();
    const { position } = leader.cluster;
    for (const { cluster } of this.nodes.values()) await cluster.waitFor(position, 40_000);
  }

  async stop(name: string): Promise<void> {
    const node = this.nodes.get(name);
    this.nodes.delete(name);
    await node?.db.close();
  }

  async close(): Promise<void> {
    for (const name of [...this.nodes.keys()]) await this.stop(name);
    await this.log.close();
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Reads the tables of a node that is not open or that is idle. */
  hashesOf(name: string): Record<string, string> {
    const env = openEnv(join(this.folderOf(name), 'graph'), { readOnly: true });
    const hashes = hashTables(env) as Record<string, string>;
    void env.close();
    return hashes;
  }
}
