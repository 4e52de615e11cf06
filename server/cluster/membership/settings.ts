// What all nodes of a cluster know beside the data, and how it changes: one record in the data, which the leader
// replaces by an entry of the log. Invariant: changes that nodes ask for are made one after another, each of
// what the one before has left.
import { type ClusterNode, TrellisError, fail, isOfEarlierLog } from '../../../engine/internal.js';
import type { KeyChange, SharedKeys } from './shared-keys.js';
import { applyKeyChange } from './shared-keys.js';

export interface Settings {
  /** API keys; absent while no node had any. */
  keys?: SharedKeys;
  /** Names of nodes that have left for good. */
  left?: string[];
  /** Backups that the log is kept for, oldest first. */
  marks?: Mark[];
}

export interface Mark {
  /** `NODE/NAME`. */
  backup: string;
  /** It has all up to here, at least. */
  seq: number;
  /** Of what log that is said; older versions did not say it. */
  epoch?: number;
}

/** Of backups, so many of the newest hold the log. */
const marksMax = 2;

export const packSettings = (settings: Settings): Uint8Array =>
  Buffer.from(JSON.stringify(settings));

export function readSettings(node: Pick<ClusterNode, 'settings'>): Settings {
  const bytes = node.settings();
  return bytes === undefined ? {} : (JSON.parse(Buffer.from(bytes).toString()) as Settings);
}

/** The backups that this log is kept for: those of an earlier one of the same data need nothing of it. */
export function marksOf(node: Pick<ClusterNode, 'settings' | 'position'>): Mark[] {
  const { marks = [] } = readSettings(node);
  return marks.filter(({ epoch = 0 }) => !isOfEarlierLog(epoch, node.position.epoch));
}

export class ClusterSettings {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly node: () => ClusterNode | undefined) {}

  /** On the leader. Fails NOT_LEADER, and as writes do. */
  changeKeys(change: KeyChange): Promise<void> {
    return this.#change((settings) => {
      // A list without keys asks for one: it begins with the first that is made.
      if (settings.keys === undefined && change.set.length === 0) return settings;
      const before = settings.keys ?? { keys: [], revoked: [] };
      const keys = applyKeyChange(before, change);
      return keys === before ? settings : { ...settings, keys };
    });
  }

  /** That node is one no more. As `changeKeys`; fails NODE_LEADS. */
  leave(name: string): Promise<void> {
    return this.#change((settings, node) => {
      const left = settings.left ?? [];
      if (left.includes(name)) return settings;
      if (name === node.node) fail('NODE_LEADS', { node: name });
      return { ...settings, left: [...left, name] };
    });
  }

  /** That node is one again: it comes without data. As `changeKeys`. */
  rejoin(name: string): Promise<void> {
    return this.#change((settings) => {
      const left = (settings.left ?? []).filter((one) => one !== name);
      return left.length === (settings.left ?? []).length ? settings : { ...settings, left };
    });
  }

  /** The log is kept for that backup, and for the newest before it. As `changeKeys`; fails LOG_LOST. */
  mark(mark: Mark): Promise<void> {
    return this.#change((settings, node) => {
      if (isOfEarlierLog(mark.epoch ?? 0, node.position.epoch))
        fail('LOG_LOST', { what: 'that backup is of an earlier one' });
      const others = marksOf(node).filter(({ backup }) => backup !== mark.backup);
      return { ...settings, marks: [...others, mark].slice(-marksMax) };
    });
  }

  /** The log need not be kept for that backup. As `changeKeys`. */
  unmark(backup: string): Promise<void> {
    return this.#change((settings) => {
      const { marks: before = [] } = settings;
      const marks = before.filter((one) => one.backup !== backup);
      return marks.length === before.length ? settings : { ...settings, marks };
    });
  }

  #change(change: (settings: Settings, node: ClusterNode) => Settings): Promise<void> {
    const turn = this.#last.then(async () => {
      const node = this.node() ?? fail('FEATURE_DISABLED', { feature: 'A cluster' });
      // Read a single time: another thread may make this node the leader between two reads.
      const { refusal } = node;
      if (refusal !== undefined) throw new TrellisError(refusal);
      const settings = readSettings(node);
      const changed = change(settings, node);
      if (changed !== settings) await node.setSettings(packSettings(changed));
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
