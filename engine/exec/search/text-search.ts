// Keyword search (helixql.md 3.15): BM25 hits of one type from the text index, best first, each
// with its score.
import { fail } from '../../base/errors.js';
import type { Label } from '../../storage/table/store.js';
import { readK, readText } from '../row/step-argument.js';
import type { RowFlow } from '../row/flow.js';
import { Element } from '../row/value.js';
import type { Evaluate } from '../row/compiled.js';

export interface TextSearch {
  text: Evaluate;
  k: Evaluate;
  /** PREFILTER: tested with the element in `slot`. */
  prefilter: { slot: number; condition: Evaluate } | undefined;
}

export function searchText(label: Label, { text, k, prefilter }: TextSearch): RowFlow {
  return {
    kind: 'rows',
    *open(frame) {
      const index = frame.context.text;
      if (index === undefined) fail('FEATURE_DISABLED', { feature: 'Keyword search' });
      const query = readText(frame, text, 'SearchBM25');
      const count = readK(frame, k, 'SearchBM25');
      const allow =
        prefilter &&
        ((id: number) => {
          frame.tick(1);
          frame.slots[prefilter.slot] = new Element(id);
          return prefilter.condition(frame) === true;
        });
      const hits = index.search(frame.view, label.id, query, count, allow).map((hit) => {
        const element = new Element(hit.id);
        element.score = hit.score;
        return element;
      });
      if (hits.length > 0) yield hits;
    },
  };
}
