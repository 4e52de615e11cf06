// The settings that all nodes of a cluster share apart from the data, and their changes. They are one record
// in the data, which the leader replaces by an entry of the log. Invariant: requested changes run one after
// another, and each builds on the result of the one before.
import { type ClusterNode, TrellisError, fail, isOfEarlierLog } from '../../../engine/internal.js';
import type { KeyChange, SharedKeys } from './shared-keys.js';
import { applyKeyChange } from './shared-keys.js';

export interface Settings {
  /** API keys. Absent while no node has had any. */
  keys?: SharedKeys;
  /** Names of nodes that have left permanently. */
  left?: string[];
  /** Backups that the log is kept for, oldest first. */
  marks?: Mark[];
}

export interface Mark {
  /** `NODE/NAME`. */
  backup: string;
  /** The backup holds at least all entries up to this sequence number. */
  seq: number;
  /** Epoch of the log that `seq` belongs to. Older versions did not store it. */
  epoch?: number;
}

/** The log is kept for this many of the newest backups. */
const marksMax = 2;

export const packSettings = (settings: Settings): Uint8Array =>
  Buffer.from(JSON.stringify(settings));

export function readSettings(node: Pick<ClusterNode, 'settings'>): Settings {
  const bytes = node.settings();
  return bytes === undefined ? {} : (JSON.parse(Buffer.from(bytes).toString()) as Settings);
}

/**
 * Returns the backups that this log is kept for. Backups of an earlier log of the same data need nothing of
 * it.
 */
export function marksOf(node: Pick<ClusterNode, 'settings' | 'position'>): Mark[] {
  const { marks = [] } = readSettings(node);
  return marks.filter(({ epoch = 0 }) => !isOfEarlierLog(epoch, node.position.epoch));
}

export class ClusterSettings {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly node: () => ClusterNode | undefined) {}

  /** Changes the API keys; runs on the leader. Fails NOT_LEADER, or with the error of a write. */
  changeKeys(change: KeyChange): Promise<void> {
    return this.#change((settings) => {
      // An empty cluster list stays absent until the first key is created.
      if (settings.keys === undefined && change.set.length === 0) return settings;
      const before = settings.keys ?? { keys: [], revoked: [] };
      const keys = applyKeyChange(before, change);
      return keys === before ? settings : { ...settings, keys };
    });
  }

  /** Records that the node has left. Fails NODE_LEADS, or like `changeKeys`. */
  leave(name: string): Promise<void> {
    return this.#change((settings, node) => {
      const left = settings.left ?? [];
      if (left.includes(name)) return settings;
      if (name === node.node) fail('NODE_LEADS', { node: name });
      return { ...settings, left: [...left, name] };
    });
  }

  /**
   * Records that the node is a member again, after it joined without data. Fails like `changeKeys`.
   */
  rejoin(name: string): Promise<void> {
    return this.#change((settings) => {
      const left = (settings.left ?? []).filter((one) => one !== name);
      return left.length === (settings.left ?? []).length ? settings : { ...settings, left };
    });
  }

  /**
   * Keeps the log for that backup, and for the newest one before it. Fails LOG_LOST, or like `changeKeys`.
   */
  mark(mark: Mark): Promise<void> {
    return this.#change((settings, node) => {
      if (isOfEarlierLog(mark.epoch ?? 0, node.position.epoch))
        fail('LOG_LOST', { what: 'that backup is of an earlier one' });
      const others = marksOf(node).filter(({ backup }) => backup !== mark.backup);
      return { ...settings, marks: [...others, mark].slice(-marksMax) };
    });
  }

  /** Stops keeping the log for that backup. Fails like `changeKeys`. */
  unmark(backup: string): Promise<void> {
    return this.#change((settings) => {
      const { marks: before = [] } = settings;
      const marks = before.filter((one) => one.backup !== backup);
      return marks.length === before.length ? settings : { ...settings, marks };
    });
  }

  #change(change: (settings: Settings, node: ClusterNode) => Settings): Promise<void> {
    const result = this.#last.then(async () => {
      const node = this.node() ?? fail('FEATURE_DISABLED', { feature: 'A cluster' });
      // Read a single time, because another thread may make this node the leader between two reads.
      const { refusal } = node;
      if (refusal !== undefined) throw new TrellisError(refusal);
      const settings = readSettings(node);
      const changed = change(settings, node);
      if (changed !== settings) await node.setSettings(packSettings(changed));
    });
    this.#last = result.catch(() => undefined);
    return result;
  }
}
