// What all nodes of a cluster know beside the data, and how it changes: one record in the data, which the leader
// replaces by an entry of the log. Invariant: changes that nodes ask for are made one after another, each of
// what the one before has left.
import { type ClusterNode, TrellisError, fail } from '../../engine/index.js';
import type { KeyChange, SharedKeys } from '../auth/shared-keys.js';
import { applyKeyChange } from '../auth/shared-keys.js';

export interface Settings {
  /** API keys; absent while no node had any. */
  keys?: SharedKeys;
}

export const packSettings = (settings: Settings): Uint8Array =>
  Buffer.from(JSON.stringify(settings));

export function readSettings(node: Pick<ClusterNode, 'settings'>): Settings {
  const bytes = node.settings();
  return bytes === undefined ? {} : (JSON.parse(Buffer.from(bytes).toString()) as Settings);
}

export class ClusterSettings {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly node: () => ClusterNode | undefined) {}

  /** On the leader. Fails NOT_LEADER, and as writes do. */
  changeKeys(change: KeyChange): Promise<void> {
    const turn = this.#last.then(() => this.#changeKeys(change));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #changeKeys(change: KeyChange): Promise<void> {
    const node = this.node() ?? fail('FEATURE_DISABLED', { feature: 'A cluster' });
    if (node.refusal !== undefined) throw new TrellisError(node.refusal);
    const settings = readSettings(node);
    // A list without keys asks for one: it begins with the first that is made.
    if (settings.keys === undefined && change.set.length === 0) return;
    const before = settings.keys ?? { keys: [], revoked: [] };
    const keys = applyKeyChange(before, change);
    if (keys !== before) await node.setSettings(packSettings({ ...settings, keys }));
  }
}
