// Whether this node is one of its cluster, and what of the log it needs. It tells the leader how far it is, so that
// the log is kept for it; it hears which backups the log is kept for, and that it has left. Invariant: a node that
// has left says so at every start until its data directory was emptied, and takes no part before.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ClusterNode, TrellisError, fail, replaceFile } from '../../../engine/index.js';
import type { Log } from '../../observe/log.js';
import type { NodeCalls } from '../../request/node-call.js';
import { askLeader } from './ask-leader.js';
import { marksOf, readSettings } from './settings.js';

export interface MembershipOptions {
  dataDir: string;
  calls: NodeCalls;
  log: Log;
  /** So long the log is kept for nodes that are away. */
  keepMs: number;
}

const lookMs = 500;
const claimMaxMs = 60_000;
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
  #isTelling = false;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: MembershipOptions) {}

  /** Serves the database of this node from now on. */
  attach(node: ClusterNode): void {
    this.close();
    this.#node = node;
    this.#look();
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
  }

  #look(): void {
    const node = this.#node!;
    if (node.role === 'lost') return;
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
    log('warn', 'this node has left the cluster: it only reads, until it is stopped', {});
    node.leave().catch(() => undefined);
  }

  #claim(node: ClusterNode): void {
    const { calls, keepMs } = this.options;
    const now = performance.now();
    const everyMs = Math.min(claimMaxMs, keepMs / claimsPerKeep);
    if (node.role !== 'follower' || this.#isTelling || now - this.#toldAt < everyMs) return;
    this.#isTelling = true;
    const claim = { node: node.node, seq: node.durable.seq, keys: node.keys };
    askLeader({ node, calls }, 'cluster-claim', claim, () => Promise.resolve())
      .catch((error: unknown) => {
        if (error instanceof TrellisError && error.code === 'NODE_LEFT') this.leave();
      })
      .finally(() => {
        this.#isTelling = false;
        this.#toldAt = performance.now();
      });
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
