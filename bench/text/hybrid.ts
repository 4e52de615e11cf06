// `npm run bench -- hybrid [--dimensions 1024] [--rounds 3]`: the Cranfield collection by keywords, by
// vectors and by both in one query (RerankRRF): nDCG@10 of each, and the time of a call. The vectors
// come from the `hash` model, which knows words and no meaning; a real model moves the second row.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type EmbeddedDatabase, open } from '../../engine/internal.js';
import { numberOption } from '../support/bench-option.js';
import { dataSets } from '../support/data-set.js';
import { interleave, oneByOne } from '../support/sample-times.js';
import { printTable } from '../support/table.js';

const set = 'ir-cranfield';

const source = `
V::Abstract { no: U32, text: String }
QUERY add(rows: [{no: U32, text: String}]) =>
  FOR {no, text} IN rows { AddV<Abstract>(Embed(text), { no, text }) }
  RETURN "ok"
QUERY keyword(text: String) => hits <- SearchBM25<Abstract>(text, 10) RETURN hits::{no}
QUERY vector(text: String) => hits <- SearchV<Abstract>(Embed(text), 10) RETURN hits::{no}
QUERY fused(text: String) =>
  hits <- RerankRRF(SearchV<Abstract>(Embed(text), 100), SearchBM25<Abstract>(text, 100), k: 60)
    ::RANGE(0, 10)
  RETURN hits::{no}
QUERY weighted(text: String) =>
  hits <- RerankRRF(SearchV<Abstract>(Embed(text), 100), SearchBM25<Abstract>(text, 100),
    k: 60, weights: [1, 3])::RANGE(0, 10)
  RETURN hits::{no}
`;

const searches = ['keyword', 'vector', 'fused', 'weighted'];

interface Collection {
  documents: { no: number; text: string }[];
  queries: { id: string; text: string }[];
  /** Grades by query and document. */
  grades: Map<string, Map<number, number>>;
}

function readCollection(): Collection {
  const lines = (file: string): string[] => {
    const path = resolve('..', 'shared', 'data', set, file);
    return gunzipSync(readFileSync(path)).toString().trim().split('\n');
  };
  const grades: Collection['grades'] = new Map();
  for (const line of lines('qrels.tsv.gz').slice(1)) {
    const [query, document, grade] = line.split('\t');
    if (!grades.has(query!)) grades.set(query!, new Map());
    grades.get(query!)!.set(Number(document), Number(grade));
  }
  const documents = lines('docs.ndjson.gz').map((line) => {
    const { id, text } = JSON.parse(line) as { id: string; text: string };
    return { no: Number(id), text };
  });
  const queries = lines('queries.ndjson.gz').map(
    (line) => JSON.parse(line) as { id: string; text: string },
  );
  return { documents, queries, grades };
}

async function fill(folder: string, documents: Collection['documents'], dimensions: number) {
  const sources = [{ path: 'main.hx', text: source }];
  const db = await open({ dataDir: folder, sources, embeddingModel: `hash:${dimensions}` });
  const batch = 200;
  for (let at = 0; at < documents.length; at += batch)
    await db.call('add', { rows: documents.slice(at, at + batch) });
  return db;
}

const gain = (grades: readonly number[]): number =>
  grades.slice(0, 10).reduce((sum, grade, i) => sum + grade / Math.log2(i + 2), 0);

/** Mean nDCG@10 of a search over all queries. */
async function quality(db: EmbeddedDatabase, search: string, { queries, grades }: Collection) {
  let sum = 0;
  for (const { id, text } of queries) {
    const { hits } = await db.call<{ hits: { no: number }[] }>(search, { text });
    const judged = grades.get(id)!;
    const ideal = [...judged.values()].sort((a, b) => b - a);
    sum += gain(hits.map(({ no }) => judged.get(no) ?? 0)) / gain(ideal);
  }
  return sum / queries.length;
}

export async function run(args: string[]): Promise<void> {
  if ((await dataSets(set)) === undefined) return;
  const dimensions = numberOption(args, 'dimensions', 1024);
  const rounds = numberOption(args, 'rounds', 3);
  const collection = readCollection();
  const { documents, queries } = collection;
  const folder = mkdtempSync(join(tmpdir(), 'trellisdb-bench-'));
  try {
    const db = await fill(folder, documents, dimensions);
    const scores: number[] = [];
    for (const search of searches) scores.push(await quality(db, search, collection));
    const times = await interleave(searches, rounds, (search) =>
      oneByOne((n) => db.call(search, { text: queries[n % queries.length]!.text }), 1),
    );
    await db.close();
    console.log(
      `${documents.length} abstracts, ${queries.length} queries, model hash:${dimensions}`,
    );
    const columns = ['search', 'nDCG@10', 'p50 us', 'p99 us', 'CPU us/search'];
    const rows = searches.map((search, i) => {
      const { p50, p99, cpu } = times[i]!.rounds;
      return [search, scores[i]!.toFixed(4), p50, p99, cpu];
    });
    console.log(printTable(columns, rows));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
