// The three searches: their hits become the traversal, and all of them are returned.
import { excerpt, fail } from '../../base/errors.js';
import { isSearchMode, searchModes } from '../../base/text/search-mode.js';
import type { Limits } from '../../base/limits.js';
import { decodeVector } from '../../json/decode.js';
import { type Decoding, throwErrors } from '../../json/validation-error.js';
import type { TypeRef } from '../../base/schema.js';
import type { CostClass, Output } from '../../plan/plan.js';
import type { Expression, Source, Step } from '../../plan/expression.js';
import { type Arguments, optional, required } from '../argument/tool-argument.js';
import { flag, readCount, readNumber, readText, requiredText } from '../argument/argument-value.js';
import { lengthOf } from '../session.js';
import { estimateCost, itemsSource, literal, pipeline, sessionPlan } from '../session-plan.js';
import { type Vocabulary, unknownType } from '../argument/vocabulary.js';
import { includeData, type Tool } from '../tool-context.js';

/** The only argument of vector search plans. */
const vectorArgument: Expression = { kind: 'parameter', index: 0 };

const textSearchResults = 5;
const scoreMinDefault = 0;

/**
 * Blank session: searches all vectors of the dimension. Otherwise: exact search among the vectors of the
 * traversal.
 */
export const searchVector: Tool = (args, { traversal }, { limits }) => {
  const vector = readVector(args, limits);
  const k = requiredCount(args, 'k', limits);
  const query = { vector: vectorArgument, k: literal(k), scoreMin: readScoreMin(args) };
  const isBlank = traversal.items === undefined;
  const count = lengthOf(traversal);
  const source: Source = isBlank ? { kind: 'searchAnyVector', ...query } : itemsSource(count);
  const steps: Step[] = isBlank ? [] : [{ kind: 'searchWithin', ...query }];
  const plan = searchPlan(args, source, steps, isBlank ? 'B' : estimateCost(count));
  return { kind: 'run', plan, args: [vector], after: 'replace' };
};

/** Searches all vectors of the label by the vector of a text. */
export const searchVectorText: Tool = (args, _, { vocabulary, limits }) => {
  const { text, path: textPath } = requiredText(args, 'query');
  const { text: type, path } = requiredText(args, 'label');
  if (!vocabulary.vectors.has(type)) unknownType('vector', type, vocabulary.vectors.keys(), path);
  const view = optional(args, 'k');
  const k = view === undefined ? textSearchResults : readCount(view, 'k', limits.search_k);
  const query = { vector: vectorArgument, k: literal(k), scoreMin: readScoreMin(args) };
  const plan = searchPlan(args, { kind: 'searchVector', type, ...query }, [], 'B');
  checkText(text, textPath, limits);
  if (!/[\p{L}\p{N}]/u.test(text)) return { kind: 'answer', body: '[]', after: 'replace' };
  return { kind: 'run', plan, args: [], embed: { text, type }, after: 'replace' };
};

/** Searches all elements of a node or vector type by words. */
export const searchKeyword: Tool = (args, _, { vocabulary, limits, textEnabled }) => {
  if (!textEnabled) {
    const hint = 'Set `text.enabled` to true.';
    fail('FEATURE_DISABLED', { feature: 'Keyword search' }, { hint });
  }
  const { text, path: textPath } = requiredText(args, 'query');
  const { text: name, path } = requiredText(args, 'label');
  const { nodes, vectors } = vocabulary;
  if (!nodes.has(name) && !vectors.has(name))
    unknownType('node or vector', name, new Set([...nodes.keys(), ...vectors.keys()]), path);
  const k = literal(requiredCount(args, 'limit', limits));
  checkBytes(text, textPath, limits);
  const type: TypeRef = { kind: nodes.has(name) ? 'node' : 'vector', name };
  const options = readWordOptions(args, type, vocabulary);
  const source: Source = { kind: 'searchText', type, text: literal(text), k, ...options };
  return { kind: 'run', plan: searchPlan(args, source, [], 'B'), args: [], after: 'replace' };
};

/** Reads `mode` and `prefix`, which may be absent. */
function readWordOptions(
  args: Arguments,
  type: TypeRef,
  { nodes, vectors }: Vocabulary,
): { mode?: Expression; prefix?: Expression } {
  const modeView = optional(args, 'mode');
  const mode = modeView && readText(modeView, 'mode');
  if (mode !== undefined && !isSearchMode(mode)) {
    const allowed = searchModes.join(', ');
    fail('PARAM_VALUE', { param: 'mode', allowed, got: excerpt(mode) }, { path: modeView!.path });
  }
  const prefix = flag(args, 'prefix', false);
  const declared = (type.kind === 'node' ? nodes : vectors).get(type.name)?.properties ?? [];
  if (prefix && !declared.some(({ search }) => search?.prefix === true)) {
    const allowed = `false for ${type.name}, which keeps no beginnings of words`;
    const hint = 'Write `SEARCH(prefix: true)` in front of a property of the type.';
    fail('PARAM_VALUE', { param: 'prefix', allowed, got: 'true' }, { hint });
  }
  return {
    ...(mode === undefined ? {} : { mode: literal(mode) }),
    ...(prefix ? { prefix: { kind: 'literal', value: true } as const } : {}),
  };
}

function searchPlan(args: Arguments, source: Source, steps: Step[], cost: CostClass) {
  const value = pipeline(source, steps);
  const output: Output = { kind: 'items', value, answer: 'all', data: includeData(args) };
  return sessionPlan(args.owner, output, cost);
}

function readVector(args: Arguments, limits: Limits): Float64Array {
  const view = required(args, 'vector', '[F64]');
  const prefix = view.path.slice(0, view.path.lastIndexOf('/'));
  const decoding: Decoding = { owner: args.owner, limits, strict: false, prefix, errors: [] };
  const vector = decodeVector(view, decoding);
  throwErrors(decoding.errors);
  return vector!;
}

function requiredCount(args: Arguments, name: string, limits: Limits): number {
  return readCount(required(args, name, 'I64'), name, limits.search_k);
}

function readScoreMin(args: Arguments): Expression {
  const view = optional(args, 'min_score');
  return literal(view === undefined ? scoreMinDefault : readNumber(view, 'min_score'));
}

function checkBytes(text: string, path: string, limits: Limits): void {
  const size = Buffer.byteLength(text);
  if (size > limits.text_bytes)
    fail('TEXT_TOO_LONG', { size, unit: 'bytes', max: limits.text_bytes }, { path });
}

/** Limits a text that becomes a vector. */
function checkText(text: string, path: string, limits: Limits): void {
  checkBytes(text, path, limits);
  const words = text.match(/\S+/g)?.length ?? 0;
  if (words > limits.text_terms)
    fail('TEXT_TOO_LONG', { size: words, unit: 'terms', max: limits.text_terms }, { path });
}
