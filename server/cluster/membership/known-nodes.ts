// Tracks the processes behind the node names of a cluster; runs on the leader. A process is refused if a live
// process has its name, or if its settings differ from the leader's. Invariant: a restarted process is never
// refused because of its earlier run.
import { randomUUID } from 'node:crypto';
import { type ClusterLeader, fail } from '../../../engine/internal.js';
import type { NodeClient } from '../node-client.js';
import { parseRemoteJson } from '../../http/remote-error.js';
import { type Alike, differenceOf } from './settings-fingerprint.js';

/** Identity that a node reports. */
export interface Self {
  node: string;
  /** Address at which other nodes reach it. */
  address: string;
  /** Random id of the process. */
  boot: string;
  alike: Alike;
}

const requestTimeoutMs = 2_000;

export class Roster {
  readonly boot = randomUUID();
  readonly #known = new Map<string, Pick<Self, 'address' | 'boot'>>();

  constructor(
    /** Shared settings of this node. */
    private readonly alike: Alike,
    private readonly calls: Pick<NodeClient, 'request'>,
  ) {}

  /** Returns the identity of this process under that name. */
  selfOf(node: string, address: string): Self {
    return { node, address, boot: this.boot, alike: this.alike };
  }

  /**
   * Checks that no other live process has the name. Runs on the leader, which is `leader`. Fails
   * NODE_NAME_TAKEN.
   */
  async checkName({ node, address, boot }: Self, leader: ClusterLeader): Promise<void> {
    if (node === leader.node && boot !== this.boot)
      fail('NODE_NAME_TAKEN', { node, address: leader.address });
    const known = this.#known.get(node);
    if (known !== undefined && known.boot !== boot && (await this.#isReachable(known)))
      fail('NODE_NAME_TAKEN', { node, address: known.address });
    this.#known.set(node, { address, boot });
  }

  /** Checks that the settings equal the leader's; runs on the leader. Fails NODE_DIFFERS. */
  checkAlike({ alike }: Self): void {
    const what = differenceOf(this.alike, alike);
    if (what !== undefined) fail('NODE_DIFFERS', { what });
  }

  /** Returns true if the same process answers at the address. */
  async #isReachable({ address, boot }: Pick<Self, 'address' | 'boot'>): Promise<boolean> {
    return (await this.bootAt(address)) === boot;
  }

  /** Returns the process id of the node that answers at the address, or undefined if none does. */
  async bootAt(address: string): Promise<string | undefined> {
    try {
      const { status, body } = await this.calls.request(
        address,
        '/_admin/cluster-self',
        {},
        requestTimeoutMs,
      );
      const answer = parseRemoteJson(status === 200, body) as { boot?: unknown } | null;
      return typeof answer?.boot === 'string' ? answer.boot : undefined;
    } catch {
      return undefined;
    }
  }
}
