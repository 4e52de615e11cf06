// Founds a cluster on the data of one node: the only place that makes a log. Invariant: the log is made for
// data that hold the program and all that the first entry says; a second try after a crash goes on where
// the first one ended, and never makes another log.
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
import { ClusterTally } from '../cluster/ipc/cluster-metrics.js';
import { driverOf } from '../cluster/log/drivers.js';
import { logPlaceOf } from '../cluster/log/log-address.js';
import type { LogPlace, ReplicatedLog } from '../cluster/log/replicated-log.js';
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
/** Servers that have just begun elect first who answers for them. */
const electionMs = 30_000;
const againMs = 500;

export interface FoundingOptions {
  /** A log that may lose what it has acknowledged will do. */
  allowLazy?: boolean;
  /** Their log is lost, and another one takes its place. */
  again?: boolean;
  /** What all nodes are to know from the beginning. */
  settings?: Uint8Array | undefined;
  /** Hears, once and soon, that the log does not answer, and why. */
  onWait?: (what: string) => void;
}

/** Whoever waits hears after so long what for. */
const soonMs = 2_000;

/**
 * Before they are opened alone, upon which they forget it. Data that were restored from a backup are of no cluster,
 * whatever they say. Fails CONFIG_INVALID.
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

/** How far the data of a directory have followed the log that they are or were of; undefined: of none. */
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
 * Before the data are opened alone, upon which they would be of their log no more, though it is there. Fails
 * CONFIG_INVALID, LOG_UNAVAILABLE.
 */
async function checkIsLost(cluster: ClusterOptions, dataDir: string): Promise<void> {
  const directory = openDataDirectory(dataDir);
  const env = openEnv(join(dataDir, 'graph'), { readOnly: true });
  const stored = env.meta.get(metaKey.position);
  await env.close();
  directory.close({ clean: directory.wasClean });
  if (stored === undefined || !isOf(stored, directory.restoreEpoch)) return;
  const place = logPlaceOf(cluster, directory.dbUuid);
  const driver = await driverOf(place.url);
  if (!(await patiently(() => driver.look(place))).exists) return;
  const log = await patiently(() => driver.open(place));
  const late = setTimeout(() => void log.close(), foundingMs);
  try {
    if (await holdsEntry(log, readPosition(stored, directory.restoreEpoch)))
      fail('CONFIG_INVALID', { what: 'The log of these data is there, and they are of it.' });
  } finally {
    clearTimeout(late);
    await log.close();
  }
}

/** Whether the log has, or had, the entry at which data are. */
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
 * Brings the data to the program of `archive` and makes their log. Fails CONFIG_INVALID where there is one
 * already, LOG_UNSAFE, LOG_UNAVAILABLE.
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
  await reach(cluster, onWait);
  const database = await openDatabase(single);
  await database.close();
  const directory = openDataDirectory(options.dataDir);
  const env = openEnv(join(options.dataDir, 'graph'));
  let isWhole = false;
  try {
    env.transact(() => {
      env.meta.put(metaKey.sources, sources);
      // Those of a lost log go on; those of a backup may be long out of date.
      if (settings !== undefined) env.meta.put(metaKey.settings, settings);
      else if (!again) env.meta.remove(metaKey.settings);
      return true;
    });
    const place = logPlaceOf(cluster, directory.dbUuid);
    const keys = EntryKeys.of(cluster.secrets, place.name);
    const position = await begin({ ...place, allowLazy }, env, directory, keys);
    isWhole = true;
    return position;
  } finally {
    await env.close();
    directory.close({ clean: isWhole });
  }
}

const isCode = (error: unknown, code: ErrorCode): boolean =>
  error instanceof TrellisError && error.code === code;

/** Again and again while the log does not answer. */
async function patiently<T>(ask: () => Promise<T>, onWait?: (what: string) => void): Promise<T> {
  let what = 'no answer';
  const soon = setTimeout(() => onWait?.(what), soonMs);
  try {
    for (const end = performance.now() + electionMs; ; ) {
      try {
        return await ask();
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

/** Before anything is done to the data. Fails LOG_UNAVAILABLE. */
async function reach(cluster: ClusterOptions, onWait?: (what: string) => void): Promise<void> {
  // Of whatever name: what is asked is whether anybody answers.
  const place = logPlaceOf(cluster, 'none');
  const driver = await driverOf(place.url);
  await patiently(() => driver.look(place), onWait);
}

async function begin(
  place: LogPlace,
  env: Env,
  { dbUuid, restoreEpoch }: DataDirectory,
  keys: EntryKeys | undefined,
): Promise<ClusterPosition> {
  const driver = await driverOf(place.url);
  try {
    // A try that was not answered may have made it; the next one finds it then.
    await patiently(() => driver.create(place));
  } catch (error) {
    // Perhaps ours: the genesis behind nothing decides.
    if (!isCode(error, 'CONFIG_INVALID')) throw error;
  }
  const log = await patiently(() => driver.open(place));
  try {
    const state = hashTables(env);
    const body = Buffer.from(JSON.stringify({ dbUuid, restoreEpoch, state }));
    const id = randomBytes(16);
    const epoch = firstEpoch(env.meta.get(metaKey.position));
    const source = { kind: entryKind.genesis, epoch, id, time: wallMs(), body };
    const signer = keys && { keys, id: keys.newest };
    const sealed = encodeEntry(logStart, 0, source, signer);
    const before = { ...logStart, isSure: true };
    const outcome = await appendEntry(log, sealed, before, {
      timeoutMs: foundingMs,
      tally: new ClusterTally(),
      onFault: (error) => {
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

/** The end of the genesis that a try before this one has left. Fails CONFIG_INVALID for anybody else's. */
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
