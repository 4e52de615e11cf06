// Reads configuration files as flat keys: `[server] port = 1` becomes `server.port`. Only this file imports
// the TOML parser.
import { TomlError, parse } from 'smol-toml';
import { fail } from '../../engine/internal.js';

export type Table = Record<string, unknown>;

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Fails CONFIG_INVALID with line and column. */
export function parseToml(text: string, name: string): Table {
  try {
    return parse(text) as Table;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
    const what = `${name}:${error.line}:${error.column} is not TOML: ${reason}.`;
    return fail('CONFIG_INVALID', { what });
  }
}

export function parseJsonTable(text: string, name: string): Table {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fail('CONFIG_INVALID', { what: `${name} is not JSON: ${(error as Error).message}.` });
  }
  return isTable(value) ? value : fail('CONFIG_INVALID', { what: `${name} is no JSON object.` });
}

/**
 * Returns the leaves of nested tables under dotted keys. An empty table in place of a value (`isKey`) stays a
 * leaf and is refused later.
 */
export function flatten(
  table: Table,
  isKey: (name: string) => boolean,
  prefix = '',
): Map<string, unknown> {
  const flat = new Map<string, unknown>();
  for (const [name, value] of Object.entries(table)) {
    const path = prefix + name;
    const isLeaf = !isTable(value) || (Object.keys(value).length === 0 && isKey(path));
    if (isLeaf) flat.set(path, value);
    else for (const [key, leaf] of flatten(value, isKey, `${path}.`)) flat.set(key, leaf);
  }
  return flat;
}
