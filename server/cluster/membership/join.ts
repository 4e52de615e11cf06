// How a node without data, or with data that the log no longer reaches, gets those of another node: the log
// says who leads, that node makes a copy, the copy is fetched piece by piece and takes the place of what was
// there. Invariant: old data go only when a whole copy lies beside them; every piece is what its sender read.
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
  /** Whether nobody waits for the data any more. */
  isOver: () => boolean;
  roster: Roster;
  /** It comes without data, as a node that was none before. */
  joins?: boolean;
}

const pieceBytes = 4 * 1024 * 1024;
/** Bytes of the list of files of a copy. */
const copyListMax = 64 * 1024 * 1024;
const piecesMs = 30_000;
/** Bytes of what is said of a refusal. */
const refusalMax = 64 * 1024;
/** Making a copy takes as long as reading the data. */
const copyMs = 3_600_000;
const retryMs = 500;
const hearMs = 10_000;
const triesMax = 5;

/** Fetches the data of another node into a directory that has none. False: it was given up, or is not needed. */
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
 * A whole copy in `joining`, of whoever leads; again and again until there is one. False: given up. `dbUuid`: of
 * the data that this node has. Fails CONFIG_INVALID, LOG_UNTRUSTED, LOG_LOST where there is no such log.
 */
export async function fetchCopy(
  options: JoinOptions,
  dbUuid: string | undefined,
): Promise<boolean> {
  const { cluster, log, isOver, roster } = options;
  let told = '';
  while (!isOver()) {
    let reason = 'nobody leads';
    try {
      const leader = await hearLeader(cluster, dbUuid, hearMs);
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
    if (reason !== told) log('warn', 'waiting for the data of another node', { reason });
    told = reason;
    await pause(retryMs);
  }
  return false;
}

/** Nobody leads under the name of this node, which has no data. Fails NODE_NAME_TAKEN. */
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
  const asked = { ...roster.selfOf(cluster.node, cluster.advertise), joins };
  const most = copyListMax;
  const begun = await calls.ask(address, '/_admin/cluster-copy', asked, copyMs, { most });
  const told = parseRemoteJson(begun.status === 200, begun.body) as {
    copy: string;
    files: CopiedFile[];
  };
  const { copy, files } = told;
  const place = copyPlaceIn(dataDir);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  // The folder itself stays: it says what a mark in the directory is about.
  for (const name of readdirSync(place))
    rmSync(join(place, name), { recursive: true, force: true });
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const file of files) {
    if (!isCopiedPath(file.path)) fail('DATA_CORRUPT', { what: 'a copy names other files' });
    await fetchFile({ ...file, copy, address }, place, options, (bytes) => {
      done += bytes;
      onProgress((100 * done) / Math.max(1, total));
    });
  }
  await calls.ask(address, `/_admin/cluster-copied?copy=${copy}`, {}, piecesMs);
}

interface WantedFile extends CopiedFile {
  copy: string;
  address: string;
}

async function fetchFile(
  { copy, address, path, bytes }: WantedFile,
  place: string,
  { calls, isOver }: JoinOptions,
  onPiece: (bytes: number) => void,
): Promise<void> {
  const target = join(place, path);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  const descriptor = openSync(target, 'w', 0o600);
  try {
    for (let from = 0; from < bytes && !isOver(); ) {
      const size = Math.min(pieceBytes, bytes - from);
      const asked = new URLSearchParams({ copy, path, from: String(from), bytes: String(size) });
      const piece = await fetchPiece(address, `/_admin/cluster-piece?${asked}`, calls, size);
      // On a disk that fills up not all of it is written: the rest is asked for again.
      const written = writeSync(descriptor, piece, 0, piece.length, from);
      from += written;
      onPiece(written);
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Fails DATA_CORRUPT when it comes damaged again and again. */
async function fetchPiece(
  address: string,
  path: string,
  calls: NodeClient,
  size: number,
): Promise<Uint8Array> {
  let failure: unknown;
  for (let tries = 0; tries < triesMax; tries++) {
    if (tries > 0) await pause(retryMs);
    try {
      const most = size + 4 + refusalMax;
      const { status, body } = await calls.ask(address, path, {}, piecesMs, { most });
      if (status !== 200) throw parseRemoteError(body);
      const piece = body.subarray(4);
      if (piece.length > 0 && piece.length <= size && crc32(piece) === body.readUInt32LE(0))
        return piece;
      failure = new TrellisError({ code: 'DATA_CORRUPT', args: { what: `a piece of ${path}` } });
    } catch (error) {
      if (error instanceof TrellisError) throw error;
      failure = error;
    }
  }
  throw failure;
}
