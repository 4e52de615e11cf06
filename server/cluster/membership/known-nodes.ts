// Who is who among the nodes of a cluster, as its leader knows it: a process that comes under a name that another one
// has is refused while that one lives, and so is one whose settings are others than the leader's. Invariant: a
// process that was started again is never refused for what it was before.
import { randomUUID } from 'node:crypto';
import { type ClusterLeader, fail } from '../../../engine/internal.js';
import type { NodeClient } from '../node-client.js';
import { parseRemoteJson } from '../../http/remote-error.js';
import { type Alike, differenceOf } from './settings-fingerprint.js';

/** What a node says of itself. */
export interface Self {
  node: string;
  /** Where it is reached. */
  address: string;
  /** Of this process. */
  boot: string;
  alike: Alike;
}

const askMs = 2_000;

export class Roster {
  readonly boot = randomUUID();
  readonly #known = new Map<string, Pick<Self, 'address' | 'boot'>>();

  constructor(
    /** What the node has configured itself. */
    private readonly alike: Alike,
    private readonly calls: Pick<NodeClient, 'ask'>,
  ) {}

  /** Of this process, under that name. */
  selfOf(node: string, address: string): Self {
    return { node, address, boot: this.boot, alike: this.alike };
  }

  /** On the leader, which is `leader`: who comes under a name. Fails NODE_NAME_TAKEN. */
  async checkName({ node, address, boot }: Self, leader: ClusterLeader): Promise<void> {
    if (node === leader.node && boot !== this.boot)
      fail('NODE_NAME_TAKEN', { node, address: leader.address });
    const known = this.#known.get(node);
    if (known !== undefined && known.boot !== boot && (await this.#isThere(known)))
      fail('NODE_NAME_TAKEN', { node, address: known.address });
    this.#known.set(node, { address, boot });
  }

  /** On the leader. Fails NODE_DIFFERS. */
  checkAlike({ alike }: Self): void {
    const what = differenceOf(this.alike, alike);
    if (what !== undefined) fail('NODE_DIFFERS', { what });
  }

  /** Whether that very process answers. */
  async #isThere({ address, boot }: Pick<Self, 'address' | 'boot'>): Promise<boolean> {
    return (await this.bootAt(address)) === boot;
  }

  /** Of the process that answers there as a node; undefined: none does. */
  async bootAt(address: string): Promise<string | undefined> {
    try {
      const { status, body } = await this.calls.ask(address, '/_admin/cluster-self', {}, askMs);
      const told = parseRemoteJson(status === 200, body) as { boot?: unknown } | null;
      return typeof told?.boot === 'string' ? told.boot : undefined;
    } catch {
      return undefined;
    }
  }
}
