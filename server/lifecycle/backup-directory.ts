// Where backups go: folders inside `backup.dir`, nowhere else, whoever asks.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { excerpt, fail, wallMs } from '../../engine/internal.js';
import type { Config } from '../config/config.js';
import { liesInside } from '../folder/contained-path.js';

/** The standard place: `backups` in the data directory. */
function backupDir(config: Config): string {
  const { backup, dataDir, projectDir } = config;
  return backup.dir === '' ? join(dataDir, 'backups') : resolve(projectDir, backup.dir);
}

/** Bytes of one folder's name: file systems take 255, and some of them are ours to add. */
const nameMax = 200;
/** Bytes of the whole path; what is written inside must fit below the system's 4,096. */
const pathMax = 2_048;

/** The folder of a backup; fails PARAM_VALUE when it cannot be one inside `backup.dir`. */
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

/** Code points below space, and DEL: NUL ends a path early, the others are nobody's name. */
const hasControl = (name: string): boolean =>
  [...name].some((one) => one < ' ' || one === '\u007f');

/** As `backupPath`, for a backup that is to be made: fails PARAM_VALUE when there is one. */
export function newBackupPath(config: Config, name: string): string {
  const path = backupPath(config, name);
  if (existsSync(path)) refuse(name, 'the name of no backup yet');
  const dir = backupDir(config);
  // Of a link in between only its owner knows where it leads.
  if (!liesInside(dir, path)) refuse(name, 'a place inside `backup.dir`');
  for (let up = dirname(path); up !== dir; up = dirname(up)) {
    if (existsSync(up) && !statSync(up).isDirectory()) refuse(name, 'a place below folders');
    if (existsSync(join(up, 'MANIFEST.json'))) refuse(name, 'a place outside other backups');
  }
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
export const backupName = (): string => new Date(wallMs()).toISOString().replaceAll(/[:.]/g, '-');
