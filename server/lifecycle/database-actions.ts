// Operator actions on one database: `POST /_admin/<name>`. Invariant: each action affects only that database,
// its folder and its backups.
import { basename } from 'node:path';
import {
  type ClusterNode,
  type Database,
  type Program,
  describeJson,
  fail,
  printPosition,
  scanBody,
} from '../../engine/internal.js';
import { addressOf } from '../config/cluster-options.js';
import type { Config } from '../config/config.js';
import { programFor } from '../config/tenant-config.js';
import type { Action } from '../handlers/admin-handler.js';
import { checkBody } from '../handlers/check-handler.js';
import { clusterActions } from '../cluster/membership/cluster-actions.js';
import type { NodeProof } from '../cluster/node-auth.js';
import { NodeCopies } from '../cluster/membership/node-copies.js';
import { ImportHandler } from '../handlers/import-handler.js';
import { recallBody } from '../handlers/indexes.js';
import { reembedBody } from '../handlers/reembed-handler.js';
import { rulesOf } from '../project/compile-options.js';
import { programOptions } from '../project/program.js';
import type { NodeClient } from '../cluster/node-client.js';
import { backupName, newBackupPath } from './backup-directory.js';
import { sendToLeader } from '../cluster/membership/ask-leader.js';
import type { ConsistencyChecks } from '../cluster/membership/consistency-check.js';
import type { Roster } from '../cluster/membership/known-nodes.js';
import { membershipActions } from '../cluster/membership/membership-actions.js';
import { type ClusterSettings, marksOf, readSettings } from '../cluster/membership/settings.js';
import { verifyRunning } from './verify-child.js';

/** What the actions need of the cluster that a database may belong to. */
export interface ClusterServices {
  proof: NodeProof | undefined;
  calls: NodeClient;
  settings: ClusterSettings;
  checks: ConsistencyChecks;
  roster: Roster;
}

/** Returns the actions by name. `database` returns undefined while the database is not open. */
export function databaseActions(
  config: Config,
  database: () => Database | undefined,
  services: ClusterServices,
): Map<string, Action> {
  const node = (): ClusterNode | undefined => database()?.cluster;
  const copies = new NodeCopies({ database, dataDir: config.dataDir });
  const imports = new ImportHandler(database);
  const fit = (program: Program): Program => programFor(config, program);
  const rules = { ...rulesOf(programOptions(config)), fit };
  const check = (body: Uint8Array): unknown => {
    const open = database();
    return open && checkBody(open, body, rules);
  };
  return new Map<string, Action>([
    ['import', (params, body, holder) => imports.handle(params, body, holder)],
    ['import-files', (params, body) => imports.noteFiles(params, body)],
    ['backup', (_, body) => backUp(config, database()!, body, services)],
    ['verify', () => verifyRunning(config.dataDir)],
    ['snapshot', () => database()?.snapshot()],
    ['check', (_, body) => check(body)],
    [
      'recall',
      (params) => {
        const open = database();
        return open && recallBody(open, params);
      },
    ],
    [
      'reembed',
      (params) => {
        const open = database();
        return open && reembedBody(open, params);
      },
    ],
    ...clusterActions({
      node,
      copies,
      proof: services.proof,
      waitMs: config.cluster.wait_timeout,
      known: (one) => {
        const { left, marks } = readSettings(one);
        return { left, marks: marks && marksOf(one) };
      },
    }),
    ...membershipActions({
      node,
      copies,
      ...services,
      limits: config.limits,
      address: addressOf(config),
    }),
  ]);
}

/**
 * Reserves the log for a backup that begins now, until the backup is too old. Returns the lowest position of
 * the backup, and whether the leader recorded the reservation. The backup is valid without it.
 */
async function mark(node: ClusterNode, name: string, { calls, settings }: ClusterServices) {
  const { durable } = node;
  const request = { backup: `${node.node}/${name}`, ...durable };
  const reply = sendToLeader({ node, calls }, 'cluster-mark', request, () =>
    settings.mark(request),
  );
  const stored = await reply.then(
    () => true,
    () => false,
  );
  return { position: printPosition(durable), kept: stored };
}

function unmark(node: ClusterNode, name: string, { calls, settings }: ClusterServices) {
  const backup = `${node.node}/${name}`;
  const path = `cluster-forget?${new URLSearchParams({ backup })}`;
  return sendToLeader({ node, calls }, path, {}, () => settings.unmark(backup));
}

/**
 * Runs a backup into a folder inside `backup.dir`: `{"name"}`. Without a name, the current time is the name.
 */
async function backUp(
  config: Config,
  database: Database,
  body: Uint8Array,
  services: ClusterServices,
): Promise<unknown> {
  const nameValue = scanBody(body, config.limits).member('name');
  if (nameValue !== undefined && nameValue.kind !== 'string' && nameValue.kind !== 'null') {
    const args = { param: 'name', type: 'String', got: describeJson(nameValue) };
    fail('PARAM_TYPE', args, { path: '/name' });
  }
  const name = nameValue?.kind === 'string' ? nameValue.text() : backupName();
  const path = newBackupPath(config, name);
  const { cluster } = database;
  const marked = cluster && (await mark(cluster, basename(path), services));
  try {
    const { bytes } = await database.backUp(path);
    return { path, bytes, ...marked };
  } catch (error) {
    if (marked?.kept) await unmark(cluster!, basename(path), services).catch(() => undefined);
    throw error;
  }
}
