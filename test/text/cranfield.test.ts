// Quality on the Cranfield collection: nDCG@10 is at least that of a reference BM25 with stemming.
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { createTextIndex } from '../../engine/text/text-index.js';
import { derivedMemory } from '../support/derived-memory.js';

const folder = new URL('../../../shared/data/ir-cranfield/', import.meta.url);
const present = existsSync(new URL('docs.ndjson.gz', folder));
if (!present) console.log('skipped: ../shared/data/ir-cranfield is not there');

const lines = (file: string): string[] =>
  gunzipSync(readFileSync(new URL(file, folder)))
    .toString()
    .trim()
    .split('\n');

const gain = (grades: number[]): number =>
  grades.slice(0, 10).reduce((sum, grade, i) => sum + grade / Math.log2(i + 2), 0);

describe.skipIf(!present)('Cranfield', () => {
  it('has at least the nDCG@10 of before: 0.5326', () => {
    const index = createTextIndex(defaultLimits);
    const view = derivedMemory();
    const documents = lines('docs.ndjson.gz').map((line) => JSON.parse(line));
    for (const { id, text } of documents) index.add(view, 1, Number(id), [text]);
    const grades = new Map<string, Map<number, number>>();
    for (const line of lines('qrels.tsv.gz').slice(1)) {
      const [query, document, grade] = line.split('\t');
      if (!grades.has(query!)) grades.set(query!, new Map());
      grades.get(query!)!.set(Number(document), Number(grade));
    }
    let sum = 0;
    const queries = lines('queries.ndjson.gz').map((line) => JSON.parse(line));
    for (const { id, text } of queries) {
      const judged = grades.get(id)!;
      const found = index.search(view, 1, text, 10).map((hit) => judged.get(hit.id) ?? 0);
      const ideal = [...judged.values()].sort((a, b) => b - a);
      sum += gain(found) / gain(ideal);
    }
    const score = sum / queries.length;
    console.log(`Cranfield nDCG@10 ${score.toFixed(4)} over ${queries.length} queries`);
    expect(score).toBeGreaterThanOrEqual(0.5326);
  });
});
