// Reads the three fields of the state record (02 of meta.ts) that label lists need, without decoding the
// rest.
import { type State, metaKey } from '../table/meta.js';
import type { Table } from '../table/table.js';
import { getWord } from '../table/little-endian.js';

export type LabelState = Pick<State, 'nextId' | 'commits' | 'removalCount'>;

export function readLabelState(meta: Table<Uint8Array>): LabelState {
  const value = meta.peek(metaKey.state);
  if (value === undefined) return { nextId: 1, commits: 0, removalCount: 0 };
  return {
    nextId: getWord(value, 0),
    commits: getWord(value, 4),
    removalCount: getWord(value, 16),
  };
}
