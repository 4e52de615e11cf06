// Copies the data of another node to a node without data, or with data that the log no longer reaches. The
// log names the leader. The leader makes a copy, which is fetched piece by piece and then replaces the old
// data. Invariant: old data are removed only after a complete copy is stored. Every piece is what its sender
// read.
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import {
  type ClusterLeader,
  type ClusterOptions,
  type CopiedFile,
  TrellisError,
  copyPlaceIn,
  errorMessage,
  fail,
  hearLeader,
  installNodeCopy,
  isCopiedPath,
  makeFolder,
  needsNodeCopy,
  takeLock,
} from '../../../engine/internal.js';
import type { Log } from '../../telemetry/log.js';
import type { Roster } from './known-nodes.js';
import type { NodeClient } from '../node-client.js';
import { parseRemoteError, parseRemoteJson } from '../../http/remote-error.js';

export interface JoinOptions {
  cluster: ClusterOptions;
  dataDir: string;
  calls: NodeClient;
  log: Log;
  onProgress: (progress: number) => void;
  /** Whether the data are no longer wanted. */
  isOver: () => boolean;
  roster: Roster;
  /** Whether this node joins without data, as a new node. */
  joins?: boolean;
}

const chunkBytes = 4 * 1024 * 1024;
/** Maximum bytes of the file list of a copy. */
const copyListMax = 64 * 1024 * 1024;
const chunkTimeoutMs = 30_000;
/** Maximum bytes of an error response. */
const refusalMax = 64 * 1024;
/** Making a copy takes as long as reading the data. */
const copyMs = 3_600_000;
const retryMs = 500;
const pollIntervalMs = 10_000;
const triesMax = 5;

/**
 * Fetches the data of another node into a directory that has none. Returns false if it gave up, or if no copy
 * is needed.
 */
export async function joinEmpty(options: JoinOptions): Promise<boolean> {
  const { dataDir, log, cluster } = options;
  if (!needsNodeCopy(dataDir)) return false;
  makeFolder(dataDir);
  const lock = takeLock(dataDir);
  try {
    log('info', 'no data: fetching a copy from the leader', {
      node: cluster.node,
    });
    if (!(await fetchCopy({ ...options, joins: true }, undefined))) return false;
    await installNodeCopy(dataDir, undefined);
    return true;
  } finally {
    lock.release();
  }
}

/**
 * Fetches a complete copy from the current leader into `joining`, and repeats until it succeeds. Returns
 * false if the caller gave up. `dbUuid` identifies the data that this node has. Fails CONFIG_INVALID,
 * LOG_UNTRUSTED, or LOG_LOST if there is no such log.
 */
export async function fetchCopy(
  options: JoinOptions,
  dbUuid: string | undefined,
): Promise<boolean> {
  const { cluster, log, isOver, roster } = options;
  let reported = '';
  while (!isOver()) {
    let reason = 'nobody leads';
    try {
      const leader = await hearLeader(cluster, dbUuid, pollIntervalMs);
      if (leader?.node === cluster.node) {
        await checkIsFree(leader, roster);
        reason = `this node is the last that has led, and its data are gone: another has to lead`;
      } else if (leader !== undefined && !isOver()) {
        await fetchFrom(leader.address, options);
        log('info', 'copied the data of another node', { from: leader.node });
        return true;
      }
    } catch (error) {
      if (isFinal(error)) throw error;
      reason = error instanceof TrellisError ? errorMessage(error.data) : String(error);
    }
    if (reason !== reported) log('warn', 'waiting for the data of another node', { reason });
    reported = reason;
    await pause(retryMs);
  }
  return false;
}

/**
 * Checks that no other process leads under the name of this node, which has no data. Fails NODE_NAME_TAKEN.
 */
async function checkIsFree({ node, address }: ClusterLeader, roster: Roster): Promise<void> {
  const boot = await roster.bootAt(address);
  if (boot !== undefined && boot !== roster.boot) fail('NODE_NAME_TAKEN', { node, address });
}

const finalCodes: ReadonlySet<string> = new Set([
  'CONFIG_INVALID',
  'LOG_LOST',
  'LOG_UNTRUSTED',
  'INSUFFICIENT_STORAGE',
  'NODE_LEFT',
  'NODE_NAME_TAKEN',
  'NODE_DIFFERS',
]);

const isFinal = (error: unknown): boolean =>
  error instanceof TrellisError && finalCodes.has(error.code);

async function fetchFrom(address: string, options: JoinOptions): Promise<void> {
  const { calls, dataDir, onProgress, cluster, roster, joins = false } = options;
  const request = { ...roster.selfOf(cluster.node, cluster.advertise), joins };
  const max = copyListMax;
  const begun = await calls.request(address, '/_admin/cluster-copy', request, copyMs, { max });
  const list = parseRemoteJson(begun.status === 200, begun.body) as {
    copy: string;
    files: CopiedFile[];
  };
  const { copy, files } = list;
  const folder = copyPlaceIn(dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // The folder itself stays, because a mark in the data directory refers to it.
  for (const name of readdirSync(folder))
    rmSync(join(folder, name), { recursive: true, force: true });
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const file of files) {
    if (!isCopiedPath(file.path)) fail('DATA_CORRUPT', { what: 'a copy names other files' });
    await fetchFile({ ...file, copy, address }, folder, options, (bytes) => {
      done += bytes;
      onProgress((100 * done) / Math.max(1, total));
    });
  }
  await calls.request(address, `/_admin/cluster-copied?copy=${copy}`, {}, chunkTimeoutMs);
}

interface WantedFile extends CopiedFile {
  copy: string;
  address: string;
}

async function fetchFile(
  { copy, address, path, bytes }: WantedFile,
  folder: string,
  { calls, isOver }: JoinOptions,
  onChunk: (bytes: number) => void,
): Promise<void> {
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  const descriptor = openSync(target, 'w', 0o600);
  try {
    for (let from = 0; from < bytes && !isOver(); ) {
      const size = Math.min(chunkBytes, bytes - from);
      const params = new URLSearchParams({ copy, path, from: String(from), bytes: String(size) });
      const chunk = await fetchChunk(address, `/_admin/cluster-piece?${params}`, calls, size);
      // On a disk that fills up, a part of the piece is written. The loop requests the rest again.
      const written = writeSync(descriptor, chunk, 0, chunk.length, from);
      from += written;
      onChunk(written);
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Fetches one piece. Fails DATA_CORRUPT if it arrives damaged `triesMax` times. */
async function fetchChunk(
  address: string,
  path: string,
  calls: NodeClient,
  size: number,
): Promise<Uint8Array> {
  let failure: unknown;
  for (let tries = 0; tries < triesMax; tries++) {
    if (tries > 0) await pause(retryMs);
    try {
      const max = size + 4 + refusalMax;
      const { status, body } = await calls.request(address, path, {}, chunkTimeoutMs, { max });
      if (status !== 200) throw parseRemoteError(body);
      const chunk = body.subarray(4);
      if (chunk.length > 0 && chunk.length <= size && crc32(chunk) === body.readUInt32LE(0))
        return chunk;
      failure = new TrellisError({ code: 'DATA_CORRUPT', args: { what: `a piece of ${path}` } });
    } catch (error) {
      if (error instanceof TrellisError) throw error;
      failure = error;
    }
  }
  throw failure;
}
