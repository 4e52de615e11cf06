// Keyword search: BM25 hits of one type from the text index, best first, each with its score.
import { fail } from '../../base/errors.js';
import type { DocumentText } from '../../base/text/document-text.js';
import { type SearchMode, isSearchMode, searchModes } from '../../base/text/search-mode.js';
import { searchMarks, textsOf } from '../../storage/record/text-document.js';
import type { Label } from '../../storage/table/view-types.js';
import type { SearchRequest } from '../../text/text-index-types.js';
import { readK, readScoreMin, readText } from '../runtime/step-argument.js';
import type { RowFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { type ToParents, widenedParents } from './best-per-parent.js';
import { type Allowed, allowedIds, allowListOf, isAllowed } from './allow-list.js';
import { Element, type Value, searchHit } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';

export interface TextSearch {
  text: Evaluate;
  k: Evaluate;
  /** PREFILTER, tested with the element in `slot`. */
  prefilter: { slot: number; condition: Evaluate } | undefined;
  /** The elements that pass, if another search needs to compute them anyway. */
  allowed: Allowed | undefined;
  /** Hits with a lower score are dropped. */
  scoreMin: Evaluate | undefined;
  by: ToParents | undefined;
  mode: Evaluate | undefined;
  prefix: Evaluate | undefined;
}

export function searchText(label: Label, search: TextSearch): RowFlow {
  return { kind: 'rows', open: (frame) => searchTextRows(frame, label, search) };
}

function* searchTextRows(
  frame: Frame,
  label: Label,
  search: TextSearch,
): Iterable<readonly Value[]> {
  const { text, k, prefilter, allowed, by } = search;
  const index = frame.context.text;
  if (index === undefined) fail('FEATURE_DISABLED', { feature: 'Keyword search' });
  const query = readText(frame, text, 'SearchBM25');
  const count = readK(frame, k, 'SearchBM25');
  const allow = allowed ? idFilter(frame, allowed) : prefilter && passing(frame, prefilter);
  const lowest = readScoreMin(frame, search.scoreMin);
  const request: SearchRequest = {
    mode: readMode(frame, search.mode),
    prefix: search.prefix?.(frame) === true,
    marks: searchMarks(label),
    textsOf: (id) => readTexts(frame, label, id),
  };
  const ranked = (max: number): Element[] =>
    index.search(frame.view, label.id, query, max, allow, request).flatMap(({ id, score }) => {
      if (score < lowest) return [];
      const element = new Element(id);
      element.hit = searchHit(score, Number.NaN);
      return [element];
    });
  const hits = by
    ? widenedParents(frame, by, count, ranked, Number.MAX_SAFE_INTEGER)!
    : ranked(count);
  if (hits.length > 0) yield hits;
}

function readMode(frame: Frame, mode: Evaluate | undefined): SearchMode {
  const value = mode?.(frame) ?? 'any';
  if (typeof value === 'string' && isSearchMode(value)) return value;
  const allowed = searchModes.join(', ');
  return fail('PARAM_VALUE', { param: 'mode', allowed, got: String(value) });
}

/** Reads the texts on which a phrase is proved; each document costs a visit for every kilobyte. */
function readTexts(frame: Frame, label: Label, id: number): readonly DocumentText[] {
  const record = frame.readRecord(id);
  if (record === undefined) return [];
  frame.tick(1 + (record.length >>> 10));
  return textsOf(label, record);
}

function passing(frame: Frame, { slot, condition }: NonNullable<TextSearch['prefilter']>) {
  return (id: number): boolean => {
    frame.tick(1);
    frame.slots[slot] = new Element(id);
    return condition(frame) === true;
  };
}

function idFilter(frame: Frame, allowed: Allowed) {
  const list = allowListOf(allowedIds(frame, allowed));
  return (id: number): boolean => {
    frame.tick(1);
    return isAllowed(list, id);
  };
}
