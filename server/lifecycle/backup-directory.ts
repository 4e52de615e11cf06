// Computes the path of a backup. Invariant: every backup is a folder inside `backup.dir`, whichever client
// requests it.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { excerpt, fail, wallMs } from '../../engine/internal.js';
import type { Config } from '../config/config.js';
import { liesInside } from '../folder/contained-path.js';

/** Returns the folder of all backups. The default is `backups` in the data directory. */
export function backupDir(config: Config): string {
  const { backup, dataDir, projectDir } = config;
  return backup.dir === '' ? join(dataDir, 'backups') : resolve(projectDir, backup.dir);
}

/**
 * Bytes of one folder name. File systems allow 255, and the server appends a suffix to some names.
 */
const nameMax = 200;
/**
 * Bytes of the whole path. The paths of the files inside must stay below the 4,096 bytes of the system.
 */
const pathMax = 2_048;

/** Returns the folder of a backup. Fails PARAM_VALUE if the name leads outside `backup.dir`. */
export function backupPath(config: Config, name: string): string {
  if (hasControl(name)) refuse(name, 'a name without control characters');
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
  const names = inside.split(sep);
  if (names.some((one) => Buffer.byteLength(one) > nameMax) || Buffer.byteLength(path) > pathMax) {
    refuse(name, `names of at most ${nameMax} bytes`);
  }
  return path;
}

/**
 * Returns true for a code point below space, or DEL. NUL would end a path early; the others belong in no
 * name.
 */
const hasControl = (name: string): boolean =>
  [...name].some((one) => one < ' ' || one === '\u007f');

/**
 * Returns the folder of a new backup, like `backupPath`. Fails PARAM_VALUE if a backup of that name exists.
 */
export function newBackupPath(config: Config, name: string): string {
  const path = backupPath(config, name);
  if (existsSync(path)) refuse(name, 'the name of no backup yet');
  const dir = backupDir(config);
  // A symbolic link on the way could lead anywhere.
  if (!liesInside(dir, path)) refuse(name, 'a place inside `backup.dir`');
  for (let up = dirname(path); up !== dir; up = dirname(up)) {
    if (existsSync(up) && !statSync(up).isDirectory()) refuse(name, 'a place below folders');
    if (existsSync(join(up, 'MANIFEST.json'))) refuse(name, 'a place outside other backups');
  }
  return path;
}

/** Fails without the path: the caller may not learn the folders of the server. */
function refuse(name: string, allowed: string): never {
  return fail(
    'PARAM_VALUE',
    { param: 'name', allowed, got: JSON.stringify(excerpt(name)) },
    { path: '/name', hint: 'Backups go into `backup.dir`.' },
  );
}

/** Returns the current time as a name, for backups without one. */
export const backupName = (): string => new Date(wallMs()).toISOString().replaceAll(/[:.]/g, '-');
