// Keyword search: BM25 hits of one type from the text index, best first, each with its score.
import { fail } from '../../base/errors.js';
import type { Label } from '../../storage/table/view-types.js';
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
}

export function searchText(label: Label, search: TextSearch): RowFlow {
  return { kind: 'rows', open: (frame) => searchTextRows(frame, label, search) };
}

function* searchTextRows(
  frame: Frame,
  label: Label,
  { text, k, prefilter, allowed, scoreMin, by }: TextSearch,
): Iterable<readonly Value[]> {
  const index = frame.context.text;
  if (index === undefined) fail('FEATURE_DISABLED', { feature: 'Keyword search' });
  const query = readText(frame, text, 'SearchBM25');
  const count = readK(frame, k, 'SearchBM25');
  const allow = allowed ? idFilter(frame, allowed) : prefilter && passing(frame, prefilter);
  const lowest = readScoreMin(frame, scoreMin);
  const ranked = (max: number): Element[] =>
    index.search(frame.view, label.id, query, max, allow).flatMap(({ id, score }) => {
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
