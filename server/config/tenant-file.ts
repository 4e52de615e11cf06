// Reads and changes `tenants.json` in the data directory. It holds the names of tenants that were added to a
// running server, or by `trellis tenants add`. Tenants in trellis.toml are not in it. The data of NAME are in
// `tenants/NAME` below the data directory.
//
// Invariant: a dropped tenant leaves no data under its name, so that a tenant of the same name starts empty.
// Its folder is renamed before its name is removed from the file, and is deleted last.
import { existsSync, readFileSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Check } from 'typebox/schema';
import {
  excerpt,
  fail,
  makeFolder,
  removeLargeFolder,
  replaceFile,
  throwShortage,
} from '../../engine/internal.js';

const fileSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['version', 'tenants'],
  properties: {
    version: { const: 1 },
    tenants: { type: 'array', items: { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,62}$' } },
  },
} as const;

const nameForm = /^[a-z0-9][a-z0-9_-]{0,62}$/;
/** Suffix of the folder of a dropped tenant. No tenant has such a name. */
const droppedEnd = '.dropped';

const pathIn = (dataDir: string): string => join(dataDir, 'tenants.json');

export const tenantFolder = (dataDir: string, name: string): string =>
  join(dataDir, 'tenants', name);

/** Returns the names in the file, none if there is no file. Fails CONFIG_INVALID if it is damaged. */
export function readTenantFile(dataDir: string): string[] {
  const path = pathIn(dataDir);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throwShortage(error);
    const { code } = error as NodeJS.ErrnoException;
    // A data directory that is a file is refused later, by a better error.
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    return fail('CONFIG_INVALID', { what: `${path} cannot be read (${code})` });
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    content = undefined;
  }
  if (Check(fileSchema, content)) return (content as { tenants: string[] }).tenants;
  return fail('CONFIG_INVALID', { what: `${path} is no list of tenants.` });
}

function writeTenantFile(dataDir: string, tenants: readonly string[]): void {
  replaceFile(pathIn(dataDir), `${JSON.stringify({ version: 1, tenants })}\n`);
}

function reject(name: string, allowed: string): never {
  const args = { param: 'name', allowed, got: JSON.stringify(excerpt(name)) };
  return fail('PARAM_VALUE', args, { path: '/name' });
}

/**
 * Adds a tenant to the file. `existing` are all databases of the server. Fails PARAM_VALUE if the name is not
 * valid or not free.
 */
export async function addToTenantFile(
  dataDir: string,
  name: string,
  existing: ReadonlyMap<string, string>,
): Promise<void> {
  if (!nameForm.test(name))
    reject(
      name,
      'at most 63 lower-case letters, digits, - and _, beginning with a letter or digit',
    );
  if (existing.has(name)) reject(name, 'a name that no database has');
  if (existsSync(tenantFolder(dataDir, name)))
    reject(name, `a name without data: ${join('tenants', name)} exists`);
  makeFolder(dataDir);
  await removeDropped(dataDir);
  writeTenantFile(dataDir, [...readTenantFile(dataDir), name]);
}

/**
 * Removes a tenant from the file and deletes its data. Its database must be closed. Fails TENANT_UNKNOWN, or
 * PARAM_VALUE for a tenant that is not in the file.
 */
export async function dropFromTenantFile(
  dataDir: string,
  name: string,
  existing: ReadonlyMap<string, string>,
): Promise<void> {
  checkMayDrop(dataDir, name, existing);
  const folder = tenantFolder(dataDir, name);
  await removeDropped(dataDir);
  if (existsSync(folder)) renameSync(folder, `${folder}${droppedEnd}`);
  writeTenantFile(
    dataDir,
    readTenantFile(dataDir).filter((one) => one !== name),
  );
  await removeDropped(dataDir);
}

/**
 * Fails TENANT_UNKNOWN if there is no such database, and PARAM_VALUE if its name is not in the file.
 */
export function checkMayDrop(
  dataDir: string,
  name: string,
  existing: ReadonlyMap<string, string>,
): void {
  if (!existing.has(name)) fail('TENANT_UNKNOWN', { tenant: excerpt(name) });
  if (readTenantFile(dataDir).includes(name)) return;
  reject(name, 'a tenant that was added; remove others from the configuration');
}

/** Removes the folders of dropped tenants, including those that a crash has left. */
async function removeDropped(dataDir: string): Promise<void> {
  const folder = join(dataDir, 'tenants');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder))
    if (name.endsWith(droppedEnd)) await removeLargeFolder(join(folder, name));
}
