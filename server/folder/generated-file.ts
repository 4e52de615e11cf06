// Writes generated files, which a command replaces at each run.
//
// Invariants: nothing is written through a link or outside the given folder. A file without the header of
// generated files is replaced only with --force. A file is replaced as a whole.
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fail } from '../../engine/internal.js';
import { isWithin, realPlace } from './contained-path.js';

export interface OwnFileRules {
  /** The project, where its configuration names the place; a place on the command line is anywhere. */
  within?: string | undefined;
  /** Whether a text is one of ours; absent: every regular file may be replaced. */
  isOurs?: (text: string) => boolean;
  /** Replace a file that was not generated. */
  force?: boolean | undefined;
  mode?: number;
}

/** Fails CONFIG_INVALID. */
function refuse(path: string, why: string, hint: string): never {
  return fail('CONFIG_INVALID', { what: `${path} is not written: ${why}.` }, { hint });
}

/** The real path to write at. Fails CONFIG_INVALID. */
function checkedPlace(path: string, { within, isOurs, force = false }: OwnFileRules): string {
  const folder = dirname(path);
  const real = realPlace(folder);
  if (real === undefined) return refuse(path, 'its folder is a link to nothing', linkHint);
  if (within !== undefined) checkWithin(path, folder, real, within);
  const target = join(real, basename(path));
  const found = lstatSync(target, { throwIfNoEntry: false });
  if (found === undefined) return target;
  if (found.isSymbolicLink()) refuse(path, 'it is a link', linkHint);
  if (!found.isFile()) refuse(path, 'what is there is no file', 'Name another place.');
  if (isOurs !== undefined && !force && !isOurs(readFileSync(target, 'utf8'))) {
    const hint = 'Name another place, move the file away, or replace it with --force.';
    refuse(path, 'the file there was not made by this command', hint);
  }
  return target;
}

const linkHint = 'Nothing is written through a link: put a file or a folder there.';

/** No part of the way down from the project's folder may be a link, be it to a place inside. */
function checkWithin(path: string, folder: string, real: string, within: string): void {
  const outer = realPlace(within);
  const hint = 'Say it on the command line, or name a place inside the project.';
  if (outer === undefined || !isWithin(outer, real))
    refuse(path, 'it lies outside the project', hint);
  const down = relative(within, folder);
  const isPlain = down !== '..' && !down.startsWith(`..${sep}`) && join(outer!, down) === real;
  if (!isPlain) refuse(path, 'the way there leads through a link', linkHint);
}

/** The folder is made below one that is there. Fails CONFIG_INVALID, or as the system does. */
export function writeOwnFile(path: string, text: string, rules: OwnFileRules): void {
  const target = checkedPlace(path, rules);
  const draft = `${target}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    // Exclusive: what lies there already, a link above all, is not opened.
    writeFileSync(draft, text, { flag: 'wx', ...(rules.mode && { mode: rules.mode }) });
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** A folder for files of ours, made where it is missing. Fails CONFIG_INVALID, or as the system does. */
export function makeOwnFolder(path: string, rules: Pick<OwnFileRules, 'within'>): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) refuse(path, 'it is a link', linkHint);
  checkedPlace(join(path, 'x'), { within: rules.within, force: true });
  mkdirSync(path, { recursive: true });
}
