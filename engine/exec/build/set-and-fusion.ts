// Compiles sources that combine several lists: sets and fusions. A list that is a pipeline is pulled as far
// as needed; any other list is evaluated.
import type { Expression, Source } from '../../plan/expression.js';
import { cannotThrow } from '../../plan/can-throw.js';
import { combined } from '../operators/set.js';
import { rowsOfValue } from '../operators/source.js';
import type { Builder } from '../runtime/build-context.js';
import type { Flow } from '../runtime/flow.js';
import { fuse } from '../search/reciprocal-rank-fusion.js';

export function buildCombined(
  builder: Builder,
  source: Extract<Source, { kind: 'set' | 'fuse' }>,
): Flow {
  const lists = source.of.map((each) => flowOf(builder, each));
  if (source.kind === 'fuse') {
    const [constant, weights] = [source.k, source.weights].map((each) =>
      each === null ? undefined : builder.value(each),
    );
    const { by } = source;
    const toParents = by && { slot: by.slot, value: builder.value(by.value) };
    const shared = source.of.flatMap(sharedBy);
    return fuse({ lists, constant, weights, shared, by: toParents });
  }
  // Without the parameters, a bound that is a parameter counts as able to fail.
  const canFail = source.of.map((each) => !cannotThrow(each, []));
  const held = source.of.map((each) => (each.kind === 'slot' ? builder.value(each) : undefined));
  return combined(source.operation, lists, canFail, held);
}

function flowOf(builder: Builder, expression: Expression): Flow {
  return expression.kind === 'pipeline' && expression.result === 'many'
    ? builder.flow(expression)
    : rowsOfValue(builder.value(expression));
}

/** Returns the ids of search filters that other searches share. */
function sharedBy(list: Expression): number[] {
  const source = list.kind === 'pipeline' ? list.source : undefined;
  const isSearch = source?.kind === 'searchVector' || source?.kind === 'searchText';
  return isSearch && source.shared !== undefined ? [source.shared] : [];
}
