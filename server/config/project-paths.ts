// Checks which paths and addresses outside its folder a project may configure. A project may neither write
// files outside nor send credentials elsewhere. Only the command line and the environment may allow that,
// because a project may have been downloaded from an untrusted source. Invariant: this file only checks, in
// the same way for every command.
import { type Dirent, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fail } from '../../engine/internal.js';
import { isMissing, liesInside } from '../folder/contained-path.js';
import { socketPathOf } from '../http/listen-socket.js';
import type { Config } from './config.js';
import type { Setting } from './setting.js';

/** Maximum depth of files in a data directory. */
const depthMax = 8;

const isOfProject = (setting: Setting | undefined): boolean =>
  setting === undefined || setting.source === 'default' || setting.fromProject === true;

const variableOf = (key: string): string => `TRELLIS_${key.replace('.', '_').toUpperCase()}`;

/** Checks the configured paths. Fails CONFIG_INVALID. */
export function checkProjectPaths(config: Config): void {
  const { projectDir, dataDir, settings, databases, keysFile, backup, cluster, server } = config;
  const { audit } = config;
  const isOwnData = isOfProject(settings.get('storage.data_dir'));
  const check = (key: string, path: string, hint: string): void => {
    if (!isOfProject(settings.get(key)) || liesInside(projectDir, path)) return;
    // A path inside a data directory from outside the project is as trusted as that directory.
    if (!isOwnData && liesInside(dataDir, path)) return;
    const what = `${key} is ${path}, outside the project: a file of a project may not say that.`;
    fail('CONFIG_INVALID', { what }, { hint });
  };
  check('storage.data_dir', dataDir, 'Say it with --data or in TRELLIS_DATA_DIR.');
  const inVariable = (key: string): string => `Say it in the variable ${variableOf(key)}.`;
  check('auth.keys_file', keysFile, inVariable('auth.keys_file'));
  if (backup.dir !== '')
    check('backup.dir', resolve(projectDir, backup.dir), inVariable('backup.dir'));
  if (audit.file !== '')
    check('audit.file', resolve(projectDir, audit.file), inVariable('audit.file'));
  const socket = socketPathOf(server.host);
  if (socket !== undefined) check('server.host', socket, 'Say it with --host or in TRELLIS_HOST.');
  for (const [name, folder] of databases) {
    check(`tenants.databases.${name}`, folder, 'Name a folder in the project or leave it empty.');
  }
  if (cluster.token_file !== '') {
    const path = resolve(projectDir, cluster.token_file);
    check('cluster.token_file', path, inVariable('cluster.token_file'));
  }
  checkLog(config);
  for (const [key, folder] of [['storage.data_dir', dataDir] as const, ...databasesOf(config)]) {
    if (isOfProject(settings.get(key)) && liesInside(projectDir, folder)) refuseLinks(folder);
  }
}

const databasesOf = ({ databases }: Config) =>
  [...databases].map(([name, folder]) => [`tenants.databases.${name}`, folder] as const);

/**
 * Checks that a credential goes only to a log that the same source names, and that no project names the code
 * of a driver.
 */
function checkLog({ cluster, settings }: Config): void {
  const [log, token] = [settings.get('cluster.log'), settings.get('cluster.token_file')];
  if (cluster.log.startsWith('file:') && isOfProject(log)) {
    const what = 'cluster.log names a driver of its own: a file of a project may not say that.';
    fail(
      'CONFIG_INVALID',
      { what },
      { hint: `Say it in the variable ${variableOf('cluster.log')}.` },
    );
  }
  if (cluster.log === '' || cluster.token_file === '') return;
  if (isOfProject(log) === isOfProject(token)) return;
  const what =
    `cluster.log is said in ${log!.source}, cluster.token_file in ${token!.source}: ` +
    'a credential goes only to a log that the same source names.';
  fail(
    'CONFIG_INVALID',
    { what },
    { hint: 'Say both in the project, or both in the environment.' },
  );
}

/**
 * Refuses symbolic links, because a data directory that came with the project could use them to redirect
 * writes.
 */
function refuseLinks(folder: string, depth = 0): void {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    // A path that is no folder, or is not readable, fails when it is opened.
    if (isMissing(error) || depth === 0) return;
    throw error;
  }
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) {
      const what = `${path} is a link: a data directory of a project has none.`;
      fail(
        'CONFIG_INVALID',
        { what },
        { hint: 'Name the data directory with --data to allow it.' },
      );
    }
    if (entry.isDirectory() && depth < depthMax) refuseLinks(path, depth + 1);
  }
}
