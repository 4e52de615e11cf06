// What the state (02 of meta.ts) tells of the lists of types, without the cost of the rest.
import { type State, metaKey } from '../table/meta.js';
import type { Table } from '../table/table.js';
import { getWord } from '../table/word.js';

export type Listing = Pick<State, 'nextId' | 'commits' | 'departures'>;

export function readListing(meta: Table<Uint8Array>): Listing {
  const value = meta.peek(metaKey.state);
  if (value === undefined) return { nextId: 1, commits: 0, departures: 0 };
  return { nextId: getWord(value, 0), commits: getWord(value, 4), departures: getWord(value, 16) };
}
