// What HelixDB 2.3.5 was seen to answer (../shared/data/helixdb-2.3.5-answers), and in what our
// answers differ on purpose (test/corpus/compat/differences.json). Owns how the two are compared:
// members in any order, numbers by their form (5.0 is not 5) and within a float's last digits.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Exact, NumberToken } from '../corpus/exact-json.js';
import { root } from '../project.js';

const folder = join(root, '..', 'shared', 'data', 'helixdb-2.3.5-answers');

export const isPresent = existsSync(folder);

export interface RecordedCall {
  /** Label of the element that the call makes; later bodies say `$label`. */
  name?: string;
  query: string;
  body?: unknown;
  /** An HTTP status, or how HelixDB's process ended. */
  status: number | string;
  /** JSON text with ids as `<label>`. */
  answer: string;
}

/** How our answer to some calls differs. */
export interface Change {
  /** Our status and error code. */
  status?: number;
  code?: string | null;
  /** Our answer as a whole, with ids as `<label>`. */
  answer?: unknown;
  /** Members that HelixDB's answer has and ours has not, at any depth. */
  drop?: string[];
  /** Members that our response has in addition. */
  extra?: string[];
  /** Lists are in another order. */
  unordered?: boolean;
  /** Members whose values are not compared. */
  ignore?: string[];
  /** Members of HelixDB's answer by their names in ours. */
  rename?: Record<string, string>;
  /** Our answer has another form; only its status is compared. */
  any?: boolean;
}

/** A call made between two recorded ones, so that both databases hold the same. */
interface AlsoCall extends Pick<RecordedCall, 'query' | 'body'> {
  before: string;
  why: string;
}

interface Difference {
  reason: string;
  change: Change;
  /** `"52 r_authorById"`: position and query of a call; for some, a change of their own. */
  calls: (string | [string, Change])[];
}

export function readCalls(): RecordedCall[] {
  return JSON.parse(readFileSync(join(folder, 'calls.json'), 'utf8'));
}

export function readProject(): Record<string, string> {
  const path = join(folder, 'project');
  const names = readdirSync(path).filter((name) => name.endsWith('.hx'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(path, name), 'utf8')]));
}

export function readDifferences(): { also: AlsoCall[]; differences: Difference[] } {
  const path = join(root, 'test/corpus/compat/differences.json');
  return JSON.parse(readFileSync(path, 'utf8'));
}

const isId = (value: Exact): boolean =>
  typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);

function sameNumber(a: string, b: string): boolean {
  if (a === b) return true;
  const isFloat = (token: string) => /[.eE]/.test(token);
  if (!isFloat(a) || !isFloat(b)) return false;
  return Math.abs(Number(a) - Number(b)) <= 1e-6 * Math.max(1, Math.abs(Number(a)));
}

/** Where and how an answer differs from what is wanted; undefined: nowhere. */
export function difference(
  wanted: Exact,
  got: Exact,
  ids: ReadonlyMap<string, string>,
  change: Change,
  at = '',
): string | undefined {
  const differs = `${at || '/'}: wanted ${printed(wanted)}, got ${printed(got)}`;
  if (wanted instanceof NumberToken && got instanceof NumberToken)
    return sameNumber(wanted.token, got.token) ? undefined : differs;
  if (wanted instanceof Map && got instanceof Map) {
    const { drop = [], extra = [], ignore = [], rename = {} } = change;
    for (const [name, ours] of Object.entries(rename)) {
      const value = wanted.get(name);
      if (value !== undefined) wanted.set(ours, value);
      wanted.delete(name);
    }
    const names = new Set([...wanted.keys(), ...got.keys()]);
    for (const name of names) {
      const [a, b] = [wanted.get(name), got.get(name)];
      if (a === undefined && extra.includes(name)) continue;
      if (b === undefined && drop.includes(name)) continue;
      if (a === undefined || b === undefined) return `${at}/${name}: only one has it`;
      if (ignore.includes(name)) continue;
      const found = difference(a, b, ids, change, `${at}/${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (Array.isArray(wanted) && Array.isArray(got)) {
    if (wanted.length !== got.length) return `${at}: ${wanted.length} items, got ${got.length}`;
    const left = [...got];
    for (const [i, item] of wanted.entries()) {
      const others = change.unordered ? left : [left[0]!];
      const found = others.map((other) => difference(item, other, ids, change, `${at}/${i}`));
      const place = found.indexOf(undefined);
      if (place < 0) return found[0];
      left.splice(place, 1);
    }
    return undefined;
  }
  if (typeof wanted === 'string') {
    const label = /^<(.+)>$/.exec(wanted)?.[1];
    if (label === 'new' && isId(got)) return undefined;
    return got === (label === undefined ? wanted : ids.get(label)) ? undefined : differs;
  }
  return wanted === got ? undefined : differs;
}

const printed = (value: Exact): string =>
  value instanceof NumberToken ? value.token : JSON.stringify(value)?.slice(0, 120);
