// What a server does as a node of a cluster, beside its database: speaks to the other nodes, gives them copies, and
// fetches one itself where its own data cannot go on. Invariant: data that the log no longer reaches are
// served until whole others are there; those that differed from the leader's are kept as evidence.
import { join, resolve } from 'node:path';
import {
  type ClusterNode,
  type ClusterOptions,
  type Database,
  TrellisError,
  installNodeCopy,
} from '../../../engine/index.js';
import { NodeProof, readSecret } from '../../auth/node-proof.js';
import { clusterOptions } from '../../config/cluster-options.js';
import type { Config } from '../../config/config.js';
import type { Log } from '../../observe/log.js';
import { NodeCalls } from '../../request/node-call.js';
import { readMembers } from '../../house/placement.js';
import { CheckDesk } from './check-desk.js';
import { fetchCopy, joinEmpty } from './join.js';
import { Membership, checkMember, forgetLeft } from './membership.js';

/** Faults that a newer copy of the data mends. */
const mended: ReadonlySet<string> = new Set(['LOG_TRUNCATED', 'DIVERGED']);

export interface Wanted {
  onProgress: (progress: number) => void;
  isOver: () => boolean;
}

export class ClusterPart {
  readonly proof: NodeProof | undefined;
  readonly calls: NodeCalls;
  readonly checks: CheckDesk;
  /** Undefined: a process of its own. */
  readonly #options: ClusterOptions | undefined;
  readonly #membership: Membership;

  /** Fails CONFIG_INVALID. */
  constructor(
    private readonly config: Config,
    private readonly log: Log,
  ) {
    const { cluster, projectDir, tls } = config;
    this.#options = clusterOptions(config);
    const { secret_file: file } = cluster;
    this.proof = file === '' ? undefined : new NodeProof(readSecret(resolve(projectDir, file)));
    const ca = this.#options?.tls?.ca;
    this.calls = new NodeCalls({
      secure: tls.cert !== '',
      proof: this.proof,
      tenant: config.tenant,
      ...(ca !== undefined && { ca }),
    });
    const { dataDir } = config;
    const members = readMembers(cluster.members).map(({ node }) => node);
    this.checks = new CheckDesk({ calls: this.calls, log, members });
    this.#membership = new Membership({ dataDir, calls: this.calls, log, keepMs: cluster.keep });
  }

  /** Before the database is opened: fetches data where there are none. Fails NODE_LEFT. */
  async prepare(wanted: Wanted): Promise<void> {
    const { dataDir } = this.config;
    const cluster = this.#options;
    if (cluster === undefined) return forgetLeft(dataDir);
    checkMember(dataDir, cluster.node);
    await joinEmpty({ ...this.#joining(cluster), ...wanted });
  }

  /** This database is open, and one of the cluster's. */
  begin({ cluster: node }: Database): void {
    if (node === undefined) return;
    this.#membership.attach(node);
    this.checks.attach(node);
  }

  #joining(cluster: ClusterOptions) {
    const { calls, log } = this;
    return { cluster, dataDir: this.config.dataDir, calls, log };
  }

  /** Serves this database from now on; `onMended` is told when a copy may take its place. */
  attach(database: Database, wanted: Wanted, onMended: (keepAs: string | undefined) => void): void {
    const { cluster: node } = database;
    if (node === undefined) return;
    this.begin(database);
    let isBegun = false;
    const look = (): void => {
      const code = node.role === 'lost' ? node.fault?.code : undefined;
      if (isBegun || code === undefined || !mended.has(code)) return;
      isBegun = true;
      void this.#refetch(node, wanted).then((isThere) => {
        if (isThere) onMended(code === 'DIVERGED' ? this.#evidenceOf(node) : undefined);
      });
    };
    node.onChange(look);
    look();
  }

  async #refetch(node: ClusterNode, wanted: Wanted): Promise<boolean> {
    const cluster = { ...this.#options!, name: node.name };
    try {
      return await fetchCopy({ ...this.#joining(cluster), ...wanted }, undefined);
    } catch (error) {
      this.log('error', 'the data of another node cannot be fetched', { error });
      if (error instanceof TrellisError && error.code === 'NODE_LEFT') this.#membership.leave();
      return false;
    }
  }

  #evidenceOf({ position: { epoch, seq } }: ClusterNode): string {
    return join(this.config.dataDir, 'diverged', `${epoch}.${seq}`);
  }

  /** Puts what was fetched into the place of the data, which nobody has open. */
  async install(keepAs: string | undefined): Promise<void> {
    this.#membership.close();
    await installNodeCopy(this.config.dataDir, keepAs);
  }

  close(): void {
    this.#membership.close();
    this.checks.close();
    this.calls.close();
  }
}
