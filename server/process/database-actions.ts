// What an operator may have done to one database: `POST /_admin/<name>`. Invariant: all of it is about that
// database alone, its folder and its backups.
import { type Database, describeJson, fail, scanBody } from '../../engine/index.js';
import type { Config } from '../config/config.js';
import type { Action } from '../endpoint/admin-handler.js';
import { checkBody } from '../endpoint/check-handler.js';
import { clusterActions } from '../endpoint/cluster-actions.js';
import type { NodeProof } from '../auth/node-proof.js';
import { NodeCopies } from '../endpoint/node-copies.js';
import { ImportHandler } from '../endpoint/import-handler.js';
import { recallBody } from '../endpoint/vector-admin.js';
import { programOptions } from '../project/program.js';
import { backupName, newBackupPath } from './backup-place.js';
import { verifyRunning } from './verify-child.js';

/** `database`: undefined while it is not open. */
export function databaseActions(
  config: Config,
  database: () => Database | undefined,
  proof?: NodeProof,
): Map<string, Action> {
  const imports = new ImportHandler(database);
  const check = (body: Uint8Array): unknown => {
    const open = database();
    return open && checkBody(open, body, programOptions(config));
  };
  return new Map<string, Action>([
    ['import', (asked, body) => imports.handle(asked, body)],
    ['backup', (_, body) => backUp(config, database()!, body)],
    ['verify', () => verifyRunning(config.dataDir)],
    ['snapshot', () => database()?.snapshot()],
    ['check', (_, body) => check(body)],
    [
      'recall',
      (asked) => {
        const open = database();
        return open && recallBody(open, asked);
      },
    ],
    ...clusterActions({
      node: () => database()?.cluster,
      copies: new NodeCopies({ database, dataDir: config.dataDir }),
      proof,
      waitMs: config.cluster.wait,
    }),
  ]);
}

/** `{"name"}`: a folder inside `backup.dir`; without a name the time is one. */
async function backUp(config: Config, database: Database, body: Uint8Array): Promise<unknown> {
  const given = scanBody(body, config.limits).member('name');
  if (given !== undefined && given.kind !== 'string' && given.kind !== 'null') {
    const args = { param: 'name', type: 'String', got: describeJson(given) };
    fail('PARAM_TYPE', args, { path: '/name' });
  }
  const name = given?.kind === 'string' ? given.text() : backupName();
  const path = newBackupPath(config, name);
  const { bytes } = await database.backUp(path);
  return { path, bytes };
}
