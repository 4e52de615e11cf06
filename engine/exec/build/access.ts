// Compiles an access path: resolves its names in the catalog. If the catalog lacks a name, because a session
// or a reload is ahead of it, the plain steps run.
import { unreachable } from '../../base/assert.js';
import { TrellisError } from '../../base/errors.js';
import type { AccessPath, ReachedPath, Source } from '../../plan/expression.js';
import type { Label, StoredProperty } from '../../storage/table/view-types.js';
import { buildIdentity } from '../expression/identity.js';
import { rowsOfValue } from '../operators/source.js';
import { type Builder, edgeLabels, labelOf } from '../runtime/build-context.js';
import type { Flow, IdFlow } from '../runtime/flow.js';
import { access, findAny, findInList, findEqual, findIds, findTouching } from '../access/access.js';
import type { IdLookup } from '../access/id-lookup.js';
import type { FirstRows } from '../access/limit-scan.js';
import { findBetween, findInOrder } from '../access/index-range.js';
import { shortestList } from '../access/shortest-list.js';
import { findReached, type ReverseTraversal } from '../access/reverse-traversal.js';
import type { RowLimit } from '../access/scan-budget.js';

/** The covered steps on the whole type; and the first of them, if it is a condition, on any rows. */
interface Covered {
  plain: Flow;
  filter: ((input: Flow) => Flow) | undefined;
}

/** `limit` returns the number of rows that later steps read. */
export function buildAccess(
  builder: Builder,
  source: Extract<Source, { kind: 'scan' }>,
  { plain, filter }: Covered,
  limit: RowLimit,
): Flow {
  const [type] = source.types;
  const { path, rest } = source.access!;
  const label = labelOf(builder, type!.kind, type!.name);
  const alone = rest === undefined ? filter : undefined;
  const find =
    label &&
    guarded(findOf(builder, label, path, { limit, filter: alone, isAlone: rest === undefined }));
  if (label === undefined || find === undefined) return builder.profiled(source, plain);
  const first = limit && isReadWhole(path) ? firstOf(builder, label, path, limit) : undefined;
  if (rest === undefined) return builder.profiled(source, access({ find, rest, plain, ...first }));
  const { slot, value } = rest.condition;
  const condition = { slot, condition: builder.value(value) };
  const profile = (flow: IdFlow) => builder.profiled(source, flow);
  return builder.profiled(rest, access({ find, rest: condition, plain, profile, ...first }));
}

/** Returns true for paths of which nothing is known before they are read completely. */
const isReadWhole = ({ kind }: AccessPath): boolean =>
  kind === 'any' || kind === 'shortest' || kind === 'incident' || kind === 'reverse';

/** Compiles the path again, without a limit on the number of its ids. */
function firstOf(
  builder: Builder,
  label: Label,
  path: AccessPath,
  limit: NonNullable<RowLimit>,
): { first?: Omit<FirstRows, 'find' | 'rowsAt' | 'otherwise'> } {
  const findAll = guarded(findOf(builder, label, path, unknown));
  return findAll ? { first: { label, limit, findAll } } : {};
}

/** What is known about the rows of a path. */
interface Wanted {
  limit: RowLimit;
  /** True if no further condition tests the result. */
  isAlone?: boolean;
  /** Filters ids to those of the path. Undefined when the path does not cover the whole condition. */
  filter: Covered['filter'];
}

const unknown: Wanted = { limit: undefined, filter: undefined };

/** Compiles a path. A path that leads to far more rows than `limit` is not followed. */
export function buildFind(
  builder: Builder,
  label: Label,
  path: AccessPath,
  limit: RowLimit,
): IdLookup | undefined {
  return guarded(findOf(builder, label, path, { limit, filter: undefined }));
}

function guarded(find: IdLookup | undefined): IdLookup | undefined {
  if (find === undefined) return undefined;
  const { from } = find;
  const own: IdLookup = (frame, counted) => orPlain(() => find(frame, counted));
  if (from) own.from = (frame, start, max) => orPlain(() => from(frame, start, max));
  return own;
}

/**
 * Returns undefined when an operand of the path fails: the plain steps decide whether any item is compared
 * with it. Exceeded limits and defects still fail the call.
 */
export function orPlain<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof TrellisError) || isLimit(error.code)) throw error;
    return undefined;
  }
}

const isLimit = (code: string): boolean => code.startsWith('QUERY_');

function findOf(
  builder: Builder,
  label: Label,
  path: AccessPath,
  wanted: Wanted,
): IdLookup | undefined {
  switch (path.kind) {
    case 'id':
      return findIds(label, buildIdentity(builder, path.value), path.list);
    case 'equal': {
      const property = indexed(label, path.property);
      if (property === undefined) return undefined;
      const value = builder.value(path.value);
      return path.list ? findInList(label, property, value) : findEqual(property, value);
    }
    case 'between':
    case 'ordered': {
      const property = indexed(label, path.property);
      if (property === undefined) return undefined;
      const low = path.low && builder.value(path.low.value);
      const high = path.high && builder.value(path.high.value);
      const range = { label, property, path, low, high, ...wanted };
      return path.kind === 'between' ? findBetween(range) : findInOrder(range);
    }
    case 'incident': {
      const edge = labelOf(builder, 'edge', path.edge);
      return edge && findTouching(label, edge.id, path, buildIdentity(builder, path.value));
    }
    case 'reverse':
      return findReached(
        label,
        buildReverseTraversal(builder, path),
        wanted.limit,
        wanted.isAlone ?? false,
      );
    case 'conditional': {
      const condition = builder.value(path.condition);
      const find = path.of && findOf(builder, label, path.of, unknown);
      return (frame, counted) => (condition(frame) === true ? find?.(frame, counted) : []);
    }
    case 'shortest': {
      const finds = path.of.flatMap((each) => {
        const find = findOf(builder, label, each, unknown);
        return find ? [{ find, isWhole: isReadWhole(each) }] : [];
      });
      return shortestList(label, finds, wanted.limit);
    }
    case 'any': {
      const finds = path.of.map((each) => findOf(builder, label, each, unknown));
      return finds.every((find) => find !== undefined) ? findAny(finds) : undefined;
    }
    case 'each': {
      const finds = path.of.map((each) => {
        const own = labelOf(builder, each.type.kind, each.type.name);
        return own && findOf(builder, own, each.path, unknown);
      });
      return finds.every((find) => find !== undefined) ? findAny(finds) : undefined;
    }
    default:
      return unreachable(path);
  }
}

export function buildReverseTraversal(builder: Builder, path: ReachedPath): ReverseTraversal {
  const { value } = path;
  const known =
    value.kind === 'pipeline' && value.result === 'many'
      ? builder.flow(value)
      : rowsOfValue(buildIdentity(builder, value));
  const back = path.back.map(({ direction, edges, take }) => {
    return { direction, take, labels: edgeLabels(builder, edges).map(({ id }) => id) };
  });
  return { known, back, reads: path.reads && labelOf(builder, path.reads.kind, path.reads.name) };
}

/** Returns true if the rows of a scan come in the order of an existing index. */
export function comesInOrder(
  builder: Builder,
  { types, access }: Extract<Source, { kind: 'scan' }>,
): boolean {
  const [type] = types;
  const label = labelOf(builder, type!.kind, type!.name);
  if (label === undefined || access?.covers !== 0 || access.path.kind !== 'ordered') return false;
  return indexed(label, access.path.property) !== undefined;
}

function indexed(label: Label, name: string): StoredProperty | undefined {
  const property = label.properties.find((each) => each.name === name);
  return property?.indexId === 0 ? undefined : property;
}
