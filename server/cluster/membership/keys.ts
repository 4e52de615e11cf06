// Keeps the key file of a node and the keys of its cluster equal. Changes to the file go to the leader, and
// changes from the log go into the file. Invariant: a key that is revoked here is refused here immediately,
// even if the leader cannot be reached. Unsent changes are sent again.
import { existsSync } from 'node:fs';
import {
  type ClusterNode,
  type Database,
  TrellisError,
  errorMessage,
} from '../../../engine/internal.js';
import { type KeyFile, readWholeKeyFile, rewriteKeyFile } from '../../auth/key-file.js';
import { adoptShared, changeIn, isSameFile } from './shared-keys.js';
import type { Log } from '../../telemetry/log.js';
import type { NodeClient } from '../node-client.js';
import { askLeader } from './ask-leader.js';
import { type ClusterSettings, readSettings } from './settings.js';

export interface ClusterKeysOptions {
  path: string;
  settings: ClusterSettings;
  calls: NodeClient;
  log: Log;
  /** Called when the file has changed. */
  onKeys: () => void;
}

const pollIntervalMs = 500;

export class ClusterKeys {
  #node: ClusterNode | undefined;
  #timer: NodeJS.Timeout | undefined;
  #telling: Promise<void> | undefined;
  #told = '';

  constructor(private readonly options: ClusterKeysOptions) {}

  /** Serves this database from now on. Its keys are valid when this returns. */
  attach({ cluster }: Database): void {
    this.close();
    if (cluster === undefined) return;
    this.#node = cluster;
    this.#look();
    this.#timer = setInterval(() => this.#look(), pollIntervalMs).unref();
  }

  #look(): void {
    try {
      const change = changeIn(this.#adopt(this.#node!));
      if (change === undefined || this.#telling !== undefined) return;
      this.#telling = this.#tell(this.#node!, change)
        .then(() => this.#note(''))
        .catch((error: unknown) => this.#note(reasonOf(error)))
        .finally(() => {
          this.#telling = undefined;
        });
    } catch (error) {
      this.#note(reasonOf(error));
    }
  }

  /** Updates the file from the log. Returns the new contents. */
  #adopt(node: ClusterNode): KeyFile {
    const { path, log, onKeys } = this.options;
    const { keys: list } = readSettings(node);
    const file = readWholeKeyFile(path);
    if (list === undefined && (file.shared !== undefined || !existsSync(path))) return file;
    const adopted = (given: KeyFile): KeyFile =>
      list === undefined ? { ...given, shared: [], gone: [] } : adoptShared(given, list);
    if (isSameFile(file, adopted(file))) return file;
    let kept: KeyFile = file;
    rewriteKeyFile(path, (given) => {
      kept = adopted(given);
      return kept;
    });
    const ids = new Set(kept.keys.map(({ id }) => id));
    const gone = file.keys.map(({ id }) => id).filter((id) => !ids.has(id));
    log('info', 'key file updated from the cluster', { gone: gone.join(' ') });
    onKeys();
    return kept;
  }

  async #tell(node: ClusterNode, change: NonNullable<ReturnType<typeof changeIn>>): Promise<void> {
    const { settings, calls } = this.options;
    const here = (): Promise<void> => settings.changeKeys(change);
    await askLeader({ node, calls }, 'cluster-keys', change, here);
  }

  /** Logs one time why the other nodes lack the changes of this node. */
  #note(reason: string): void {
    if (reason !== '' && reason !== this.#told)
      this.options.log('warn', 'key change not sent to the leader yet', { reason });
    this.#told = reason;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#node = undefined;
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof TrellisError ? errorMessage(error.data) : String(error);
