// Whether this node is one of its cluster, and what of the log it needs. It tells the leader how far it is, so that
// the log is kept for it; it hears which backups the log is kept for, and that it has left. Invariant: a node that
// has left says so at every start until its data directory was emptied, and takes no part before.
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
import { askLeader } from './ask-leader.js';
import type { Roster } from './known-nodes.js';
import { marksOf, readSettings } from './settings.js';

export interface MembershipOptions {
  dataDir: string;
  calls: NodeClient;
  log: Log;
  roster: Roster;
  /** Where the other nodes reach this one. */
  address: string;
  /** So long the log is kept for nodes that are away. */
  keepMs: number;
}

const pollIntervalMs = 500;
const claimMaxMs = 60_000;
/** Who was refused asks again. */
const againMs = 5_000;
/** Told so often in the time that it counts. */
const claimsPerKeep = 16;

/** In the data directory of a node that has left: its name. */
const leftIn = (dataDir: string): string => join(dataDir, 'LEFT');

/** Fails NODE_LEFT where the data are those of a node that has left under this name. */
export function checkMember(dataDir: string, node: string): void {
  const path = leftIn(dataDir);
  if (existsSync(path) && readFileSync(path, 'utf8').trim() === node) fail('NODE_LEFT', { node });
}

/** These data are those of a member, or of nobody's cluster. */
export function forgetLeft(dataDir: string): void {
  if (existsSync(leftIn(dataDir))) rmSync(leftIn(dataDir));
}

export class Membership {
  #node: ClusterNode | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unhear = (): void => {};
  #isTelling = false;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: MembershipOptions) {}

  /** Serves the database of this node from now on. */
  attach(node: ClusterNode): void {
    this.close();
    this.#node = node;
    let { leader: before } = node;
    this.#unhear = node.onChange(({ leader }) => {
      // Another one may not know of it, or may have other settings.
      if (leader?.node !== before?.node) this.#toldAt = Number.NEGATIVE_INFINITY;
      before = leader;
      // Until the leader has heard of this node, another process may come under its name.
      this.#claim(node);
    });
    this.#look();
    this.#timer = setInterval(() => this.#look(), pollIntervalMs).unref();
  }

  #look(): void {
    const node = this.#node!;
    if (node.role === 'lost') return;
    // Who leads is what the others are compared with.
    if (node.role === 'leader') this.#differ(undefined);
    try {
      const { left = [] } = readSettings(node);
      if (left.includes(node.node)) return this.leave();
      for (const name of left) node.claim(name, undefined);
      node.keepFrom(marksOf(node).map(({ seq }) => seq));
    } catch {
      // The data are closed, or opened again: they are looked at later.
    }
    this.#claim(node);
  }

  /** This node has left, as others have told. */
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
    const leastMs = node.fault?.code === 'NODE_DIFFERS' ? againMs : claimMaxMs;
    const everyMs = Math.min(leastMs, keepMs / claimsPerKeep);
    if (node.role !== 'follower' || this.#isTelling || now - this.#toldAt < everyMs) return;
    this.#isTelling = true;
    const claim = {
      ...roster.selfOf(node.node, address),
      seq: node.durable.seq,
      keys: node.keys,
    };
    askLeader({ node, calls }, 'cluster-claim', claim, () => Promise.resolve())
      .then(
        () => this.#differ(undefined),
        (error: unknown) => this.#refused(error),
      )
      .finally(() => {
        this.#isTelling = false;
        this.#toldAt = performance.now();
      });
  }

  #refused(error: unknown): void {
    if (!(error instanceof TrellisError)) return;
    const { code, data } = error;
    if (code === 'NODE_LEFT') this.leave();
    // Two of one name would be taken for one; this process is not the first.
    else if (code === 'NODE_NAME_TAKEN') this.#node!.fail(data);
    else if (code === 'NODE_DIFFERS') this.#differ(data);
  }

  /**
   * It follows all the same, and may lead when nobody else does: a change of settings comes to one node after
   * another.
   */
  #differ(fault: ErrorData | undefined): void {
    const node = this.#node!;
    const { fault: before } = node;
    if (before !== undefined && before.code !== 'NODE_DIFFERS') return;
    if (before === fault || (before && fault && errorMessage(before) === errorMessage(fault)))
      return;
    node.setFault(fault);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#unhear();
  }
}
