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
import { type KeyFile, readFullKeyFile, rewriteKeyFile } from '../../auth/key-file.js';
import { withSharedKeys, changeIn, isSameFile } from './shared-keys.js';
import type { Log } from '../../telemetry/log.js';
import type { NodeClient } from '../node-client.js';
import { sendToLeader } from './ask-leader.js';
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
  #sending: Promise<void> | undefined;
  #sent = '';

  constructor(private readonly options: ClusterKeysOptions) {}

  /** Serves this database from now on. Its keys are valid when this returns. */
  attach({ cluster }: Database): void {
    this.close();
    if (cluster === undefined) return;
    this.#node = cluster;
    this.#check();
    this.#timer = setInterval(() => this.#check(), pollIntervalMs).unref();
  }

  #check(): void {
    try {
      const change = changeIn(this.#applyShared(this.#node!));
      if (change === undefined || this.#sending !== undefined) return;
      this.#sending = this.#send(this.#node!, change)
        .then(() => this.#note(''))
        .catch((error: unknown) => this.#note(reasonOf(error)))
        .finally(() => {
          this.#sending = undefined;
        });
    } catch (error) {
      this.#note(reasonOf(error));
    }
  }

  /** Updates the file from the log. Returns the new contents. */
  #applyShared(node: ClusterNode): KeyFile {
    const { path, log, onKeys } = this.options;
    const { keys: list } = readSettings(node);
    const file = readFullKeyFile(path);
    if (list === undefined && (file.shared !== undefined || !existsSync(path))) return file;
    const withShared = (source: KeyFile): KeyFile =>
      list === undefined ? { ...source, shared: [], gone: [] } : withSharedKeys(source, list);
    if (isSameFile(file, withShared(file))) return file;
    let stored: KeyFile = file;
    rewriteKeyFile(path, (current) => {
      stored = withShared(current);
      return stored;
    });
    const ids = new Set(stored.keys.map(({ id }) => id));
    const revoked = file.keys.map(({ id }) => id).filter((id) => !ids.has(id));
    log('info', 'key file updated from the cluster', { gone: revoked.join(' ') });
    onKeys();
    return stored;
  }

  async #send(node: ClusterNode, change: NonNullable<ReturnType<typeof changeIn>>): Promise<void> {
    const { settings, calls } = this.options;
    const locally = (): Promise<void> => settings.changeKeys(change);
    await sendToLeader({ node, calls }, 'cluster-keys', change, locally);
  }

  /** Logs one time why the other nodes lack the changes of this node. */
  #note(reason: string): void {
    if (reason !== '' && reason !== this.#sent)
      this.options.log('warn', 'key change not sent to the leader yet', { reason });
    this.#sent = reason;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#node = undefined;
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof TrellisError ? errorMessage(error.data) : String(error);
