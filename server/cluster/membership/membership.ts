// Decides whether this node belongs to its cluster, and which part of the log it needs. It reports its
// position to the leader, so that the log is kept for it. It reads from the settings which backups need the
// log, and whether it has left. Invariant: a node that has left reports so at every start until its data
// directory is emptied, and takes no part until then.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ClusterNode,
  type ErrorData,
  TrellisError,
  errorMessage,
  fail,
  replaceFile,
} from '../../../engine/internal.js';
import type { Log } from '../../telemetry/log.js';
import type { NodeClient } from '../node-client.js';
import { sendToLeader } from './ask-leader.js';
import type { Roster } from './known-nodes.js';
import { marksOf, readSettings } from './settings.js';

export interface MembershipOptions {
  dataDir: string;
  calls: NodeClient;
  log: Log;
  roster: Roster;
  /** Address at which the other nodes reach this one. */
  address: string;
  /** Milliseconds for which the log is kept for absent nodes. */
  keepMs: number;
}

const pollIntervalMs = 500;
const claimMaxMs = 60_000;
/** Milliseconds until a refused node tries again. */
const againMs = 5_000;
/** Number of reports within `keepMs`. */
const claimsPerRetention = 16;

/** Returns the path of the file that holds the name of a node that has left. */
const leftIn = (dataDir: string): string => join(dataDir, 'LEFT');

/** Fails NODE_LEFT if the data belong to a node that has left under this name. */
export function checkMember(dataDir: string, node: string): void {
  const path = leftIn(dataDir);
  if (existsSync(path) && readFileSync(path, 'utf8').trim() === node) fail('NODE_LEFT', { node });
}

/** Removes the mark of a left node: the data belong to a member, or to no cluster. */
export function removeLeftFile(dataDir: string): void {
  if (existsSync(leftIn(dataDir))) rmSync(leftIn(dataDir));
}

export class Membership {
  #node: ClusterNode | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unhear = (): void => {};
  #isSending = false;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: MembershipOptions) {}

  /** Serves the database of this node from now on. */
  attach(node: ClusterNode): void {
    this.close();
    this.#node = node;
    let { leader: before } = node;
    this.#unhear = node.onChange(({ leader }) => {
      // A new leader may not know this node, or may have other settings.
      if (leader?.node !== before?.node) this.#sentAt = Number.NEGATIVE_INFINITY;
      before = leader;
      // Until this node has reported to the leader, another process may take its name.
      this.#claim(node);
    });
    this.#check();
    this.#timer = setInterval(() => this.#check(), pollIntervalMs).unref();
  }

  #check(): void {
    const node = this.#node!;
    if (node.role === 'lost') return;
    // The other nodes are compared with the leader, so the leader itself cannot differ.
    if (node.role === 'leader') this.#differ(undefined);
    try {
      const { left = [] } = readSettings(node);
      if (left.includes(node.node)) return this.leave();
      for (const name of left) node.claim(name, undefined);
      node.keepFrom(marksOf(node).map(({ seq }) => seq));
    } catch {
      // The database is closed or being opened again. The next poll reads the settings.
    }
    this.#claim(node);
  }

  /** Marks this node as left, as the settings of the cluster say. */
  leave(): void {
    const node = this.#node!;
    const { dataDir, log } = this.options;
    replaceFile(leftIn(dataDir), `${node.node}\n`);
    log('warn', 'this node has left the cluster and is read-only until it stops', {});
    node.leave().catch(() => undefined);
  }

  #claim(node: ClusterNode): void {
    const { calls, keepMs, roster, address } = this.options;
    const now = performance.now();
    const minIntervalMs = node.fault?.code === 'NODE_DIFFERS' ? againMs : claimMaxMs;
    const everyMs = Math.min(minIntervalMs, keepMs / claimsPerRetention);
    if (node.role !== 'follower' || this.#isSending || now - this.#sentAt < everyMs) return;
    this.#isSending = true;
    const claim = {
      ...roster.selfOf(node.node, address),
      seq: node.durable.seq,
      keys: node.keys,
    };
    sendToLeader({ node, calls }, 'cluster-claim', claim, () => Promise.resolve())
      .then(
        () => this.#differ(undefined),
        (error: unknown) => this.#refused(error),
      )
      .finally(() => {
        this.#isSending = false;
        this.#sentAt = performance.now();
      });
  }

  #refused(error: unknown): void {
    if (!(error instanceof TrellisError)) return;
    const { code, data } = error;
    if (code === 'NODE_LEFT') this.leave();
    // The cluster would treat two processes of one name as one. The other process was first.
    else if (code === 'NODE_NAME_TAKEN') this.#node!.fail(data);
    else if (code === 'NODE_DIFFERS') this.#differ(data);
  }

  /**
   * Sets or clears the error NODE_DIFFERS. The node still follows, and may lead if no other node does,
   * because a change of settings reaches one node after another.
   */
  #differ(error: ErrorData | undefined): void {
    const node = this.#node!;
    const { fault: before } = node;
    if (before !== undefined && before.code !== 'NODE_DIFFERS') return;
    if (before === error || (before && error && errorMessage(before) === errorMessage(error)))
      return;
    node.setFault(error);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#unhear();
  }
}
