// Creates a cluster from the data of one node. This is the only code that creates a log.
// Invariant: the log is created for data that already hold the program and everything that the first entry
// describes. A second try after a crash continues where the first one ended, and never creates another log.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { wallMs } from '../base/clock.js';
import { type ErrorCode, TrellisError, fail } from '../base/errors.js';
import { type Position, logStart } from '../cluster/entry/chain.js';
import { readHead } from '../cluster/entry/head.js';
import { EntryKeys, checkWriter } from '../cluster/entry/entry-keys.js';
import { entryKind } from '../cluster/entry/kind.js';
import { encodeEntry } from '../cluster/entry/encode-entry.js';
import {
  firstEpoch,
  isOf,
  knownPosition,
  packPosition,
  readPosition,
} from '../cluster/ipc/position.js';
import { ClusterMetrics } from '../cluster/ipc/cluster-metrics.js';
import { driverOf } from '../cluster/log/drivers.js';
import { logAddressOf } from '../cluster/log/log-address.js';
import type { LogAddress, ReplicatedLog } from '../cluster/log/replicated-log.js';
import type { ClusterPosition } from '../cluster/node.js';
import type { ClusterOptions, SourceArchive } from '../cluster/options.js';
import { appendEntry } from '../cluster/role/appender.js';
import { type DataDirectory, openDataDirectory } from '../storage/folder/manifest.js';
import { type Env, openEnv } from '../storage/table/env.js';
import { metaKey } from '../storage/table/meta.js';
import type { DatabaseOptions } from './call/options.js';
import { openDatabase } from './database-impl.js';
import { packSources } from './replication/source-archive.js';
import { hashTables } from './replication/table-check.js';

const foundingMs = 60_000;
/** Milliseconds to wait for a log whose servers have just started and first elect a leader. */
const electionMs = 30_000;
const againMs = 500;

export interface FoundingOptions {
  /** Accept a log that may lose acknowledged entries. */
  allowLazy?: boolean;
  /** The old log is lost, and a new one replaces it. */
  again?: boolean;
  /** Initial settings of the cluster. */
  settings?: Uint8Array | undefined;
  /** Called once, after about two seconds, with the reason why the log does not respond. */
  onWait?: (what: string) => void;
}

/** Milliseconds after which `onWait` reports what the call waits for. */
const soonMs = 2_000;

/**
 * Runs before the data are opened, because opening them alone detaches them from their cluster. Data restored
 * from a backup belong to no cluster. Fails CONFIG_INVALID.
 */
async function checkIsOfNone(dataDir: string): Promise<void> {
  if (!existsSync(join(dataDir, 'graph', 'data.mdb'))) return;
  const directory = openDataDirectory(dataDir);
  const env = openEnv(join(dataDir, 'graph'));
  try {
    const stored = env.meta.get(metaKey.position);
    if (stored !== undefined && isOf(stored, directory.restoreEpoch))
      fail('CONFIG_INVALID', { what: 'These data are part of a cluster already.' });
  } finally {
    await env.close();
    directory.close({ clean: directory.wasClean });
  }
}

/**
 * Returns the position up to which the data of a directory have followed a log, or undefined when they never
 * followed one.
 */
export async function followedTo(dataDir: string): Promise<ClusterPosition | undefined> {
  if (!existsSync(join(dataDir, 'graph', 'data.mdb'))) return undefined;
  const env = openEnv(join(dataDir, 'graph'), { readOnly: true });
  try {
    const stored = env.meta.get(metaKey.position);
    return stored && knownPosition(stored);
  } finally {
    await env.close();
  }
}

/**
 * Runs before the data are opened, because opening them alone detaches them from a log that may still exist.
 * Fails CONFIG_INVALID, LOG_UNAVAILABLE.
 */
async function checkIsLost(cluster: ClusterOptions, dataDir: string): Promise<void> {
  const directory = openDataDirectory(dataDir);
  const env = openEnv(join(dataDir, 'graph'), { readOnly: true });
  const stored = env.meta.get(metaKey.position);
  await env.close();
  directory.close({ clean: directory.wasClean });
  if (stored === undefined || !isOf(stored, directory.restoreEpoch)) return;
  const address = logAddressOf(cluster, directory.dbUuid);
  const driver = await driverOf(address.url);
  if (!(await patiently(() => driver.look(address))).exists) return;
  const log = await patiently(() => driver.open(address));
  const late = setTimeout(() => void log.close(), foundingMs);
  try {
    if (await holdsEntry(log, readPosition(stored, directory.restoreEpoch)))
      fail('CONFIG_INVALID', { what: 'The log of these data is there, and they are of it.' });
  } finally {
    clearTimeout(late);
    await log.close();
  }
}

/** Returns true if the log has, or had, the entry at the position of the data. */
async function holdsEntry(log: ReplicatedLog, { seq, chain }: Position): Promise<boolean> {
  if ((await log.last()) < seq) return false;
  try {
    for await (const message of log.read(seq, () => {}))
      return readHead(message.bytes, seq).chain === chain;
    return fail('LOG_UNAVAILABLE', { what: 'it does not answer' });
  } catch (error) {
    if (isCode(error, 'LOG_TRUNCATED')) return true;
    if (isCode(error, 'LOG_LOST')) return false;
    throw error;
  }
}

/**
 * Applies the program of `archive` to the data and creates their log. Fails CONFIG_INVALID when the log
 * already exists, LOG_UNSAFE, LOG_UNAVAILABLE.
 */
export async function createCluster(
  options: DatabaseOptions & { cluster: ClusterOptions },
  archive: SourceArchive,
  { allowLazy = false, again = false, settings, onWait }: FoundingOptions = {},
): Promise<ClusterPosition> {
  const { cluster, ...single } = options;
  if (again) await checkIsLost(cluster, options.dataDir);
  else await checkIsOfNone(options.dataDir);
  const sources = packSources(archive, options.vectors);
  await probeLog(cluster, onWait);
  const database = await openDatabase(single);
  await database.close();
  const directory = openDataDirectory(options.dataDir);
  const env = openEnv(join(options.dataDir, 'graph'));
  let isComplete = false;
  try {
    env.transact(() => {
      env.meta.put(metaKey.sources, sources);
      // After a lost log, the current settings stay. Settings from a backup may be out of date.
      if (settings !== undefined) env.meta.put(metaKey.settings, settings);
      else if (!again) env.meta.remove(metaKey.settings);
      return true;
    });
    const address = logAddressOf(cluster, directory.dbUuid);
    const keys = EntryKeys.of(cluster.secrets, address.name);
    const position = await begin({ ...address, allowLazy }, env, directory, keys);
    isComplete = true;
    return position;
  } finally {
    await env.close();
    directory.close({ clean: isComplete });
  }
}

const isCode = (error: unknown, code: ErrorCode): boolean =>
  error instanceof TrellisError && error.code === code;

/** Repeats the request while the log does not respond. */
async function patiently<T>(
  attempt: () => Promise<T>,
  onWait?: (what: string) => void,
): Promise<T> {
  let what = 'no answer';
  const soon = setTimeout(() => onWait?.(what), soonMs);
  try {
    for (const end = performance.now() + electionMs; ; ) {
      try {
        return await attempt();
      } catch (error) {
        if (!isCode(error, 'LOG_UNAVAILABLE') || performance.now() > end) throw error;
        what = String((error as TrellisError).data.args.what);
        await pause(againMs);
      }
    }
  } finally {
    clearTimeout(soon);
  }
}

/** Checks that the log responds, before anything is done to the data. Fails LOG_UNAVAILABLE. */
async function probeLog(cluster: ClusterOptions, onWait?: (what: string) => void): Promise<void> {
  // Any log name will do: the check only tests whether the servers respond.
  const address = logAddressOf(cluster, 'none');
  const driver = await driverOf(address.url);
  await patiently(() => driver.look(address), onWait);
}

async function begin(
  address: LogAddress,
  env: Env,
  { dbUuid, restoreEpoch }: DataDirectory,
  keys: EntryKeys | undefined,
): Promise<ClusterPosition> {
  const driver = await driverOf(address.url);
  try {
    // A try without a response may have created the log; then the next try finds it.
    await patiently(() => driver.create(address));
  } catch (error) {
    // An earlier try of this process may have created it. The genesis entry at the start decides.
    if (!isCode(error, 'CONFIG_INVALID')) throw error;
  }
  const log = await patiently(() => driver.open(address));
  try {
    const state = hashTables(env);
    const body = Buffer.from(JSON.stringify({ dbUuid, restoreEpoch, state }));
    const id = randomBytes(16);
    const epoch = firstEpoch(env.meta.get(metaKey.position));
    const source = { kind: entryKind.genesis, epoch, id, time: wallMs(), body };
    const signer = keys && { keys, id: keys.newest };
    const sealed = encodeEntry(logStart, 0, source, signer);
    const before = { ...logStart, isVerified: true };
    const outcome = await appendEntry(log, sealed, before, {
      timeoutMs: foundingMs,
      clusterMetrics: new ClusterMetrics(),
      onError: (error) => {
        throw error;
      },
    });
    if (outcome === 'unknown') fail('LOG_UNAVAILABLE', { what: 'it does not answer' });
    const first = outcome === 'ok' ? sealed.position : await genesisOfOurs(log, body, keys);
    const position = { ...first, leader: undefined, epochs: [first] };
    env.transact(() => {
      env.meta.put(metaKey.position, packPosition(position, restoreEpoch));
      return true;
    });
    return { epoch: first.epoch, seq: first.seq };
  } finally {
    await log.close();
  }
}

/**
 * Returns the end of a genesis entry that an earlier try left. Fails CONFIG_INVALID for the genesis of
 * another database.
 */
async function genesisOfOurs(
  log: ReplicatedLog,
  body: Uint8Array,
  keys: EntryKeys | undefined,
): Promise<Position> {
  for await (const { seq, bytes } of log.read(1, () => {})) {
    const head = readHead(bytes, seq);
    const { epoch, chain, key } = head;
    checkWriter(keys, bytes, head, { seq, since: keys?.ids[0] });
    if (Buffer.compare(bytes.subarray(-body.length), body) === 0)
      return { epoch, seq, chain, ...(key !== undefined && { key }) };
    break;
  }
  return fail('CONFIG_INVALID', { what: 'There is a log of this name, of another database.' });
}
