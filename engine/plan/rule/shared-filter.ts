// Evaluates a filter that fused searches share once for all of them. Applies only with a vector
// search among them; otherwise each search filters only the few elements that it proposes, which is
// cheaper.
import type { Expression, ItemExpression, Source } from '../expression.js';
import { cannotThrow, type Parameters } from '../can-throw.js';
import type { Planning } from './planner-context.js';
import { freeSlots } from './free-slots.js';

type Fuse = Extract<Source, { kind: 'fuse' }>;
type Search = Extract<Source, { kind: 'searchVector' | 'searchText' }>;

export function shareFilters(fuse: Fuse, planning: Planning): Fuse {
  const { parameters } = planning;
  const filters = fuse.of.map((list) => printFilter(list, parameters));
  const numbers = new Map<string, number>();
  for (const filter of new Set(filters)) {
    const same = fuse.of.filter((_, i) => filters[i] === filter && filter !== undefined);
    if (same.length > 1 && same.some((list) => findSearch(list)!.kind === 'searchVector')) {
      numbers.set(filter!, ++planning.filters);
    }
  }
  if (numbers.size === 0) return fuse;
  // The access path of the first vector search was chosen before.
  const of = fuse.of.map((list, i): Expression => {
    const shared = numbers.get(filters[i] ?? '');
    if (shared === undefined || list.kind !== 'pipeline') return list;
    const first = fuse.of.findIndex(
      (each, at) => filters[at] === filters[i] && findSearch(each)!.kind === 'searchVector',
    );
    const { access, prefilter } = findSearch(fuse.of[first]!)!;
    const source = {
      ...findSearch(list)!,
      shared,
      prefilter: prefilter!,
      ...(access && { access }),
    };
    return { ...list, source };
  });
  return { ...fuse, of };
}

function findSearch(list: Expression): Search | undefined {
  if (list.kind !== 'pipeline' || list.steps.length > 0) return undefined;
  const { source } = list;
  return source.kind === 'searchVector' || source.kind === 'searchText' ? source : undefined;
}

/**
 * Returns type and filter of a search as text. Filters that differ only in their slots have equal
 * texts.
 */
function printFilter(list: Expression, parameters: Parameters): string | undefined {
  const search = findSearch(list);
  const prefilter = search?.prefilter;
  if (prefilter === undefined || !cannotThrow(prefilter.value, parameters)) return undefined;
  const type = search!.kind === 'searchVector' ? `vector ${search!.type}` : textType(search!);
  return `${type} ${canonical(prefilter)}`;
}

const textType = ({ type }: Extract<Search, { kind: 'searchText' }>): string =>
  `${type.kind} ${type.name}`;

function canonical({ slot, value }: ItemExpression): string {
  const outer = new Set(freeSlots(value));
  const names = new Map([[slot, 'item']]);
  const nameOf = (each: number): string => {
    if (each !== slot && outer.has(each)) return `outer ${each}`;
    if (!names.has(each)) names.set(each, `inner ${names.size}`);
    return names.get(each)!;
  };
  return JSON.stringify(value, (key, part: unknown) => {
    if (key === 'slot' && typeof part === 'number') return nameOf(part);
    return typeof part === 'bigint' ? `${part}n` : part;
  });
}
