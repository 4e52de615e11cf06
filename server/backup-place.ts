// Where backups go: folders inside `backup.dir`, nowhere else, whoever asks.
import { join, relative, resolve, sep } from 'node:path';
import { fail } from '../engine/index.js';
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
    const hint = `Backups go into \`backup.dir\`, which is ${dir}.`;
    fail(
      'PARAM_VALUE',
      { param: 'name', allowed: 'a place inside backup.dir', got: name },
      { hint },
    );
  }
  return path;
}

/** A name by the time, for backups without one. */
export const backupName = (): string => new Date().toISOString().replaceAll(/[:.]/g, '-');
