// Where backups go: folders inside `backup.dir`, nowhere else, whoever asks.
import { existsSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { excerpt, fail } from '../engine/index.js';
import type { Config } from './config.js';

/** The standard place: `backups` in the data directory. */
export function backupDir(config: Config): string {
  const { backup, dataDir, projectDir } = config;
  return backup.dir === '' ? join(dataDir, 'backups') : resolve(projectDir, backup.dir);
}

/** The folder of a backup; fails PARAM_VALUE when it is not inside `backup.dir`. */
export function backupPath(config: Config, name: string): string {
  const dir = backupDir(config);
  const path = resolve(dir, name);
  const inside = relative(dir, path);
  if (
    inside === '' ||
    inside === '..' ||
    inside.startsWith(`..${sep}`) ||
    resolve(inside) === inside
  ) {
    refuse(name, 'a place inside `backup.dir`');
  }
  return path;
}

/** As `backupPath`, for a backup that is to be made: fails PARAM_VALUE when there is one. */
export function newBackupPath(config: Config, name: string): string {
  const path = backupPath(config, name);
  if (existsSync(path)) refuse(name, 'the name of no backup yet');
  return path;
}

/** Says no more of the place than its key: whoever asks may not know the server's folders. */
function refuse(name: string, allowed: string): never {
  return fail(
    'PARAM_VALUE',
    { param: 'name', allowed, got: JSON.stringify(excerpt(name)) },
    { path: '/name', hint: 'Backups go into `backup.dir`.' },
  );
}

/** A name by the time, for backups without one. */
export const backupName = (): string => new Date().toISOString().replaceAll(/[:.]/g, '-');
