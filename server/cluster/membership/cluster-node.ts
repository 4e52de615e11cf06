// Runs the cluster tasks of a server next to its database. It calls the other nodes and gives them copies of
// the data. It fetches a copy if its own data cannot follow the log. Invariant: data that the log no longer
// reaches are served until a complete copy has arrived. Data that differed from the leader's are kept as
// evidence.
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  type ClusterNode,
  type ClusterOptions,
  type Database,
  TrellisError,
  installNodeCopy,
} from '../../../engine/internal.js';
import { NodeProof, type NodeSelf } from '../node-auth.js';
import { clusterOptions, secretsIn } from '../../config/cluster-options.js';
import type { Config } from '../../config/config.js';
import type { Log } from '../../telemetry/log.js';
import { NodeClient } from '../node-client.js';
import { readMembers } from '../placement.js';
import { alikeOf } from './settings-fingerprint.js';
import { ConsistencyChecks } from './consistency-check.js';
import { fetchCopy, joinEmpty } from './join.js';
import { Roster } from './known-nodes.js';
import { Membership, checkMember, removeLeftFile } from './membership.js';

/** Errors that a newer copy of the data repairs. */
const mended: ReadonlySet<string> = new Set(['LOG_TRUNCATED', 'DIVERGED']);

const warnIntervalMs = 60_000;

/**
 * Returns the name and addresses of this node: the advertised one, and those in `cluster.members`.
 */
function selfOf({ cluster, server }: Config): NodeSelf {
  const node = cluster.node || hostname();
  const own = cluster.advertise_address || `${server.host}:${server.port}`;
  const members = readMembers(cluster.members).filter((one) => one.node === node);
  return { node, addresses: [own, ...members.map(({ address }) => address)] };
}

export interface Wanted {
  onProgress: (progress: number) => void;
  isOver: () => boolean;
}

export class ClusterNodeService {
  readonly proof: NodeProof | undefined;
  readonly calls: NodeClient;
  readonly checks: ConsistencyChecks;
  readonly roster: Roster;
  /** Undefined outside a cluster. */
  readonly #options: ClusterOptions | undefined;
  readonly #membership: Membership;
  #node: ClusterNode | undefined;
  readonly #warnedAt = new Map<string, number>();

  /** Fails CONFIG_INVALID. */
  constructor(
    private readonly config: Config,
    private readonly log: Log,
  ) {
    const { cluster, tls, limits } = config;
    this.#options = clusterOptions(config);
    const secrets = secretsIn(config);
    if (cluster.log.startsWith('s3:') && config.tenant === '')
      log('warn', 'a log in an S3 bucket is experimental: keep backups', {});
    // Nodes of older versions are allowed only while the log is not signed. A node without data asks none of
    // them.
    const isStrict = (): boolean => this.#node === undefined || this.#node.signedBy !== undefined;
    this.proof = secrets && new NodeProof(secrets, selfOf(config), isStrict);
    const named = this.#options?.tls?.ca;
    const ca = named === 'system' ? undefined : named;
    this.calls = new NodeClient({
      secure: tls.cert !== '',
      proof: this.proof,
      tenant: config.tenant,
      answerMax: limits.result_bytes,
      onlyLocal: this.#options !== undefined && secrets === undefined,
      onUnproved: (address, why) => this.#warnUnproved(address, why),
      ...(ca !== undefined && { ca }),
    });
    const { dataDir } = config;
    const members = readMembers(cluster.members).map(({ node }) => node);
    this.checks = new ConsistencyChecks({ calls: this.calls, log, members });
    const { calls } = this;
    this.roster = new Roster(alikeOf(config), calls);
    this.#membership = new Membership({
      ...{ dataDir, calls, log, keepMs: cluster.log_retention },
      roster: this.roster,
      address: this.#options?.advertise ?? '',
    });
  }

  /** Logs an untrusted address, at most once a minute each, because it is tried repeatedly. */
  #warnUnproved(address: string, reason: string): void {
    const now = performance.now();
    if (now - (this.#warnedAt.get(address) ?? Number.NEGATIVE_INFINITY) < warnIntervalMs) return;
    this.#warnedAt.set(address, now);
    this.log('error', 'cluster address not trusted: nothing is sent to it', { address, reason });
  }

  /**
   * Fetches the data of another node if there are none, before the database is opened. Fails NODE_LEFT.
   */
  async prepare(wanted: Wanted): Promise<void> {
    const { dataDir } = this.config;
    const cluster = this.#options;
    if (cluster === undefined) return removeLeftFile(dataDir);
    checkMember(dataDir, cluster.node);
    await joinEmpty({ ...this.#joining(cluster), ...wanted });
  }

  /** Starts the cluster tasks for an open database of the cluster. */
  begin({ cluster: node }: Database): void {
    this.#node = node;
    if (node === undefined) return;
    this.#membership.attach(node);
    this.checks.attach(node);
  }

  #joining(cluster: ClusterOptions) {
    const { calls, log, roster } = this;
    return { cluster, dataDir: this.config.dataDir, calls, log, roster };
  }

  /**
   * Serves this database from now on. `onMended` is called when a fetched copy can replace the data.
   */
  attach(database: Database, wanted: Wanted, onMended: (keepAs: string | undefined) => void): void {
    const { cluster: node } = database;
    if (node === undefined) return;
    this.begin(database);
    let isBegun = false;
    const check = (): void => {
      const code = node.role === 'lost' ? node.fault?.code : undefined;
      if (isBegun || code === undefined || !mended.has(code)) return;
      isBegun = true;
      void this.#refetch(node, wanted).then((isFetched) => {
        if (isFetched) onMended(code === 'DIVERGED' ? this.#evidenceOf(node) : undefined);
      });
    };
    node.onChange(check);
    check();
  }

  async #refetch(node: ClusterNode, wanted: Wanted): Promise<boolean> {
    const cluster = { ...this.#options!, name: node.name };
    try {
      return await fetchCopy({ ...this.#joining(cluster), ...wanted }, undefined);
    } catch (error) {
      this.log('error', 'cannot fetch the data of another node', { error });
      if (error instanceof TrellisError && error.code === 'NODE_LEFT') this.#membership.leave();
      return false;
    }
  }

  #evidenceOf({ position: { epoch, seq } }: ClusterNode): string {
    return join(this.config.dataDir, 'diverged', `${epoch}.${seq}`);
  }

  /** Replaces the data with the fetched copy. The database must be closed. */
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
