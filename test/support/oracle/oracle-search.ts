// Searches of the oracle (helixql.md 3.14 to 3.16): every element is looked at and scored by the
// formula, then sorted.
import { fail } from '../../../engine/base/errors.js';
import { limitTable } from '../../../engine/base/limits.js';
import type { ElementType } from '../../../engine/base/schema.js';
import type { Source, Step } from '../../../engine/plan/expression.js';
import { distinct } from './oracle-compare.js';
import { isList, Item, type OracleElement, rowsOf, type Value } from './oracle-value.js';
import { numberOf, vectorOf } from './oracle-argument.js';
import { perItem, type Run } from './oracle-run.js';

type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;
type SourceOf<K extends Source['kind']> = Extract<Source, { kind: K }>;

const kMax = limitTable.search_k.default;

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, x, i) => sum + x * b[i]!, 0);
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const norms = Math.sqrt(dot(a, a)) * Math.sqrt(dot(b, b));
  return norms === 0 ? 0 : Math.max(-1, Math.min(1, dot(a, b) / norms));
}

function similarity(metric: string, a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return 0;
  if (metric === 'dotproduct') return dot(a, b);
  if (metric === 'cosine') return cosine(a, b);
  return 1 / (1 + a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0));
}

interface Query {
  vector: number[];
  k: number;
  least: number;
}

function queryOf(run: Run, { vector, k, scoreMin }: Omit<StepOf<'searchWithin'>, 'kind'>): Query {
  const wanted = vectorOf(run.value(vector));
  const count = numberOf(run.value(k), 'k', 1, kMax);
  const least = scoreMin ? Number(run.value(scoreMin)) : Number.NEGATIVE_INFINITY;
  return { vector: wanted, k: count, least };
}

/** Best first, ties by age. */
function best({ vector, k, least }: Query, elements: readonly OracleElement[]): Item[] {
  return elements
    .filter((element) => element.vector?.length === vector.length)
    .map((element) => {
      const score = cosine(vector, element.vector!);
      return new Item(element, score, 1 - score);
    })
    .filter(({ score }) => score! >= least)
    .sort((a, b) => b.score! - a.score! || a.element.id - b.element.id)
    .slice(0, k);
}

export function searchVector(run: Run, source: SourceOf<'searchVector'>): Item[] {
  const query = queryOf(run, source);
  run.graph.checkDimension(source.type, query.vector, false);
  const all = run.graph.all({ kind: 'vector', name: source.type });
  const { prefilter } = source;
  const allowed = all.filter(
    (element) => prefilter === undefined || perItem(run, prefilter, new Item(element)) === true,
  );
  return best(query, allowed);
}

export function searchAnyVector(run: Run, source: SourceOf<'searchAnyVector'>): Item[] {
  const query = queryOf(run, source);
  const filled = run.graph.schema.vectors.filter((type) => run.graph.all(type).length > 0);
  const { length } = query.vector;
  if (filled.length > 0 && filled.every(({ name }) => run.graph.dimensions.get(name) !== length))
    run.graph.checkDimension(filled[0]!.name, query.vector, false);
  return best(query, run.graph.all(...run.graph.schema.vectors));
}

export function searchWithin(run: Run, step: StepOf<'searchWithin'>, rows: readonly Value[]) {
  const query = queryOf(run, step);
  const { type } = step;
  if (type !== undefined) run.graph.checkDimension(type, query.vector, false);
  const elements = rows
    .flatMap((row) => (row instanceof Item && row.element.alive ? [row.element] : []))
    .filter((element) => element.type.kind === 'vector')
    .filter((element) => type === undefined || element.type.name === type);
  if (elements.length > 0 && elements.every((e) => e.vector!.length !== query.vector.length))
    run.graph.checkDimension(elements.at(-1)!.type.name, query.vector, false);
  return best(query, elements);
}

/** Texts of the oracle's worlds consist of symbols, and of words that are their own stems and no stop words. */
const termsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+|[\p{So}\p{Extended_Pictographic}]/gu) ?? [];

/** The terms of an element. */
function documentOf({ values, type }: OracleElement): string[] {
  const texts = type.properties.flatMap(({ name, type: of }): string[] => {
    const innermost = of.kind === 'list' ? of.of : of;
    if (innermost.kind !== 'scalar' || innermost.name !== 'String') return [];
    return [values.get(name) ?? []].flat() as string[];
  });
  return texts.flatMap(termsOf);
}

export function searchText(run: Run, source: SourceOf<'searchText'>): Item[] {
  const text = run.value(source.text);
  if (typeof text !== 'string') fail('PARAM_MISSING', { owner: 'q', param: 'q', type: 'String' });
  const k = numberOf(run.value(source.k), 'k', 1, kMax);
  const type: ElementType = run.graph.type(source.type);
  // What has no terms is no document.
  const documents = run.graph
    .all(type)
    .map((element) => ({ element, terms: documentOf(element) }))
    .filter(({ terms }) => terms.length > 0);
  const total = documents.reduce((sum, { terms }) => sum + terms.length, 0);
  const average = total / documents.length;
  const frequency = (terms: readonly string[], term: string) =>
    terms.filter((other) => other === term).length;
  const weights = [...new Set(termsOf(text))].map((term) => {
    const n = documents.filter(({ terms }) => terms.includes(term)).length;
    return { term, weight: Math.log(1 + (documents.length - n + 0.5) / (n + 0.5)) };
  });
  const { prefilter } = source;
  return documents
    .filter(({ terms }) => weights.some(({ term }) => terms.includes(term)))
    .filter(({ element }) => !prefilter || perItem(run, prefilter, new Item(element)) === true)
    .map(({ element, terms }) => {
      const norm = 1.2 * (0.25 + (0.75 * terms.length) / average);
      const score = weights.reduce((sum, { term, weight }) => {
        const f = frequency(terms, term);
        return sum + (weight * f * 2.2) / (f + norm);
      }, 0);
      return new Item(element, score);
    })
    .sort((a, b) => b.score! - a.score! || a.element.id - b.element.id)
    .slice(0, k);
}

const rescored = (item: Item, score: number) => item.marked(score, item.distance);

export function rerankRRF(run: Run, step: StepOf<'rerankRRF'>, rows: readonly Value[]): Value[] {
  const given = step.k && run.value(step.k);
  const n = given === null ? 60 : numberOf(given, 'k', 0, Number.MAX_VALUE);
  // Edges have no `score`.
  return rows.map((row, i) =>
    row instanceof Item && row.element.type.kind !== 'edge' ? rescored(row, 1 / (n + i + 1)) : row,
  );
}

export function rerankMMR(run: Run, step: StepOf<'rerankMMR'>, rows: readonly Value[]): Value[] {
  const lambda = numberOf(run.value(step.lambda), 'lambda', 0, 1);
  const metric = step.distance ? run.value(step.distance) : 'cosine';
  const left = rows.filter((row): row is Item => row instanceof Item);
  const taken: Item[] = [];
  while (left.length > 0) {
    const scores = left.map((item) => {
      const near = taken.map((other) =>
        similarity(String(metric), item.vector ?? [], other.vector ?? []),
      );
      const penalty = near.length === 0 ? 0 : Math.max(...near);
      return lambda * (item.share ?? item.score ?? 0) - (1 - lambda) * penalty;
    });
    const score = Math.max(...scores);
    const [chosen] = left.splice(scores.indexOf(score), 1);
    taken.push(rescored(chosen!, score));
  }
  return taken;
}

export function fuse(run: Run, { of, k, weights }: SourceOf<'fuse'>): Item[] {
  const constant = k === null ? 60 : numberOf(run.value(k), 'k', 0, Number.MAX_VALUE);
  const parts = weights === null ? of.map(() => 1) : weightsOf(run.value(weights), of.length);
  const lists = of.map((each) =>
    distinct(rowsOf(run.value(each))).filter((row): row is Item => row instanceof Item),
  );
  const most = parts.reduce((sum, weight) => sum + weight / (constant + 1), 0);
  const used = lists.filter((_, i) => parts[i]! > 0);
  return (distinct(used.flat()) as readonly Item[])
    .map((row) => {
      const { element } = row;
      let score = 0;
      for (const [i, list] of lists.entries()) {
        const at = list.findIndex((item) => item.element === element);
        if (at >= 0 && parts[i]! > 0) score += parts[i]! / (constant + at + 1);
      }
      const distances = used.flat().filter((item) => item.element === element);
      const { distance } = distances.find((item) => item.distance !== undefined) ?? {};
      return row.marked(score, distance, score / most);
    })
    .sort((a, b) => b.score! - a.score! || a.element.id - b.element.id)
    .map((row) => (row.element.type.kind === 'edge' ? row.marked() : row)); // Without `score`.
}

function weightsOf(value: Value, count: number): number[] {
  if (value === null) fail('PARAM_MISSING', { owner: 'q', param: 'weights', type: '[F64]' });
  const given = isList(value) ? value : [value];
  if (given.length !== count)
    fail('PARAM_VALUE', { param: 'weights', allowed: 'one per list', got: String(given.length) });
  return given.map((weight) => numberOf(weight, 'weights', 0, Number.MAX_VALUE));
}
