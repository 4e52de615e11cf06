// Reads the `.hx` files of a project in path order.
//
// Invariant: a file that cannot be read, or a link that leads out of the project, fails the whole set. A
// program is never compiled from a part of its sources, nor from files of another project.
import { type Dirent, readFileSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Source, fail, throwShortage } from '../../engine/internal.js';
import { isWithin } from '../folder/contained-path.js';
import { leadsOut } from '../folder/project-file.js';
import { shownPath } from '../terminal/format.js';

/** No source that a person wrote is larger. The limit of the compiler is far lower. */
const fileBytesMax = 64 * 1024 * 1024;
const depthMax = 32;

function refuse(path: string, why: string): never {
  return fail('SOURCE_INVALID', { what: `${path}: ${why}` });
}

function reasonOf(error: unknown): string {
  throwShortage(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ELOOP') return 'is a loop of symbolic links';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read';
  return code === 'ENOENT' ? 'is a link to nothing' : `cannot be read (${code})`;
}

/**
 * Files directly in the project and below its queries directory; paths are relative, with forward
 * slashes.
 */
export function readSources(projectDir: string, queriesDir: string): Source[] {
  const paths = new Set(listFolder(projectDir, '', projectDir).files);
  const queries = join(projectDir, queriesDir);
  const realDir = realpathSync(projectDir);
  if (relative(projectDir, queries) !== '') {
    const found = collect({ projectDir, realDir }, queries, new Set(), 0);
    for (const path of found) paths.add(path);
  }
  return [...paths].sort(byPath).map((path) => readSource({ projectDir, realDir }, path));
}

interface Folder {
  projectDir: string;
  /** The project folder with links resolved. */
  realDir: string;
}

function refuseOutside({ realDir }: Folder, real: string, path: string): void {
  if (!isWithin(realDir, real)) refuse(path, leadsOut);
}

const byPath = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function collect(project: Folder, folder: string, above: Set<string>, depth: number): string[] {
  const { projectDir } = project;
  const path = slashed(relative(projectDir, folder));
  let real: string;
  try {
    real = realpathSync(folder);
  } catch (error) {
    // The queries directory itself may be missing.
    if (depth === 0 && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    return refuse(path, reasonOf(error));
  }
  if (above.has(real) || depth > depthMax) refuse(path, 'is a loop of symbolic links');
  refuseOutside(project, real, path);
  const { files, folders } = listFolder(folder, path, projectDir);
  const within = new Set(above).add(real);
  const deeper = folders.flatMap((inner) => collect(project, inner, within, depth + 1));
  return [...files, ...deeper];
}

function listFolder(
  folder: string,
  path: string,
  projectDir: string,
): { files: string[]; folders: string[] } {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : 'is a file, not a folder';
    const isElse = code !== 'ENOENT' && code !== 'ENOTDIR';
    if (isElse) return refuse(path || shownPath(projectDir), reasonOf(error));
    const what = `${path || shownPath(projectDir)}: ${why}.`;
    return fail('SOURCE_INVALID', { what }, { hint: 'Name the folder of a project.' });
  }
  const files: string[] = [];
  const folders: string[] = [];
  for (const entry of entries) {
    const full = join(folder, entry.name);
    const isSource = entry.name.endsWith('.hx');
    if (isSource) files.push(slashed(relative(projectDir, full)));
    else if (isFolder(entry, full)) folders.push(full);
  }
  return { files, folders };
}

function isFolder(entry: Dirent, full: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(full).isDirectory();
  } catch {
    return false;
  }
}

function readSource(project: Folder, path: string): Source {
  try {
    const full = realpathSync(join(project.projectDir, path));
    refuseOutside(project, full, path);
    const status = statSync(full);
    if (status.isDirectory()) refuse(path, 'is a directory');
    if (!status.isFile()) refuse(path, 'is no file');
    if (status.size > fileBytesMax) refuse(path, `is larger than ${fileBytesMax} bytes`);
    return { path, text: readFileSync(full) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return refuse(path, reasonOf(error));
  }
}

const slashed = (path: string): string => path.replaceAll('\\', '/');
