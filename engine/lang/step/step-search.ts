// Checks searches within a stream, and rerankers.
import { typeArgument } from '../argument/call-argument.js';
import { namedArguments, searchArguments } from '../argument/named-argument.js';
import type { Argument, Call } from '../syntax/ast-expression.js';
import type { Context, StepChecker } from '../type/context.js';
import { single } from '../type/load-conversion.js';
import {
  numberArgument,
  resultCount,
  scoreArgument,
  vectorArgument,
} from '../argument/argument-kind.js';
import type { Scope } from '../type/scope.js';
import { bare } from '../type/shape.js';
import { elements } from './source-step.js';
import { append, toRows } from '../type/stream.js';
import { type TypedExpr, wholeType } from '../type/typed-expression.js';
import { printItemType } from '../type/type-print.js';
import { isBasic, isUnknownOrNull, type ItemType } from '../type/type.js';

/** Returns the vectors of a stream, of one type or any; undefined after a report. */
function findVectors(
  context: Context,
  from: TypedExpr,
  call: Call,
  name?: string,
): ItemType | undefined {
  if (isUnknownOrNull(from.type)) return from.type;
  const types = from.type.kind === 'element' ? from.type.types : [];
  const vectors = types.filter(
    (t) => t.kind === 'vector' && (name === undefined || t.name === name),
  );
  const isFar = from.type.kind === 'element' && from.type.hops;
  if (vectors.length > 0) return { ...elements(vectors), ...(isFar && { hops: true }) } as ItemType;
  const what = printItemType(from.type);
  const wanted = name === undefined ? 'vectors' : `vectors of type \`${name}\``;
  const message = `\`${call.name.text}\` needs ${wanted}, not ${what}.`;
  context.report('E603', call.name.span, message, 'Step to the vectors first.');
  return undefined;
}

export const checkSearchWithin: StepChecker = (context, input, call, scope) => {
  const from = toRows(input);
  const type = typeArgument(context, call, 'vector');
  const { positional, named } = searchArguments(
    context,
    call,
    ['min_score'],
    'SearchV<Type>(vector, k)',
  );
  const [written, count] = positional ?? [];
  const vector = written && vectorArgument(context, written, scope, type?.text ?? '', true);
  const k = count && resultCount(context, count, scope);
  const scoreMin = scoreArgument(context, named, scope);
  const found = type && findVectors(context, from, call, type.text);
  if (found === undefined || vector === undefined || k === undefined) {
    return { ...from, cardinality: 'many' };
  }
  const { shape } = from;
  const hits: ItemType = found.kind === 'element' ? { ...found, hit: 'vector' } : found;
  const step = { kind: 'searchWithin', type: type!.text, vector, k, ...scoreMin } as const;
  return append(from, step, { type: hits, cardinality: 'many', ...(shape && { shape }) });
};

/** Returns the named arguments; reports unknown and repeated names. */
function stepArguments(
  context: Context,
  call: Call,
  known: readonly string[],
): Map<string, Argument> {
  const form = known.map((name) => `${name}: …`).join(', ');
  return namedArguments(context, call.args ?? [], known, `${call.name.text}(${form})`);
}

const reranked = (from: TypedExpr): TypedExpr['type'] =>
  from.type.kind === 'element' ? { ...from.type, hit: 'reranked' } : from.type;

export const checkRerankRRF: StepChecker = (context, input, call, scope) => {
  const from = toRows(input);
  const k = stepArguments(context, call, ['k']).get('k');
  const typed = k && numberArgument(context, k.value, scope, '`k`');
  const { shape } = from;
  const step = { kind: 'rerankRRF', k: typed?.expression ?? null } as const;
  return append(from, step, {
    type: reranked(from),
    cardinality: 'many',
    ...(shape && { shape }),
  });
};

export const checkRerankMMR: StepChecker = (context, input, call, scope) => {
  const from = toRows(input);
  findVectors(context, from, call);
  const args = stepArguments(context, call, ['lambda', 'distance']);
  const lambda = args.get('lambda');
  if (lambda === undefined) {
    const hint = 'Write `RerankMMR(lambda: 0.5)`.';
    context.report('E305', call.span, '`RerankMMR` needs `lambda`.', hint);
    return { ...from, cardinality: 'many' };
  }
  const weight = numberArgument(context, lambda.value, scope, '`lambda`');
  const measure = args.get('distance');
  const distance = measure && checkDistance(context, measure, scope);
  const { shape } = from;
  const change = { type: reranked(from), cardinality: 'many', ...(shape && { shape }) } as const;
  if (weight === undefined) return { ...from, cardinality: 'many' };
  const lambdaValue = weight.expression;
  const step = { kind: 'rerankMMR', lambda: lambdaValue, distance: distance ?? null } as const;
  return append(from, step, change);
};

const measures = ['cosine', 'euclidean', 'dotproduct'];

function checkDistance(context: Context, { value }: Argument, scope: Scope) {
  const typed = single(bare(context, context.check(value, scope)), scope.miss, '`distance`');
  const type = wholeType(typed);
  if (typed.literal?.kind === 'string' && !measures.includes(typed.literal.value)) {
    const hint = `There are ${measures.map((name) => `"${name}"`).join(', ')}.`;
    context.report('E206', value.span, `"${typed.literal.value}" is no distance.`, hint);
  } else if (!isBasic(type, 'String') && !isBasic(type, 'Null')) {
    context.report('E205', value.span, `A distance is a String, not ${printItemType(type)}.`);
  }
  return typed.expression;
}
