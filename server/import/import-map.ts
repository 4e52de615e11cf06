// The mapping of `trellis import --mapping FILE`: which files hold rows of which type, and what their
// columns are. The file is TOML. Keys outside of [[files]] apply to all files.
//
//   date_format = "YYYYMMDDhhmmssSSS"
//   [[files]]
//   path = "nodes/*.csv"
//   columns = { id = "ldbcId" }
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type ElementKind, excerpt, fail, nearestName } from '../../engine/internal.js';
import { type Table, isTable, parseToml } from '../config/toml.js';

/** Settings of files, from flags or from a mapping. */
export interface FileSettings {
  node?: string;
  edge?: string;
  vector?: string;
  delimiter?: string;
  date_format?: string;
  list_delimiter?: string;
  /** A file whose first line is the header. */
  header?: string;
  id?: string;
  from?: string;
  to?: string;
  from_key?: string;
  to_key?: string;
  upsert?: string;
  columns?: Record<string, string>;
  skip?: string[];
}

export interface MappedFiles {
  /** `*` matches anything within a name, `**` matches folders. */
  path: string;
  settings: FileSettings;
}

export interface ImportMap {
  folder: string;
  files: MappedFiles[];
}

const texts = [
  ...['node', 'edge', 'vector', 'delimiter', 'date_format', 'list_delimiter', 'header'],
  ...['id', 'from', 'to', 'from_key', 'to_key', 'upsert'],
] as const;
const known = [...texts, 'columns', 'skip'];

export const kinds = ['node', 'edge', 'vector'] as const satisfies readonly ElementKind[];

/** Fails CONFIG_INVALID. */
export function readMap(path: string): ImportMap {
  const name = basename(path);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return fail('CONFIG_INVALID', { what: `There is no file ${path}.` }, { hint: '' });
  }
  const { files = [], ...common } = parseToml(text, name);
  const all = settingsOf(common, name);
  if (!Array.isArray(files)) refuse(name, '`files` is written as [[files]]');
  return {
    folder: dirname(path),
    files: (files as unknown[]).map((entry) => {
      if (!isTable(entry) || typeof entry.path !== 'string') {
        return refuse(name, 'every [[files]] needs a `path`');
      }
      const { path: glob, ...own } = entry;
      return { path: glob as string, settings: { ...all, ...settingsOf(own, name) } };
    }),
  };
}

function settingsOf(table: Table, name: string): FileSettings {
  for (const [key, value] of Object.entries(table)) {
    if (!known.includes(key)) {
      const near = nearestName(key, known);
      const meant = near === undefined ? `known are ${known.join(', ')}` : `did you mean ${near}?`;
      refuse(name, `it has ${excerpt(key)}; ${meant}`);
    }
    const isRight =
      key === 'columns'
        ? isTable(value) && Object.values(value).every((one) => typeof one === 'string')
        : key === 'skip'
          ? Array.isArray(value) && value.every((one) => typeof one === 'string')
          : typeof value === 'string';
    const form = { columns: 'a table of texts', skip: 'a list of texts' }[key] ?? 'a text';
    if (!isRight) refuse(name, `\`${key}\` must be ${form}`);
  }
  return table as FileSettings;
}

function refuse(name: string, what: string): never {
  return fail('CONFIG_INVALID', { what: `${name}: ${what}.` }, { hint: '' });
}

/**
 * Returns whether a glob matches a path with `/` between its parts. The time is proportional to the
 * product of both lengths.
 */
export function fits(glob: string, path: string): boolean {
  const parts = glob.replace(/^\.\//, '').match(/\*\*\/|\*\*|\*|[^*]/gs) ?? [];
  // By character of the path: whether the characters before it match the parts of the glob so far.
  let fitting = new Uint8Array(path.length + 1);
  fitting[0] = 1;
  for (const part of parts) {
    const next = new Uint8Array(path.length + 1);
    let isWithin = false;
    for (let at = 0; at <= path.length; at++) {
      if (part.startsWith('*')) {
        isWithin = (isWithin && (part !== '*' || path[at - 1] !== '/')) || fitting[at] === 1;
        // `**` ends at a `/`, and can match no folder.
        const isEnd = part !== '**/' || fitting[at] === 1 || path[at - 1] === '/';
        next[at] = isWithin && isEnd ? 1 : 0;
      } else if (at > 0 && path[at - 1] === part) next[at] = fitting[at - 1]!;
    }
    fitting = next;
  }
  return fitting[path.length] === 1;
}
